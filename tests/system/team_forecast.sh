#!/bin/sh
# needs: real time
# A team at work twice over a real broker; what its recording predicts of it is held against how long it took.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/team_forecast.py"
