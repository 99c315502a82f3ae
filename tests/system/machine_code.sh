#!/bin/sh
# needs: full
# Machines as C, Lua, Python and tables of the engine: on random inputs each does what `tandem machines run` does.
command -v python3 >/dev/null && command -v cc >/dev/null || exit 77
exec python3 tests/system/machine_code.py
