#!/bin/sh
# needs: virtual time
# The links of a real arm are identified from its poses; the test measures how far the tools are apart before and
# after.
command -v python3 >/dev/null && command -v mosquitto_sub >/dev/null || exit 77
exec python3 tests/system/arm_links.py
