#!/bin/sh
# A robot whose loop publishes the effort of the step before: the fit allows for it and says so.
command -v python3 >/dev/null || exit 77
exec python3 tests/system/late_effort.py
