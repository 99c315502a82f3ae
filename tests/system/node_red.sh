#!/bin/sh
# needs: virtual time
# The Node-RED flow: is it whole, do its topics exist, what does it say of real messages? Node-RED itself is not in Debian.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || { echo "no python3 or mosquitto-clients"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/node_red.py
