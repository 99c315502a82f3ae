#!/bin/sh
# needs: virtual time
# The closed loop: learnt parameters of the real robot make the simulated one move like it; a roll back removes them.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/update_loop.py"
