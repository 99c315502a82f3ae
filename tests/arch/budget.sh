#!/bin/sh
# Each capability keeps its budget of lines in docs/map.md, and the check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/budget.py" "$SOURCE"
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
mkdir -p "$bad/docs" "$bad/web/http" "$bad/twin/pair" "$bad/base"
awk 'BEGIN { print "/* a comment"; print "of two lines */"; for (i = 0; i < 100; i++) print "int a;" }' >"$bad/web/http/a.c"
cp "$bad/web/http/a.c" "$bad/twin/pair/a.h"
cp "$bad/web/http/a.c" "$bad/base/a.def"
printf '| web | 99 | `web` |\n| pairs | 161 | `twin/pair`, `twin/gone` |\n' >"$bad/docs/map.md"
out=$(python3 "$SOURCE/tests/arch/budget.py" "$bad" || true)
for want in 'web: 100 lines of code, its budget' 'pairs: 100 lines of code; lower' 'no room twin/gone' 'no capability has base'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want: $out"; exit 1 ;; esac
done
