#!/bin/sh
# VDA 5050 against vehicles and a master of vda-5050-lib (npm), over a real broker.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || { echo "no python3 or mosquitto-clients"; exit 77; }
python3 -c "import jsonschema" 2>/dev/null || { echo "SKIPPED: python3-jsonschema is not installed"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/vda5050.py
