#!/bin/sh
# needs: virtual time
# The Node-RED flow is complete, its topics exist, and its texts for real messages are right. Debian has no Node-RED.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || { echo "no python3 or mosquitto-clients"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/node_red.py
