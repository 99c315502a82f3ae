#!/bin/sh
# needs: full
# No command shows "nan" or "inf", whatever little its data determine.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || { echo "no python3 or mosquitto-clients"; exit 77; }
export PYTHONPATH="$SOURCE/tests/support"
exec python3 "$SOURCE/tests/system/no_nan.py" "$TANDEM" "$SOURCE"
