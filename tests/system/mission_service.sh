#!/bin/sh
# needs: virtual time
# Missions by message and HTTP over a real broker: sent, followed, cancelled, queued, refused to others, interrupted by a
# restart, and the same in a replay.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/mission_service.py
