#!/bin/sh
# needs: virtual time
# Every example of the HTTP contract against a live daemon, every answer against the contract.
python3 -c 'import jsonschema' 2>/dev/null && command -v mosquitto_pub >/dev/null || { echo "no python3-jsonschema or mosquitto-clients"; exit 77; }
export PYTHONPATH=tests/support
# In a network of its own the daemon may listen on other addresses than loopback.
if unshare --user --map-root-user --net true 2>/dev/null; then
    exec unshare --user --map-root-user --net --fork --kill-child python3 tests/system/openapi.py apart
fi
echo "NOT CHECKED: reading from another machine (no network namespace is to be had)"
exec python3 tests/system/openapi.py
