#!/bin/sh
# needs: real time
# The machine's clock is set between runs and in one, and the machine sleeps: numbers once, laps true, all of it told.
set -eu
command -v mosquitto_pub >/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/clock.py"
