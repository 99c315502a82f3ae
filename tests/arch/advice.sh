#!/bin/sh
# Advice is in the words of people who run robots: no text of advice in the sources has a parameter or column by its
# name in code. (tests/unit/test_advice.c tests what is inserted at run time.)
set -eu
exec python3 "$SOURCE/tests/arch/advice.py" "$SOURCE"
