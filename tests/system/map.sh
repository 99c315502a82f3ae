#!/bin/sh
# tandem map: a recording of a tour through a room with furniture, its map read by a reader of its own, and wrong inputs.
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
exec python3 "$SOURCE/tests/system/map.py"
