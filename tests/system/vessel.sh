#!/bin/sh
# needs: virtual time
# The simulated vessel over a real broker: efforts in, telemetry out, parameters and halt.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/vessel.py
