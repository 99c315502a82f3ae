#!/bin/sh
# needs: virtual time, full
# Promotion to a simulated arm: afterwards the tools stay together.
set -eu
command -v mosquitto_sub >/dev/null && python3 -c 'import jsonschema' 2>/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/promotion_arm.py"
