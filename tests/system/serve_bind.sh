#!/bin/sh
# needs: virtual time
# A daemon that cannot bind its port says so on the terminal, although its log goes to a file; /readyz names the lab.
command -v python3 >/dev/null && command -v mosquitto >/dev/null || exit 77
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/serve_bind.py"
