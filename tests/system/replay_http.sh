#!/bin/sh
# Journals and tables of moves uploaded to a daemon: replayed as on the command line, cancelled, refused.
command -v python3 >/dev/null && command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] || exit 77
PYTHONPATH=tests/support exec python3 tests/system/replay_http.py
