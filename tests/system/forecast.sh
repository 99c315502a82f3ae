#!/bin/sh
# needs: virtual time
# Forecasts over HTTP and MQTT, after a kill and in a replay.
command -v python3 >/dev/null && command -v mosquitto >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/system/forecast.py
