#!/bin/sh
# needs: virtual time, full
# The lab's robots on wheels accept efforts: one follows the other, by the lab file's and by learnt parameters.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/following_wheels.py"
