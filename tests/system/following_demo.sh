#!/bin/sh
# needs: virtual time
# tandem demo --kind usv3: a real vessel, a wrong simulator, and the gap between them before and after Tandem drives
# it.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/following_demo.py"
