#!/bin/sh
# needs: full
# Fits of dynamics in a replay: they end where the journal says so; without such lines they are made all the same.
command -v python3 >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/system/replay_fits.py
