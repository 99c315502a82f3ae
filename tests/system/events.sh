#!/bin/sh
# needs: virtual time
# The stream of events of a running daemon: two listeners, a filter, and resumption after kill -9.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/system/events.py
