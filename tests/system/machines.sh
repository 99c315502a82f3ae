# tandem machines: every form of output, and what wrong usage says.
set -eu
fail() { echo "machines: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$TANDEM" machines >"$work/tables" || fail "tables: exit $?"
"$TANDEM" machines --list >"$work/names"
[ -s "$work/names" ] || fail "no machine listed"
while read -r name; do
    grep -q "^$name - " "$work/tables" || fail "$name is not among the tables"
    "$TANDEM" machines --dot "$name" >"$work/$name.dot"
    grep -q "^digraph \"$name\" {" "$work/$name.dot" || fail "$name: no digraph"
    if command -v dot >/dev/null; then
        dot -Tsvg "$work/$name.dot" >"$work/$name.svg" 2>"$work/err" || fail "$name: dot refused it"
        [ ! -s "$work/err" ] || fail "$name: dot warns: $(cat "$work/err")"
    fi
done <"$work/names"
"$TANDEM" machines --json >"$work/json"
if command -v python3 >/dev/null; then
    python3 - "$work/json" "$work/names" <<'PY'
import json, sys
machines = json.load(open(sys.argv[1]))["machines"]
assert [m["name"] for m in machines] == open(sys.argv[2]).read().split()
for m in machines:
    names = [s["name"] for s in m["states"]]
    assert m["initial"] in names
    for a in m["arcs"]:
        assert a["from"] in names and (a["to"] is None or a["to"] in names) and a["label"]
PY
fi
"$TANDEM" machines --help | grep -q '^SYNOPSIS' || fail "help"

refused() { # words expected on stderr, then the arguments
    words=$1; shift
    status=0
    "$TANDEM" machines "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 2 ] || fail "$*: exit $status, want 2"
    [ ! -s "$work/out" ] || fail "$*: wrote to stdout"
    grep -q -- "$words" "$work/err" || fail "$*: says $(cat "$work/err")"
}
refused "no machine 'nosuch', the machines are: " nosuch
refused "unknown option '--nosuch'" --nosuch
refused "machines of files go with '--svg'" --svg
refused "machines of files go with '--drawio'" --drawio executive
golden=tests/golden/machines
refused "exactly one machine of a drawing goes with '--svg'" "$golden/handshake.drawio" --svg
refused "take --dot in place of '--svg'" config/machines/counter.yaml --svg

# Written as a drawing, and read back: the same to the letter.
for file in config/machines/*.yaml; do
    "$TANDEM" machines "$file" --yaml >"$work/before" 2>/dev/null
    "$TANDEM" machines "$file" --drawio >"$work/again.drawio" 2>/dev/null
    "$TANDEM" machines "$work/again.drawio" --yaml >"$work/after" 2>/dev/null
    cmp "$work/before" "$work/after" || fail "$file: not the same after --drawio"
done
# A drawing in its own layout; nothing lit, that apart as in unit.test_drawing.
"$TANDEM" machines "$golden/plans.drawio" --svg 2>/dev/null >"$work/svg"
sed 's/#ffd75e/#fff/' "$golden/plans.svg" | cmp - "$work/svg" || fail "--svg"
refused "exactly one NAME goes with '--dot'" --dot
refused "one form of output only" --json --list
if [ -w /dev/full ]; then
    status=0
    "$TANDEM" machines >/dev/full 2>"$work/err" || status=$?
    [ "$status" -eq 1 ] || fail "full disk: exit $status, want 1"
fi
