#!/bin/sh
# A low limit of open files: HTTP never takes what journal, store, broker and health answers need.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null && command -v prlimit >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 -W ignore::DeprecationWarning tests/system/descriptors.py
