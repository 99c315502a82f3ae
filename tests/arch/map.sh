#!/bin/sh
# Each header begins with its own path and purpose, which is what map.py prints; and the check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/map.py" "$SOURCE" --check
out=$(python3 "$SOURCE/tests/arch/map.py" "$SOURCE" twin/pair)
case $out in *"  pair – "*) ;; *) echo "no line for twin/pair/pair.h: $out"; exit 1 ;; esac
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
mkdir -p "$bad/base/text"
printf '/* base/other.h - another place. */\n' >"$bad/base/text/moved.h"
printf '#ifndef PLAIN_H\n' >"$bad/base/text/plain.h"
if out=$(python3 "$SOURCE/tests/arch/map.py" "$bad" --check); then
    echo "the check overlooks headers without their path"
    exit 1
fi
for want in base/text/moved.h base/text/plain.h; do
    case $out in *"$want: begins without"*) ;; *) echo "the check overlooks $want"; exit 1 ;; esac
done
