#!/bin/sh
# needs: virtual time
# The closed loop: what is learnt about the real robot makes the simulated one move like it, and is
# taken back when asked.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/update_loop.py"
