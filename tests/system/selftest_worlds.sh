# needs: a minute, full
# What is said of worlds that are not the models', in short: docs/model/trust.md has the long form. Judged by what chance
# brings in one of 1000 self tests.
set -eu
fail() { echo "selftest_worlds: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for case in travel_time:40 arm_time:20 first_order:6 usv3:3 arm_kinematics:4 arm_friction:3; do
    "$TANDEM" selftest --model "${case%:*}" --runs "${case#*:}" --json >"$work/worlds" || fail "$case: $(cat "$work/worlds")"
    python3 - "$work/worlds" <<'END' || fail "$case: worlds"
import json, sys
worlds = json.load(open(sys.argv[1]))["worlds"]
assert len(worlds) >= 11, len(worlds)
for w in worlds:
    assert sum(w["verdicts"].values()) + w["refused"] == w["runs"], w
    assert w["claim"] != "wrong" or w["wrong"] == w["verdicts"]["PASS"], w
    assert len(w["covered"]) > 0 or w["refused"] == w["runs"], w
END
done
"$TANDEM" selftest --world half_speed --model travel_time --runs 4 >"$work/page" || fail "half_speed: $(cat "$work/page")"
grep -q '^  travel_time  half_speed  *wrong  *0  *0  *4 ' "$work/page" || fail "page: $(cat "$work/page")"
code=0
"$TANDEM" selftest --world flat --runs 2 >/dev/null 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q "world 'flat'" "$work/err" || fail "unknown world: $code: $(cat "$work/err")"
