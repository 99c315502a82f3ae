#!/bin/sh
# tests/changed.py selects each test that reaches a changed file, and few others.
exec python3 "$SOURCE/tests/arch/changed.py" "$BUILD"
