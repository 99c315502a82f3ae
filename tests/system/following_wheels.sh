#!/bin/sh
# needs: virtual time
# The lab's own robots on wheels take efforts: one follows the other, as the lab file says and as was learnt.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/following_wheels.py"
