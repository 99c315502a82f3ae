#!/bin/sh
# needs: virtual time
# The robots and the controller of examples/robot, in Python, Node and MicroPython, over a real broker.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || { echo "no python3 or mosquitto-clients"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/kit_clients.py
