#!/bin/sh
# needs: real time
# Poses of a real arm, its links from them, a virtual arm with these: how far their tools are apart before and after.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
exec python3 tests/system/arm_links.py
