# needs: virtual time
# Losses at a broker or link are suspected and reported; a second program with the same client id is recognised and
# named.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/lost_messages.py
