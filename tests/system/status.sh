#!/bin/sh
# needs: virtual time
# `tandem status` and `tandem late` against a daemon with pairs in trouble, without a daemon, with TLS and with a token.
command -v python3 >/dev/null && command -v mosquitto >/dev/null && command -v openssl >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 tests/system/status.py
