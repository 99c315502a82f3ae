#!/bin/sh
# Recordings uploaded to a daemon: fitted as on the command line, cancelled, refused.
command -v python3 >/dev/null && command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] || exit 77
PYTHONPATH=tests/support exec python3 tests/system/identify_http.py
