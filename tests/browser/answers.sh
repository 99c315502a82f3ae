#!/bin/sh
# needs: real time, full
# Five questions about a twin, each answered after two clicks; help, keys, files and addresses of the page.
. tests/browser/python.sh
PYTHONPATH=tests/support:tests/browser exec "$python" tests/browser/answers.py
