#!/bin/sh
# needs: virtual time
# The simulator receives the real robot's pose over a real broker, in the shipped mission.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null && python3 -c 'import jsonschema' 2>/dev/null || exit 77
exec python3 tests/system/correct.py
