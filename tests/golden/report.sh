#!/bin/sh
# `tandem report`: golden bytes, sound HTML without scripts or sources, secrets, errors, sizes, what print shows.
PYTHONPATH=tests/support exec python3 tests/golden/report.py
