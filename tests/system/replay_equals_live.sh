#!/bin/sh
# needs: virtual time
# A replay of the journal gives, byte for byte, what the API returned.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/replay_equals_live.py"
