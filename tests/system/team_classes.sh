#!/bin/sh
# needs: virtual time
# Every class of config/examples/ offline, with simulated robots over a broker, and from the recording of that.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
export PYTHONPATH=tests/support
exec python3 tests/system/team_classes.py "$@"
