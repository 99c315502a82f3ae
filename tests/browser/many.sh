#!/bin/sh
# needs: a minute, full
# A lab of ten thousand pairs in a browser: the time of each change, and the memory.
. tests/browser/python.sh
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/many.py
