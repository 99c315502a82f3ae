#!/bin/sh
# needs: full, real time, a minute
# The daemon's link is cut 60 times under load: the daemon survives, each acknowledged command has one entry, and no
# robot gets a false alarm.
set -eu
command -v mosquitto_pub >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/faults/flaps.py --cuts 60
