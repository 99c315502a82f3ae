#!/bin/sh
# needs: real time
# short: TANDEM_SHORT=1
# The files of deploy/ fit each other and the program, and the servers, the broker and the daemons of the compose file
# run by its scripts and settings, without containers.
command -v python3 >/dev/null && command -v psql >/dev/null && command -v openssl >/dev/null || exit 77
python3 -c 'import yaml' 2>/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/deploy.py"
