#!/bin/sh
# Fits of dynamics in a replay: where the journal tells their ends, there; where it does not, all the same.
command -v python3 >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/system/replay_fits.py
