#!/bin/sh
# needs: full, real time, a minute
# The daemon's link is cut 60 times under load: it lives, each acknowledged command has one entry, nobody is blamed.
set -eu
command -v mosquitto_pub >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/faults/flaps.py --cuts 60
