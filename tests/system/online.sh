#!/bin/sh
# needs: real time, full
# Two vessels while they run: the real one's parameters are found from its telemetry, sample by sample and in batches, the
# virtual one is told them; a daemon that is killed goes on; and the journal replays to the same.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/online.py"
