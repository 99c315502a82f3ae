#!/bin/sh
# needs: virtual time
# A real arm's RTDE interface on MQTT: its moves as commands and replies, stops, a controller that goes and comes back.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
exec python3 tests/system/bridge.py
