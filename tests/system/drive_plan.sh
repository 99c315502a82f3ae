#!/bin/sh
# needs: virtual time
# Planned moves of simulated robots: to a goal, for a mission, in a room, and every way to stop.
command -v python3 >/dev/null && command -v mosquitto >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/system/drive_plan.py
