# needs: a minute
# short: TANDEM_SHORT=1
# Recordings that are wrong in every way, for every model of `tandem identify`.
set -eu
command -v python3 >/dev/null || { echo "no python3" >&2; exit 77; }
ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99 exec python3 "$SOURCE/tests/system/identify_bad_data.py" "$TANDEM" "$SOURCE"
