#!/bin/sh
# needs: virtual time
# A real arm's RTDE interface on MQTT: moves become commands and replies; stops; a controller that disconnects and
# returns.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
exec python3 tests/system/bridge.py
