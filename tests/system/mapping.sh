# needs: virtual time
# Robots with positional text or other payloads, read and written by mapping tables.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/mapping.py
