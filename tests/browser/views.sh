#!/bin/sh
# needs: a minute, full
# Every view of the page in a browser, over a live lab.
. tests/browser/python.sh
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/views.py
