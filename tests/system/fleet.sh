#!/bin/sh
# needs: virtual time, full
# `tandem robot --count`: fleets of up to 10 000 robots, which do not all publish in the same moment.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || { echo "no python3 or mosquitto-clients"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/fleet.py
