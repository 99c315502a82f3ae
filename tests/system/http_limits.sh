#!/bin/sh
# needs: virtual time
# Clients that hold connections, send ambiguous requests, or hang up do not disturb other clients.
command -v python3 >/dev/null || exit 77
PYTHONPATH=tests/support exec python3 -W ignore::DeprecationWarning tests/system/http_limits.py
