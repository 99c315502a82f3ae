#!/bin/sh
# needs: virtual time
# A pair's live map: equal to tandem map on its journal, the same after a kill and in a replay.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/live_map.py"
