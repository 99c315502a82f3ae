#!/bin/sh
# The table of the papers names documents and tests that exist. The check itself can fail.
set -eu
python3 "$SOURCE/tests/arch/papers.py" "$SOURCE"
bad=$(mktemp -d)
trap 'rm -rf "$bad"' EXIT
mkdir -p "$bad/docs/model" "$bad/tests/unit" "$bad/tests/golden/replay/arm"
touch "$bad/docs/model/a.md" "$bad/tests/unit/test_a.c"
cat >"$bad/docs/papers.md" <<'END'
| 1 | good | [a](model/a.md) | unit.test_a, golden.replay.arm |
| 2 | also good (not run) | [a](model/a.md) | |
| 3 | away | missing | |
| 4 | no document | [b](model/b.md) | unit.test_a |
| 5 | no test | [a](model/a.md) | unit.test_b |
| 6 | untested | [a](model/a.md) | |
| 7 | contradiction | missing | unit.test_a |
| 8 | short | missing |
END
out=$(python3 "$SOURCE/tests/arch/papers.py" "$bad" && exit 1 || true)
for want in "'no document': there is no document" "'no test': there is no test unit.test_b" "'untested': no test" \
    "'contradiction' is missing, and yet" "a row has 3 cells" "8 rows, 75 are the least"; do
    case $out in *"$want"*) ;; *) echo "the check overlooks $want: $out"; exit 1 ;; esac
done
case $out in *good* | *away*) echo "a good row is refused: $out"; exit 1 ;; *) ;; esac
