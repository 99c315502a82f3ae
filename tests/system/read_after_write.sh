#!/bin/sh
# needs: virtual time
# What Tandem has received is in the next answer over HTTP: entries and counts, in 100 of 100 cases.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/system/read_after_write.py
