#!/bin/sh
# tandem compare and tandem gate: numbers of an independent program (tests/golden/compare), errors, and odd input.
set -eu
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/compare.py"
