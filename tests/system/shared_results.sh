#!/bin/sh
# needs: real time
# Two daemons store their results in one PostgreSQL: each answers for both, also after an outage of the database.
command -v python3 >/dev/null && command -v psql >/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/shared_results.py"
