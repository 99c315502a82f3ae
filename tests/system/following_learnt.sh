#!/bin/sh
# needs: virtual time, full
# What was learnt of vessels and of robots on wheels makes the simulated ones follow as the lab file does.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/following_learnt.py"
