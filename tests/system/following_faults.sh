#!/bin/sh
# needs: virtual time, full
# A virtual vessel follows a real one over a real broker while robots, network, broker, daemon and clocks fail in
# turn.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/following_faults.py"
