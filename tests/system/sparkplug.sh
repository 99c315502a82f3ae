# needs: virtual time
# A pair of Sparkplug devices, with the official client, moved by Tandem; deaths, gaps, births that were missed.
command -v mosquitto_pub >/dev/null && command -v node >/dev/null || { echo "SKIPPED: no mosquitto-clients or node"; exit 77; }
PYTHONPATH=tests/support exec python3 tests/system/sparkplug.py
