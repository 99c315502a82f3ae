#!/bin/sh
# needs: virtual time, full
# Two simulated robots share a place over a real broker, judged by their true positions.
command -v python3 >/dev/null && command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] || exit 77
export PYTHONPATH=tests/support
exec python3 tests/system/team_world.py
