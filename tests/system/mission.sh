#!/bin/sh
# needs: virtual time
# tandem mission over a real broker: paths, sweeps and goals, a signal, and the errors for wrong usage.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/mission.py
