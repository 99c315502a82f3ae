# needs: real time, full
# tandem identify with several recordings of one robot: the spread between them, one that is odd; and --write.
set -eu
. "$SOURCE/tests/support/identify.sh"

# A robot with a lag of 0.3 s and a delay of 0.08 s: record GAIN SEED LARGEST.
record() {
    awk -v gain="$1" -v seed="$2" -v most="$3" 'BEGIN { srand(seed); print "t_s,command,velocity"; h = 0.005
        for (k = 0; k < 1200; k++) {
            if (k % 10 == 0) u = most * (int(9 * rand()) - 4) / 4
            for (i = 0; i < 10; i++) {
                late[k * 10 + i] = u; j = k * 10 + i - 16
                y += h / 0.3 * (gain * (j < 0 ? 0 : late[j]) - y)
                if (i == 0) { e = -6; for (n = 0; n < 12; n++) e += rand(); printf "%.3f,%g,%.5f\n", k * 0.05, u, y + 0.5 * e }
            } } }'
}
i=0
for gain in 1.5725 1.5318 1.6615 1.5672 1.6729; do
    i=$((i + 1))
    record $gain $i 40 >"$work/r$i.csv"
    record 1.6 "$((i + 10))" 40 >"$work/s$i.csv"
done
record 1.9 21 40 >"$work/odd.csv"
cd "$work"
"$TANDEM" identify --model first_order --json r?.csv >between.json
"$TANDEM" identify --model first_order --json --repeat r?.csv >repeat.json
"$TANDEM" identify --model first_order --json s?.csv >alike.json
"$TANDEM" identify --model first_order --json --repeat s?.csv odd.csv >odd.json
python3 - <<'PY'
import json
read = lambda name: json.load(open(name))
between, repeat, alike, odd = (read(f"{name}.json") for name in ("between", "repeat", "alike", "odd"))
gain, lag = between["between"]["gain"], between["between"]["time_constant_s"]
assert between["verdict"] == "MARGINAL" and between["reason_codes"][0] == "parts_differ", between["reasons"]
assert "changes_with_time" not in between["reason_codes"], between["reasons"]
assert abs(gain["value"] - 1.6012) < 0.005 and abs(gain["sd_between"] - 0.0626) < 0.003 and gain["df"] == 4, gain
assert gain["p"] < 1e-6 and gain["another"][0] < 1.45 and gain["another"][1] > 1.75 and gain["odd"] is None, gain
assert lag["p"] > 0.01 and abs(lag["value"] - 0.3) < 0.005 and lag["sd_between"] < 0.004, lag
assert repeat["between"] == between["between"] and repeat["verdict"] == "MARGINAL", repeat
assert [r["name"] for r in repeat["recordings"]] == [f"r{k}.csv" for k in range(1, 6)], repeat
assert alike["verdict"] == "PASS" and alike["between"]["gain"]["p"] > 0.01, alike["reasons"]
assert odd["between"]["gain"]["odd"] == "odd.csv" and odd["verdict"] == "MARGINAL", odd
PY
"$TANDEM" identify --model first_order --repeat r?.csv >page
grep -q '^first_order of 5 recordings, each by itself: MARGINAL' page && grep -q '^  gain  *5  *1\.60' page &&
    grep -q '^  r3.csv .* command -40 .. 40' page || fail "page: $(cat page)"
code=0
"$TANDEM" identify --model first_order --fail-if marginal r?.csv >page || code=$?
[ "$code" -eq 3 ] && grep -q '^recordings$' page || fail "exit $code: $(cat page)"
refuse 2 '[too_few] --repeat' --model first_order --repeat r1.csv r2.csv
# shellcheck disable=SC2002
cat r1.csv | "$TANDEM" identify --model first_order --json - r2.csv r3.csv | grep -q '"between"' && fail "read standard input twice"

# Fragments: what a format has, what it has not, and nothing from a FAIL.
"$TANDEM" identify --model first_order --write mjcf --name left s1.csv >left.xml
grep -q '^<general name="left_speed" joint="left" dyntype="filter" dynprm="0.[23]' left.xml || fail "$(cat left.xml)"
grep -q '^<!-- gain 95 % ' left.xml && grep -q '^<!-- delay 0.0' left.xml || fail "$(cat left.xml)"
"$TANDEM" identify --model first_order --write json s1.csv | grep -q '"derived":{"gain":{"value":1.[56]' || fail "no gain"
refuse 2 '[not_applicable] urdf has no fragment for first_order' --model first_order --write urdf s1.csv
refuse 2 '--write xml' --model first_order --write xml s1.csv
refuse 2 '[bad_name] ' --model first_order --write mjcf --name 'a"b' s1.csv
refuse 2 '[not_applicable] ' --model odometry --write sdf --inertia 1 s1.csv
awk 'BEGIN { srand(5); print "t_s,command,velocity"; for (k = 0; k < 600; k++) { if (k % 10 == 0) u = 20 * (rand() - 0.5)
    printf "%.3f,%g,%.5f\n", k * 0.05, u, rand() - 0.5 } }' >noise.csv
refuse 1 'the verdict is FAIL' --model first_order --write mjcf noise.csv
