#!/bin/sh
# needs: virtual time
# Versions of the lab file: a restart with another one is a change, in the journal, and in replays under any lab file.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || { echo "SKIPPED: no python3 or mosquitto-clients"; exit 77; }
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/versions.py"
