#!/bin/sh
# needs: virtual time
# Promotion to simulators with some fixed times, in both forms: afterwards they have no lag.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/promotion.py"
