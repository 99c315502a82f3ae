#!/bin/sh
# needs: virtual time
# A simulated arm on Modbus TCP, with independent clients and the controllers of examples/.
command -v mbpoll >/dev/null && command -v mosquitto_pub >/dev/null || { echo "no mbpoll or mosquitto-clients"; exit 77; }
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import pymodbus.client' 2>/dev/null && break
done
[ "$python" != none ] || { echo "no python3-pymodbus"; exit 77; }
PYTHONPATH=tests/support:examples exec "$python" tests/system/modbus.py
