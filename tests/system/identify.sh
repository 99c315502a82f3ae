# tandem identify: what it prints, and what it says about wrong usage and wrong files.
set -eu
fail() { echo "identify: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$SOURCE/tests/golden/smartlog.csv

# refuse STATUS TEXT ARGUMENT...: exit status, words on stderr, nothing on stdout
refuse() {
    want=$1 text=$2
    shift 2
    code=0
    "$TANDEM" identify "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" = "$want" ] || fail "exit $code, not $want: $*"
    grep -qF -- "$text" "$work/err" || fail "no '$text' from '$*': $(cat "$work/err")"
    grep -q '^tandem: ' "$work/err" || fail "no 'tandem: ' from '$*'"
    [ ! -s "$work/out" ] || fail "output beside an error: $*"
}

refuse 2 'which model?'
refuse 2 'which model?' "$log"
refuse 2 "unknown model 'walk', " --model walk "$log"
refuse 2 'no file to read' --model travel_time
refuse 2 "unknown option '--mehtod'" --model travel_time --mehtod ols "$log"
refuse 2 "no value after '--method'" --model travel_time "$log" --method
refuse 2 "unknown method 'lad', ols, huber, tukey and auto" --model travel_time --method lad "$log"
refuse 2 "unknown side 'left', real and virtual" --model travel_time --side left "$log"
refuse 2 "--columns cannot read 'lap_s'" --model travel_time --columns lap_s "$log"
refuse 2 "unknown role 'lap'" --model travel_time --columns lap=lap1_s "$log"
refuse 1 "$work/none.csv: cannot open: No such file" --model travel_time "$work/none.csv"
refuse 1 "cannot read: Is a directory" --model travel_time "$work"
refuse 1 "there is no column 'drive'" --model travel_time --columns displacement_m=drive "$log"

head='lap_s,rotation_rad,displacement_m'
printf '%s\n1,2\n' "$head" >"$work/ragged.csv"
refuse 1 "$work/ragged.csv:2: 2 fields, the header names 3 columns" --model travel_time "$work/ragged.csv"
printf '%s\n1,2,3\n1,nan,3\n' "$head" >"$work/nan.csv"
refuse 1 "$work/nan.csv:3:3: column 'rotation_rad': 'nan' is not a finite number" --model travel_time "$work/nan.csv"
printf '%s\n"1,5",2,3\n' "$head" >"$work/comma.csv"
refuse 1 "$work/comma.csv:2:1: column 'lap_s': '1,5' is not a number; a decimal comma?" --model travel_time "$work/comma.csv"
printf 'lap_s;rotation_rad\n1;2\n' >"$work/semicolon.csv"
refuse 1 "separated by ';', commas are needed" --model travel_time "$work/semicolon.csv"
: >"$work/empty.csv"
refuse 1 "$work/empty.csv:1: no header line" --model travel_time "$work/empty.csv"
printf 'a,b\n1,2\n' >"$work/other.csv"
refuse 1 "there is no column 'lap_s', the columns are: a, b" --model travel_time "$work/other.csv"

# Few moves are an answer, with moves that would help.
printf '%s\n' "$head" >"$work/none_yet.csv"
"$TANDEM" identify --model travel_time "$work/none_yet.csv" >"$work/out" || fail "no moves: exit $?"
grep -q '^verdict: FAIL$' "$work/out" || fail "no moves: no verdict"
grep -qF 'turn on the spot by two different angles' "$work/out" || fail "no moves: no advice"

# A move without a lap is skipped and counted; degrees and millimetres; standard input.
printf 'lap[s],rotation[deg],displacement[mm]\n2.0,90,0\n,90,0\n3.0,180,0\n' |
    "$TANDEM" identify --model travel_time - >"$work/out" || fail "stdin: exit $?"
grep -q '^1 more have no lap and were skipped$' "$work/out" || fail "stdin: $(cat "$work/out")"
grep -qE '^angular speed, rad/s +1\.571 ' "$work/out" || fail "stdin: $(cat "$work/out")"

# A smart logger's table, its two sides, and one JSON document on stdout.
for side in real virtual; do
    "$TANDEM" identify --model travel_time --method tukey --side $side --json "$log" \
        >"$work/$side.json" 2>"$work/err" || fail "$side: exit $?"
    [ ! -s "$work/err" ] || fail "$side: $(cat "$work/err")"
done
"$TANDEM" identify --model travel_time --method tukey --json --validate "$log" "$log" >"$work/held.json"
"$TANDEM" identify --help >"$work/help" || fail "help: exit $?"
grep -q '^usage: tandem identify' "$work/help" || fail "no usage"
grep -q '^model travel_time' "$work/help" || fail "no model in the help"
if command -v python3 >/dev/null; then
    python3 - "$work" <<'PY'
import json, sys
fits = {k: json.load(open(f"{sys.argv[1]}/{k}.json")) for k in ("real", "virtual", "held")}
real, held = fits["real"], fits["held"]
assert real["n"] == 60 and real["method"] == "tukey" and real["verdict"] == "PASS"
assert abs(real["values"]["angular_speed_radps"] - 1.19638) < 5e-4
assert abs(real["values"]["linear_speed_mps"] - 0.19998) < 5e-5
assert abs(fits["virtual"]["values"]["angular_speed_radps"] - 1.31) < 0.02
for name in ("t0_s", "ta_s", "tr_s", "angular_speed_radps", "linear_speed_mps"):
    lo, hi = real["ci95"][name]
    assert lo < real["values"][name] < hi and real["se"][name] > 0 and name in real["identifiable"]
assert real["combinations"] == [] and real["advice"] == [] and real["skipped"] == 0
assert held["validation"]["n"] == 60 and held["validation"]["median_s"] < 0.05
PY
fi
