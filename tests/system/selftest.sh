# tandem selftest: its output as text and JSON; a seed fixes every byte.
set -eu
fail() { echo "selftest: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$TANDEM" selftest --model first_order --scenario none --runs 4 >"$work/page" || fail "exit $?: $(cat "$work/page")"
grep -q '^first_order: 4 recordings of 50 s at 20 Hz' "$work/page" || fail "page: $(head -1 "$work/page")"
grep -q '^  delay_s ' "$work/page" || fail 'no delay'
grep -q '^every estimate is where chance allows it$' "$work/page" || fail 'no verdict'
"$TANDEM" selftest --model first_order --scenario none --runs 4 --json >"$work/a"
"$TANDEM" selftest --model first_order --scenario none --runs 4 --json --seed 1 | cmp - "$work/a" || fail 'other bytes from the same seed'
"$TANDEM" selftest --model first_order --scenario none --runs 4 --json --seed 2 | cmp -s - "$work/a" && fail 'the same bytes from another seed'
grep -q '"models":\[{"model":"first_order","runs":4,.*"scenarios":\[\],"well":true}$' "$work/a" || fail "json: $(cat "$work/a")"
code=0
"$TANDEM" selftest --model walk >"$work/out" 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q "no model 'walk'" "$work/err" || fail "unknown model: $code"
"$TANDEM" selftest --runs 1 2>/dev/null && fail 'one run' || true

# A joint with a delay has slightly autocorrelated residuals: its error bars match the scatter of the estimates.
"$TANDEM" selftest --model joint --scenario none --runs 4 --json >"$work/joint" || fail "joint: $(cat "$work/joint")"
python3 -c 'import json, sys
for p in json.load(open(sys.argv[1]))["models"][0]["parameters"]:
    assert p["known"] == 4 and p["sd"] <= 5 * p["se"], p' "$work/joint" || fail 'a joint of its own error bars'
