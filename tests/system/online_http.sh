#!/bin/sh
# needs: full
# The dynamics of a pair over HTTP: read, fitted on request, promoted; the bytes equal those of a replay.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/system/online_http.py
