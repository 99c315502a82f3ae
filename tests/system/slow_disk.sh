#!/bin/sh
# needs: virtual time
# A disk that syncs late or never: the daemon reports it, the store waits for the journal, SIGTERM has its limit.
set -eu
command -v mosquitto_pub >/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/slow_disk.py"
