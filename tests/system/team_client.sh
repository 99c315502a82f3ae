#!/bin/sh
# needs: virtual time
# Two robots whose own controllers request a tool over a broker, in the terms of VDA 5050 3.0.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
export PYTHONPATH=tests/support
exec python3 tests/system/team_client.py
