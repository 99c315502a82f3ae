#!/bin/sh
# needs: real time
# The page while the daemon is killed and comes back.
. tests/browser/python.sh
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/restart.py
