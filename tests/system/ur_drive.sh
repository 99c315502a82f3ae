#!/bin/sh
# needs: virtual time
# `tandem bridge --drive` commands an arm through its controller (tests/support/ur_driven.py plays one).
command -v python3 >/dev/null && command -v mosquitto >/dev/null || exit 77
exec python3 tests/system/ur_drive.py
