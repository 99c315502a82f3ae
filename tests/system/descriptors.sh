#!/bin/sh
# A low limit of open files: HTTP never uses the descriptors that journal, store, broker and health checks need.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null && command -v prlimit >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 -W ignore::DeprecationWarning tests/system/descriptors.py
