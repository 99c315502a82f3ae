#!/bin/sh
# needs: real time, full
# The page sends a mission, shows its path and machines while the robot drives, and cancels it.
. tests/browser/python.sh
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/live_map.py
