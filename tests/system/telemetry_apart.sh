#!/bin/sh
# needs: virtual time
# Telemetry has a connection of its own: faults of that connection delay no verdict, and are reported.
set -eu
command -v mosquitto_pub >/dev/null || { echo "no mosquitto clients"; exit 77; }
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/telemetry_apart.py"
