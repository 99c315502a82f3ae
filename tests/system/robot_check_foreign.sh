#!/bin/sh
# needs: virtual time
# `tandem robot --check` of robots behind a mapping, VDA 5050 and Sparkplug B, and of wrong ones.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || { echo "no python3 or mosquitto-clients"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/robot_check_foreign.py
