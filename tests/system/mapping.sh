# needs: real time
# Robots that speak positional text alone, and other payloads, by tables: what is made of them, and what they are told.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/mapping.py
