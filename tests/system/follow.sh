#!/bin/sh
# tandem follow: every shipped experiment, its outputs, and the errors for wrong ones.
set -eu
. "$SOURCE/tests/support/fault_code.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}
for file in "$SOURCE"/config/experiments/*.yaml; do
    name=$(basename "$file" .yaml)
    grep -q '^kind:' "$file" && runs='' || runs=--runs=2
    # shellcheck disable=SC2086
    "$TANDEM" follow "$file" $runs --json --csv "$work/$name" >"$work/$name.json" || fail "$name: exit $?"
    python3 - "$work/$name.json" "$name" "$work/$name" <<'P' || fail "$name: its document"
import csv, json, sys
doc = json.load(open(sys.argv[1]))
assert doc["experiment"] == sys.argv[2], doc["experiment"]
assert doc["runs"] >= 1 and doc["lost"] == 0
if doc.get("kind") == "joint":
    rows = list(csv.DictReader(open(sys.argv[3] + "/controllers.csv")))
    assert len(rows) == sum(len(lag["controllers"]) for lag in doc["lags"])
    assert doc["lags"][0]["controllers"] == doc["controllers"]
    for row in rows[:len(doc["controllers"])]:
        assert float(row["ise"]) == doc["controllers"][row["controller"]]["ise"] > 0
    assert {"fsm", "profile", "time_optimal"} <= doc["controllers"].keys()
    assert doc["controllers"]["fsm"]["paper_ise"] == 74466.68
    assert abs(doc["controllers"]["profile"]["final_error"]) < 0.005
    run = list(csv.DictReader(open(sys.argv[3] + "/run.csv")))
    assert len(run) == len(doc["controllers"]) * round(doc["duration_s"] / doc["sample_s"])
    assert all(None not in row and "" not in row.values() for row in run)
    sys.exit()
if doc.get("kind") == "arm":
    rows = list(csv.DictReader(open(sys.argv[3] + "/telemetry.csv")))
    assert len(rows) == 4 * len(doc["telemetry"]) and not doc["recorded"]
    for row, line in zip(rows, [line for line in doc["telemetry"] for _ in range(4)]):
        assert float(row["tool_rms_mm"]) == line[row["shown"]]["tool_rms_mm"] > 0
    for line in doc["telemetry"]:
        assert line["commanded"]["tool_rms_mm"] <= line["ramp"]["tool_rms_mm"] < line["speed"]["tool_rms_mm"] < line["hold"]["tool_rms_mm"]
    assert doc["telemetry"][0]["ramp"]["tool_rms_mm"] <= 1.5
    rows = list(csv.DictReader(open(sys.argv[3] + "/commands.csv")))
    assert [float(row["off_s"]) for row in rows] == [line["off_s"] for line in doc["commands"]["begun"]]
    assert doc["commands"]["moves"] == 6 and doc["commands"]["others"] == 0
    assert len(list(csv.DictReader(open(sys.argv[3] + "/run.csv")))) > 4000
    sys.exit()
table = {row["state"]: row for row in csv.DictReader(open(sys.argv[3] + "/states.csv"))}
for name, state in doc["states"].items():
    assert state["rmse"]["median"] > 0 and state["rmse"]["p95"] >= state["rmse"]["median"], name
    assert float(table[name]["rmse_median"]) == state["rmse"]["median"]
    assert "paper_rmse" in state
rows = list(csv.DictReader(open(sys.argv[3] + "/run.csv")))
assert len(rows) > 100 and all(None not in row and "" not in row.values() for row in rows)
P
    # shellcheck disable=SC2086
    "$TANDEM" follow "$file" ${runs:+--runs=1} >"$work/page" || fail "$name: page"
    grep -q '^  u  *[0-9]\|^  time_optimal  *[0-9]\|^  1  *125  *0.1  *[0-9]' "$work/page" || fail "$name: no row of figures"
done

# A recording in place of an arm's moves: a recording that an arm wrote is read again; only an arm accepts one.
awk -F, 'NR == 1 {
    printf "t_s"
    for (j = 1; j <= 6; j++) printf ",q%d_target_rad,q%d_actual_rad,qd%d_target_radps,qd%d_actual_radps", j, j, j, j
    printf "\n"
    for (k = 0; k < 300; k++) {
        v = k > 50 && k < 250 ? 0.5 : 0
        q += v * 0.008
        printf "%.3f", k * 0.008
        for (j = 1; j <= 6; j++) printf ",%.6f,%.6f,%g,%g", q, q, v, v
        printf "\n"
    }
}' "$work/arm/telemetry.csv" >"$work/recording.csv"
"$TANDEM" follow "$SOURCE/config/experiments/arm.yaml" --recording "$work/recording.csv" --json >"$work/out" || fail "a recording"
grep -q '"recorded":true' "$work/out" || fail "the recording was not taken: $(cat "$work/out")"
"$TANDEM" follow "$SOURCE/config/experiments/joint.yaml" --recording "$work/recording.csv" 2>"$work/err" >/dev/null && fail "a recording of a joint"
grep -q 'kind arm' "$work/err" || fail "whose recording: $(cat "$work/err")"
# An option without effect is refused.
idle() { # pattern, experiment, options
    text=$1 file=$2 code=0
    shift 2
    "$TANDEM" follow "$SOURCE/config/experiments/$file.yaml" "$@" >"$work/out" 2>"$work/err" || code=$?
    [ $code = 2 ] && [ ! -s "$work/out" ] && grep -q -- "$text" "$work/err" || fail "$file $*: $code, $(cat "$work/err")"
}
idle '--runs is for experiments of kind follow; .*joint.yaml is of kind joint' joint --runs 3
idle '--model is for experiments of kind follow; .*arm.yaml is of kind arm' arm --model "$SOURCE/config/models/usv3.yaml"
idle "names usv3; 'model: dc_motor' in it was expected" table7 --model "$SOURCE/config/models/dc_motor.yaml"
sed 's/q3_actual_rad/q7_actual_rad/' "$work/recording.csv" >"$work/lacks.csv"
"$TANDEM" follow "$SOURCE/config/experiments/arm.yaml" --recording "$work/lacks.csv" 2>"$work/err" >/dev/null && fail "a column is missing"
grep -q 'q3_actual_rad' "$work/err" || fail "which column: $(cat "$work/err")"
sed 's/^moves:/joves:/' "$SOURCE/config/experiments/arm.yaml" >"$work/joves.yaml"
"$TANDEM" follow "$work/joves.yaml" 2>"$work/err" >/dev/null && fail "a key that there is not"
grep -q 'joves' "$work/err" || fail "which key: $(cat "$work/err")"
has_fault_code '[missing_key' "$work/err" joves.yaml

# Pictures of all formats; a title with quotes is plain text.
if command -v gnuplot >/dev/null; then
    for name in table7 joint arm; do
        [ $name = table7 ] && runs=--runs=1 || runs=''
        # shellcheck disable=SC2086
        "$TANDEM" follow "$SOURCE/config/experiments/$name.yaml" $runs --plot "$work/$name.svg" >/dev/null ||
            fail "$name: no picture"
        python3 - "$work/$name.svg" <<'P' || fail "$name: its picture"
import sys, xml.etree.ElementTree as xml
root = xml.parse(sys.argv[1]).getroot()
long = [e for e in root.iter() if e.tag.endswith("path") and len(e.get("d", "")) > 1500]
assert len(long) >= 6, len(long)
P
    done
    sed "s|^name:.*|name: \"it's \\x60touch $work/struck\\x60\"|" "$SOURCE/config/experiments/joint.yaml" >"$work/quoted.yaml"
    "$TANDEM" follow "$work/quoted.yaml" --plot "$work/quoted.svg" >/dev/null || fail "a quoted name"
    grep -q 'it&apos;s\|it.s ' "$work/quoted.svg" || fail "the name is not in the picture"
    [ ! -e "$work/struck" ] || fail "a name was run as a command"
else
    echo "no gnuplot here: the pictures are not checked"
fi
status=0
"$TANDEM" follow "$SOURCE/config/experiments/joint.yaml" --plot "$work/none/x.svg" >"$work/out" 2>"$work/err" || status=$?
[ "$status" = 1 ] && grep -q 'x.svg: ' "$work/err" || fail "a picture nowhere: exit $status"
has_fault_code '[file_unwritable' "$work/err" 'a picture nowhere'
(PATH=/nowhere "$TANDEM" follow "$SOURCE/config/experiments/joint.yaml" --plot "$work/no.svg" >"$work/out" 2>"$work/err") &&
    fail "a picture without gnuplot"
has_fault_code '[process_failed' "$work/err" 'no gnuplot'
[ ! -e "$work/no.svg" ] || fail "an empty picture is left"

# Each error is reported once, with its place; status 2 for a bad file, 1 for an experiment that cannot run.
refused() { # status, pattern that may begin with "[CODE] ", file's content
    text=$2
    printf '%s' "$3" >"$work/bad.yaml"
    status=0
    "$TANDEM" follow "$work/bad.yaml" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = "$1" ] || fail "'$2': exit $status, not $1"
    case $text in "["*) has_fault_code "${text%%]*}" "$work/err" "$*"; text=${text#*]}; text=${text# } ;; esac
    grep -q -- "$text" "$work/err" || fail "'$2' is not said: $(cat "$work/err")"
    [ ! -s "$work/out" ] || fail "'$2': something on stdout"
}
robots='reference: {vessel: wamv}
plant: {vessel: wamv}
'
refused 2 '[missing_key] input.file' "$robots"
refused 2 'bad.yaml:3:.*runs' "$robots"'runs: many
'
refused 1 '[file_unreadable] none.csv: ' "$robots"'input: {file: none.csv, columns: left_right}
'
printf 't_s,left\n0,1\n' >"$work/short.csv"
refused 1 '[missing_column] short.csv.*right' "$robots"'input: {file: short.csv, columns: left_right}
'
printf 't_s,left,right\n0,1,1\n0,1,1\n' >"$work/back.csv"
refused 1 '[time_not_rising] back.csv:3' "$robots"'input: {file: back.csv, columns: left_right}
'
printf 't_s,left,right\n' >"$work/none.csv"
refused 1 '[no_data] none.csv: ' "$robots"'input: {file: none.csv, columns: left_right}
'
printf 't_s,left,right\n0,1,1\n' >"$work/ok.csv"
refused 1 '[out_of_range] bandwidth_radps: 80' "$robots"'input: {file: ok.csv, columns: left_right}
control: {bandwidth_radps: 80}
'
printf 'a,b\n1,2\n' >"$work/draws.csv"
refused 1 '[wrong_count]' 'reference: {vessel: wamv}
plant: {vessel: wamv, spread: intervals}
''input: {file: ok.csv, columns: left_right}
draws: draws.csv
'
refused 2 '[out_of_range] bad.yaml:2:' 'kind: joint
joint: {lag_s: [-1]}
'
refused 2 '[unknown_value] bad.yaml:1:' 'kind: jont
'
status=0
"$TANDEM" follow "$SOURCE/config/experiments/joint.yaml" --csv /dev/null/x >"$work/out" 2>"$work/err" || status=$?
[ "$status" = 1 ] || fail "a folder that cannot be: exit $status"
has_fault_code '[file_unwritable' "$work/err" 'a folder that cannot be'
status=0
"$TANDEM" follow >/dev/null 2>&1 || status=$?
[ "$status" = 2 ] || fail "no operand: exit $status"
exit $failed
