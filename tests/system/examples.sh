#!/bin/sh
# needs: virtual time
# The scripts of docs/examples, with a live daemon.
command -v python3 >/dev/null && command -v curl >/dev/null && command -v jq >/dev/null || { echo "no python3, curl or jq"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/examples.py
