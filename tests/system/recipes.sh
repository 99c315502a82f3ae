#!/bin/sh
# needs: virtual time
# The commands of docs/operations.md run as written: access, backup, restore; and its figures of disk space are
# measured.
command -v python3 >/dev/null && command -v mosquitto_passwd >/dev/null || { echo "no python3 or mosquitto"; exit 77; }
command -v sqlite3 >/dev/null || { echo "no sqlite3: backup and restore were NOT tried" >&2; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/recipes.py
