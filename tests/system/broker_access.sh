# needs: virtual time
# The access list for a real mosquitto: every user writes and reads what belongs to him, and nothing else.
command -v python3 >/dev/null && command -v mosquitto_passwd >/dev/null || { echo "no python3 or mosquitto"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/broker_access.py
