#!/bin/sh
# Travel times of a table of entries: by the robots' own stamps where it has them, as in replay.
command -v python3 >/dev/null || exit 77
exec python3 "$SOURCE/tests/system/stamped_times.py"
