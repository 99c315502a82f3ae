#!/bin/sh
# needs: real time, full
# Two vessels while they run: the real one's parameters are estimated from its telemetry, sample by sample and in
# batches, and sent to the virtual one; a daemon that is killed continues; and the journal replays to the same.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/online.py"
