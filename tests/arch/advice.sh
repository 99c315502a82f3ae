#!/bin/sh
# Advice is in the words of people who run robots: what the sources give out as advice names no parameter or
# column as code does. (What is put in at run time: tests/unit/test_advice.c.)
set -eu
exec python3 "$SOURCE/tests/arch/advice.py" "$SOURCE"
