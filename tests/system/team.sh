#!/bin/sh
# needs: real time
# A team of two simulated robots over a real broker. The daemon is killed again and again, at any moment: on virtual
# time it would always be idle then.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
export PYTHONPATH=tests/support
exec python3 tests/system/team.py
