#!/bin/sh
# Every sentence with its code is in tests/golden/messages, and the check itself can fail.
set -eu
exec python3 "$SOURCE/tests/arch/messages.py" "$SOURCE"
