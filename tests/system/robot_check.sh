#!/bin/sh
# needs: virtual time
# `tandem robot --check`: our own robots, and robots with one fault each.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || { echo "no python3 or mosquitto-clients"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/robot_check.py
