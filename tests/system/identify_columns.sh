#!/bin/sh
# Tests what `tandem identify` says of the columns of a recording, and of tables in other forms.
set -eu
. "$SOURCE/tests/support/identify.sh"
columns="$SOURCE/tests/golden/columns"

# fit VERDICT CODE ARGUMENT...: checks the verdict, and that its reasons or notes have this code ("": any).
fit() {
    want=$1 has=$2
    shift 2
    "$TANDEM" identify --json "$@" >"$work/out" || fail "exit $?: $*"
    python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))
codes = found["reason_codes"] + found["note_codes"]
want, has = sys.argv[2:4]
if found["verdict"] != want or has and has not in codes:
    sys.exit("%s, not %s: %s, not %s" % (found["verdict"], want, codes, has))
if want == "FAIL" and (len(found["reasons"]) > 1 or any(v is not None for v in found["values"].values())):
    sys.exit("%s has more than one reason, or values" % has)
' "$work/out" "$want" "$has" || fail "$*"
}

# holds NAME VALUE: the last interval of a value, or of the delay, contains a number.
holds() {
    python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))
name, value = sys.argv[2], float(sys.argv[3])
among = {**{k: d["ci95"] for k, d in found["derived"].items()}, **found["ci95"], "delay_s": found["delay_s"]["ci95"]}
if not among[name][0] <= value <= among[name][1]:
    sys.exit("%s: %s does not contain %g" % (name, among[name], value))
' "$work/out" "$1" "$2" || fail "$1"
}

for robot in deadband second slow; do
    fit MARGINAL few_levels --model first_order "$columns/constant_$robot.csv"
done
fit MARGINAL few_levels --model first_order "$columns/one_size.csv"
fit FAIL few_levels --model joint --columns effort=volts "$columns/step_only.csv"
fit FAIL few_levels --model joint --columns effort=volts "$columns/step_rest.csv"

fit PASS '' --model joint "$columns/joint.csv"
for wrong in position=57.29578*position position=-position t=10*t_s t=1000*t_s velocity=2*velocity; do
    fit FAIL columns_contradict --model joint --columns "$wrong" "$columns/joint.csv"
done
fit FAIL wrong_column --model diffdrive "$columns/swapped.csv"
fit FAIL wrong_column --model diffdrive --columns u=w_radps,w=-v_mps "$columns/swapped.csv"

# The command changes somewhere in the row before it is seen: gain 1.6, lag 0.3 s, delay 0.08 s.
fit PASS '' --model first_order "$columns/day1.csv"
holds delay_s 0.08
holds gain 1.6
fit PASS '' --model first_order "$columns/day2.csv"
holds delay_s 0.08
fit PASS held_out --model first_order --validate "$columns/day2.csv" "$columns/day1.csv"

# The parameters of one day do not contradict those of the other, but a delay of 0.2 s does.
"$TANDEM" identify --json --model first_order "$columns/day1.csv" >"$work/day1.json"
for use in "$work/day1.json" delay_s=0.2; do
    code=0
    "$TANDEM" identify --model first_order --fail-if contradicts --reference "$use" "$columns/day2.csv" >"$work/out" ||
        code=$?
    case $use:$code in *.json:0 | *0.2:3) ;; *) fail "exit $code with $use in use" ;; esac
done

fit MARGINAL repeats --model first_order "$columns/stale.csv"
for name in gain:1.6 time_constant_s:0.3 delay_s:0.08; do holds "${name%:*}" "${name#*:}"; done
fit PASS joined --model first_order "$columns/outer.csv"
for name in gain:1.6 time_constant_s:0.3 delay_s:0.067; do holds "${name%:*}" "${name#*:}"; done
fit PASS repeats --model first_order "$columns/ffill.csv"
holds time_constant_s 0.3
fit PASS joined --model first_order "$columns/two_topics.csv"
holds time_constant_s 0.15
fit MARGINAL wrapped --model joint --columns effort=effort,position=q_deg:deg "$columns/wrapped.csv"
for name in viscous:0.05 coulomb:0.04; do holds "${name%:*}" "${name#*:}"; done

# Steps of a seventh of the motion colour the residual by less than their own noise.
awk -F, -v OFS=, 'NR > 1 { $3 = 8 * int($3 / 8 + ($3 < 0 ? -0.5 : 0.5)) } 1' "$columns/day1.csv" >"$work/coarse.csv"
fit PASS steps --model first_order "$work/coarse.csv"
for name in gain:1.6 time_constant_s:0.3 delay_s:0.08; do holds "${name%:*}" "${name#*:}"; done

# A column that nobody reads may be there twice.
sed 's/$/,31,31/; 1s/,31,31/,heat,heat/' "$columns/stale.csv" >"$work/twice.csv"
fit MARGINAL repeats --model first_order "$work/twice.csv"
sed '1s/heat,heat/heat,velocity/' "$work/twice.csv" >"$work/read_twice.csv"
refuse 1 "[duplicate_name] velocity" --model first_order "$work/read_twice.csv"
# Two measured channels in rows of their own.
printf 't_s,v_cmd_mps,w_cmd_radps,v_mps,w_radps\n' >"$work/apart.csv"
awk 'BEGIN { for (k = 0; k < 200; k++) printf "%g,%g,0,%s\n", k * 0.1, k % 7, k % 2 ? k ",": "," k }' >>"$work/apart.csv"
refuse 1 "[inconsistent] ffill" --model diffdrive "$work/apart.csv"

for encoding in UTF-16 UTF-16LE UTF-16BE; do
    iconv -f UTF-8 -t "$encoding" "$columns/stale.csv" >"$work/utf16.csv"
    refuse 1 "[bad_encoding] iconv -f $encoding -t UTF-8" --model first_order "$work/utf16.csv"
done
tr '\n' '\r' <"$columns/stale.csv" >"$work/returns.csv"
refuse 1 "[bad_encoding] tr '\\r' '\\n' <" --model first_order "$work/returns.csv"
tr , ' ' <"$columns/stale.csv" >"$work/blanks.csv"
refuse 1 "[bad_syntax] tr -s ' ' ," --model first_order "$work/blanks.csv"
