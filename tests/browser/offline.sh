#!/bin/sh
# needs: a minute, full
# Recordings on the page: what a fit shows, and who may have one made without the token.
. tests/browser/python.sh
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/offline.py
