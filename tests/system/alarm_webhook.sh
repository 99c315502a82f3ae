#!/bin/sh
# needs: virtual time
# Alarms posted to a receiver that answers 500, 302 and 400, hangs and closes; signatures, counts, nothing secret.
command -v python3 >/dev/null && command -v mosquitto >/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/alarm_webhook.py"
