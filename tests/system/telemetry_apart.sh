#!/bin/sh
# needs: virtual time
# Telemetry comes over a connection of its own: what becomes of it holds up no verdict, and is told.
set -eu
command -v mosquitto_pub >/dev/null || { echo "no mosquitto clients"; exit 77; }
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/telemetry_apart.py"
