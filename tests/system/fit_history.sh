#!/bin/sh
# needs: virtual time
# Results of fits are stored, promoted or not: over a restart, and where the store is rebuilt from the journal.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/system/fit_history.py
