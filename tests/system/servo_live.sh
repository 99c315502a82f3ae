#!/bin/sh
# needs: virtual time
# A wrong simulator of a position servo learns the real servo's parameters from telemetry; then their lags fall.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/servo_live.py"
