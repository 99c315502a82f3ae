# needs: real time
# What a broker or a link lost is suspected and told; a second program of one client id is recognised and named.
command -v python3 >/dev/null && command -v mosquitto_pub >/dev/null || exit 77
exec python3 tests/system/lost_messages.py
