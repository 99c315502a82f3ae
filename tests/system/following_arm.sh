#!/bin/sh
# needs: virtual time, full
# One simulated arm follows another by late telemetry: the distance of their tools is compared with the prediction.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null && python3 -c 'import jsonschema' 2>/dev/null || exit 77
exec python3 tests/system/following_arm.py
