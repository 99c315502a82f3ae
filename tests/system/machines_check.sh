# tandem machines check: its output for drawings and texts, its exit status, and its JSON.
set -eu
fail() { echo "machines check: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { # status wanted, then the arguments
    want=$1; shift
    status=0
    "$TANDEM" machines check "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq "$want" ] || fail "$*: exit $status, want $want: $(cat "$work/out" "$work/err")"
}

for drawing in "$SOURCE"/tests/golden/machines/*.drawio; do
    golden=${drawing%.drawio}.diag.txt
    errors=0
    if grep -q '^E-' "$golden"; then errors=1; fi
    warnings=$errors
    if grep -q '^W-' "$golden"; then warnings=1; fi
    check "$errors" "$drawing"
    cmp "$golden" "$work/out" || fail "$drawing has other diagnostics"
    [ -s "$golden" ] || grep -q ': fine$' "$work/err" || fail "$drawing: not a word that it is fine"
    check "$warnings" --strict "$drawing"
done

# The same machine as text: places are lines.
check 0 "$SOURCE"/tests/golden/machines/counter.Counter.yaml
[ ! -s "$work/out" ] || fail "the counter is fine, but told: $(cat "$work/out")"
check 1 "$SOURCE"/tests/golden/machines/f02_overlap.F.yaml
overlap="COUNT: 'C >= 0 / C+ = C - 1' and 'C <= 0 / e = true' both hold when C = 0"
grep -qx "E-OVERLAP  f02_overlap.F.yaml:25:7: $overlap" "$work/out" || fail "the overlap: $(cat "$work/out")"

# Several files, one of which does not exist.
check 1 "$SOURCE"/tests/golden/machines/lamp.Lamp.yaml "$work/none.yaml"
grep -q "^E-FILE  none.yaml: cannot read .*: No such file or directory$" "$work/out" || fail "a missing file"
check 2
check 2 --word x.yaml

# JSON reports the same.
if command -v python3 >/dev/null; then
    check 1 --json "$SOURCE"/tests/golden/machines/f0*.drawio "$SOURCE"/tests/golden/machines/f02_overlap.F.yaml
    python3 - "$work/out" "$SOURCE/tests/golden/machines" <<'PY' || fail "JSON"
import glob, json, sys
document = json.load(open(sys.argv[1]))
lines = [line.rstrip("\n") for path in sorted(glob.glob(sys.argv[2] + "/f0*.diag.txt")) for line in open(path)]
told = [d for d in document["diagnostics"] if d["file"].endswith(".drawio")]
assert lines == [f'{d["code"]}  {d["file"]}: {d["place"]}: {d["text"]}' for d in told], told
text = [d for d in document["diagnostics"] if d["file"].endswith(".yaml")]
keys = ("machine", "severity", "line", "column", "place")
assert [tuple(d[k] for k in keys) for d in text] == [("F", "error", 25, 7, None)], text
assert document["errors"] == sum(d["severity"] == "error" for d in document["diagnostics"])
assert document["warnings"] == sum(d["severity"] == "warning" for d in document["diagnostics"])
PY
fi
