#!/bin/sh
# needs: virtual time
# tandem mission of an arm over a real broker: moves, waits and outputs; halts, refusals and wrong files.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/mission_arm.py
