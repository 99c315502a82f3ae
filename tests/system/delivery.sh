#!/bin/sh
# needs: virtual time
# Repeated messages are distinguished from equal ones: a link is cut, a daemon and a broker are killed.
set -eu
command -v mosquitto_pub >/dev/null || { echo "no mosquitto clients"; exit 77; }
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/delivery.py"
