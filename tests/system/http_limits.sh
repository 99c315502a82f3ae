#!/bin/sh
# needs: virtual time
# Those who hold connections, ask in two ways at once, or have hung up: others are served as ever.
command -v python3 >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 -W ignore::DeprecationWarning tests/system/http_limits.py
