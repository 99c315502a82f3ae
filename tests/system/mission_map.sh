#!/bin/sh
# needs: virtual time
# Missions planned on a ROS map: around furniture, through a door, and why a goal cannot be reached.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/mission_map.py
