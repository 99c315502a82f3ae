#!/bin/sh
# needs: a minute, full
# The lags of a pair: how they spread, and against another time or pair.
. tests/browser/python.sh
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/lags.py
