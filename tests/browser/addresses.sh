#!/bin/sh
# needs: a minute, full
# What a view shows is in its address; addresses of nothing are refused.
. tests/browser/python.sh
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/addresses.py
