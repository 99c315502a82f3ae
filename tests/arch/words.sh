#!/bin/sh
# Documents and comments are in plain words, and the check itself can fail. In a tree without git it has no list of files.
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
old=crew
printf '/* Of a robot. */\nint %s_init;\n' $old >"$bad/code.c"
printf 'f()\n\n\ndef g():\n    """Whose robot."""\n    # By a robot,\n    # or none.\n' >"$bad/code.py"
printf '#!/bin/sh\necho "# Of text"  # the %s\n# What a robot does.\n' $old >"$bad/code.sh"
printf 'f("// Of text", 1 // 2); // the %s\n  // As robots do.\n' $old >"$bad/code.js"
out=$(python3 "$SOURCE/tests/arch/words.py" "$bad/page.md" "$bad/code.c" "$bad/code.py" "$bad/code.sh" "$bad/code.js" || true)
for want in '"keeper"' '"foretold"' 'sentence of 38 words' '101 columns' 'without a subject: Of a robot' "${old}_init is called" \
    'code.py:5: a comment without a subject: Whose' 'code.py:6: a comment without a subject: By a robot, or none' \
    'code.sh:2: "crew"' 'code.sh:3: a comment without a subject: What a robot does' \
    'code.js:1: "crew"' 'code.js:2: a comment without a subject: As robots'; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want: $out"; exit 1 ;; esac
done
case $out in *'Of text'*) echo "a text is no comment: $out"; exit 1 ;; esac
