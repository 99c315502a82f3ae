#!/bin/sh
# needs: virtual time, full
# Learnt parameters of vessels and of robots on wheels make the simulated ones follow as well as the lab file does.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/following_learnt.py"
