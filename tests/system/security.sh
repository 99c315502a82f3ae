#!/bin/sh
# needs: virtual time
# Attacks by hostile clients, pages or robots over HTTP: nothing gets in or out, and the log names who was refused.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null && command -v openssl >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 -W ignore::DeprecationWarning tests/system/security.py
