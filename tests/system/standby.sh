#!/bin/sh
# needs: real time
# short: ROUNDS=1
# Two daemons of one lab: a follower takes over when the owner is killed, frozen or stopped. No acknowledged message is
# lost, no command is sent twice, and both journals replay to the same entries.
command -v python3 >/dev/null && command -v psql >/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/standby.py" "${ROUNDS-3}"
