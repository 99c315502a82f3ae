#!/bin/sh
# needs: real time, full
# Why a move was late, as the page shows it: parts, times, alarms; the moves by verdict, size and word.
. tests/browser/python.sh
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/why.py
