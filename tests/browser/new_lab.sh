#!/bin/sh
# needs: real time
# The page of a lab that has just begun: no moves, no token, a robot that goes offline.
. tests/browser/python.sh
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/new_lab.py
