#!/bin/sh
# needs: virtual time
# Moves of real robots (MRCLAM data set), made into a recording: through a broker and the daemon, and offline, they give
# the same entries and the same calibration.
set -eu
data=${TANDEM_DATA:-$SOURCE/../shared/data}
[ -d "$data/mrclam_d6" ] || { echo "SKIPPED: no recordings in $data (set TANDEM_DATA)"; exit 77; }
PYTHONPATH="$SOURCE/tests/support" exec python3 "$SOURCE/tests/system/recorded_moves.py" "$data"
