#!/bin/sh
# needs: virtual time
# A team works twice over a real broker; the prediction from its recording is compared with the time that it took.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/team_forecast.py"
