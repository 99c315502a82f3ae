#!/bin/sh
# needs: real time
# tandem db and serve --check on a PostgreSQL of the test's own: tables, roles, views, and every fault in one line.
command -v python3 >/dev/null && command -v psql >/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/db.py"
