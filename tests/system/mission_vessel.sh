#!/bin/sh
# needs: virtual time
# tandem mission of a vessel over a real broker: a course in wind and current, and how it ends when something is wrong.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/mission_vessel.py
