#!/bin/sh
# Documents are in plain words, and the check itself can fail. In a tree without git it has no list of files.
set -eu
if git -C "$SOURCE" rev-parse --git-dir >/dev/null 2>&1; then
    python3 "$SOURCE/tests/arch/words.py"
else
    echo "SKIPPED: a list of files needs git"
fi
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
{
    echo "The keeper says what was foretold."
    echo
    awk 'BEGIN { printf "A sentence"; for (i = 0; i < 36; i++) printf " word%s", i % 8 == 7 ? "\n" : ""; print "." }'
    echo
    awk 'BEGIN { for (i = 0; i < 101; i++) printf "x"; print "" }'
} >"$bad/page.md"
printf '/* Of a robot. */\nint crew_init;\n' >"$bad/code.c"
out=$(python3 "$SOURCE/tests/arch/words.py" "$bad/page.md" "$bad/code.c" || true)
for want in '"keeper"' '"foretold"' 'sentence of 38 words' '101 columns' 'without a subject: Of a robot' 'crew_init is called'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want: $out"; exit 1 ;; esac
done
