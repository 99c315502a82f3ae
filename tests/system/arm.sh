#!/bin/sh
# needs: real time
# Two arms in link mode over a real broker: moves, refusals, stops, telemetry, and commands that replace each other.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null && python3 -c 'import jsonschema' 2>/dev/null || exit 77
exec python3 tests/system/arm.py
