#!/bin/sh
# tandem export: slices as MCAP, lines and CSV, read by other programs and by Tandem itself.
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/export.py"
