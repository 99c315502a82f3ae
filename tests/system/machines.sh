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
refused "unknown option '--svg'" --svg
refused "exactly one NAME goes with '--dot'" --dot
refused "one form of output only" --json --list
if [ -w /dev/full ]; then
    status=0
    "$TANDEM" machines >/dev/full 2>"$work/err" || status=$?
    [ "$status" -eq 1 ] || fail "full disk: exit $status, want 1"
fi
