# needs: a minute, full
# The verdicts on scenarios outside of the models, in a short run: docs/model/trust.md has the long form. A correct
# program fails by chance in one of 1000 runs.
set -eu
fail() { echo "selftest_scenarios: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2046 # names without spaces
python3 "$SOURCE/tests/campaign/campaign.py" check $(python3 "$SOURCE/tests/campaign/campaign.py" list |
    awk '/^selftest_/ && $3 > 0 { print $1 }') --build "$BUILD"
"$TANDEM" selftest --scenario half_speed --model travel_time --runs 4 >"$work/page" || fail "half_speed: $(cat "$work/page")"
grep -q '^  travel_time  half_speed  *wrong  *0  *0  *4 ' "$work/page" || fail "page: $(cat "$work/page")"
code=0
"$TANDEM" selftest --scenario flat --runs 2 >/dev/null 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q "world 'flat'" "$work/err" || fail "unknown world: $code: $(cat "$work/err")"
