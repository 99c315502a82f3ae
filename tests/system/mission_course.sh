#!/bin/sh
# needs: virtual time
# Missions of a vessel by message over a real broker: a course in wind and current, and how it ends when something is wrong.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/mission_course.py
