#!/bin/sh
# needs: virtual time
# Captures: the messages around a timeout are saved, served as MCAP and as lines, bounded, and completed after a crash.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || { echo "SKIPPED: no python3 or mosquitto-clients"; exit 77; }
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/captures.py"
