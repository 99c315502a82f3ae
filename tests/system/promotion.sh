#!/bin/sh
# needs: virtual time
# Promotion to simulators that keep something of their own, in both forms: after it they lag no more.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/promotion.py"
