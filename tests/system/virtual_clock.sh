#!/bin/sh
# The clock that system tests run on: exact times, also on a busy machine; every way to wait; killed and busy processes.
# needs: real time, full
PATH=$PATH:/usr/sbin
command -v python3 >/dev/null && command -v mosquitto >/dev/null || exit 77
exec python3 tests/system/virtual_clock.py
