#!/bin/sh
# needs: real time
# The overview lists the pairs of other labs of the database, with links to their own pages.
. tests/browser/python.sh
command -v psql >/dev/null || exit 77
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/shared_labs.py
