#!/bin/sh
# Each header begins with its own path and purpose, which map.py prints; and the check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/map.py" "$SOURCE" --check
out=$(python3 "$SOURCE/tests/arch/map.py" "$SOURCE" twin/pair)
case $out in *"  pair – "*) ;; *) echo "no line for twin/pair/pair.h: $out"; exit 1 ;; esac
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
mkdir -p "$bad/base/text"
printf '/* base/other.h - another place. */\n' >"$bad/base/text/moved.h"
printf '#ifndef PLAIN_H\n' >"$bad/base/text/plain.h"
mkdir "$bad/docs"
sed '/^| .twin. |/d; s/^| .base.text., .errors./| `base\/errors`, `text`, `strings`/' "$SOURCE/docs/map.md" >"$bad/docs/map.md"
if out=$(python3 "$SOURCE/tests/arch/map.py" "$bad" --check); then
    echo "the check overlooks headers without their path"
    exit 1
fi
for want in 'base/text/moved.h: begins without' 'base/text/plain.h: begins without' 'no line for twin' 'no room base/strings' \
    'base/errors stands above base/text'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want: $out"; exit 1 ;; esac
done
