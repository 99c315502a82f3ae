#!/bin/sh
# needs: virtual time
# Messages that come again are told from those that are alike: a link that is cut, a daemon and a broker that are killed.
set -eu
command -v mosquitto_pub >/dev/null || { echo "no mosquitto clients"; exit 77; }
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/delivery.py"
