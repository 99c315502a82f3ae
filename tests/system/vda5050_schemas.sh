#!/bin/sh
# needs: virtual time
# The official schemas of VDA 5050 accept every message that Tandem sends, in three versions.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || { echo "no python3 or mosquitto-clients"; exit 77; }
python3 -c 'import jsonschema' 2>/dev/null || { echo "SKIPPED: python3-jsonschema is not installed"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/vda5050_schemas.py
