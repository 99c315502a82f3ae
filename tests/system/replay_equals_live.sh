#!/bin/sh
# needs: virtual time
# What the API returned is, byte for byte, what a replay of the journal gives.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/replay_equals_live.py"
