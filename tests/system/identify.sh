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
grep -q '^1 more are no moves that ended well, and were skipped$' "$work/out" || fail "stdin: $(cat "$work/out")"
grep -qE '^angular speed, rad/s +1\.571 ' "$work/out" || fail "stdin: $(cat "$work/out")"

# A smart logger's table, its two sides, and one JSON document on stdout.
for side in real virtual; do
    "$TANDEM" identify --model travel_time --method tukey --side $side --json "$log" \
        >"$work/$side.json" 2>"$work/err" || fail "$side: exit $?"
    [ ! -s "$work/err" ] || fail "$side: $(cat "$work/err")"
done
"$TANDEM" identify --model travel_time --method tukey --json --validate "$log" "$log" >"$work/held.json"
# Tandem's own entries: moves that did not end well are left out.
{
    echo op,real_lap_s,virtual_lap_s,rotation_rad,displacement_m,real_status,virtual_status
    for turn in 1 2 3 4 5 6 7; do echo "go,$turn.1,$turn.2,$turn,0,done,done"; done
    echo go,9,9,1,0,error,done
    echo lidar,9,9,0,0,done,done
    echo go,,9,1,0,,done
} >"$work/entries.csv"
"$TANDEM" identify --model travel_time --json "$work/entries.csv" | grep -q '"n":7,.*"skipped":3' || fail "what is no move is not left out"
# Dynamics of a vessel: a recording with its truth, read by the names of its columns.
vessel="--model usv3 --columns tau_u=Tu,tau_v=Tv,tau_r=Tr,u=u_meas,v=v_meas,r=r_meas"
W=$SOURCE/tests/golden/usv_W.csv
refuse 2 "unknown method 'best', auto" $vessel --method best "$W"
refuse 1 "there is no column 'u_mps'" --model usv3 "$W"
refuse 2 'not for travel_time' --model travel_time --biases "$log"
body='t,tau_u,tau_v,tau_r,u,v,r'
printf '%s\n' "$body" >"$work/head.csv"
refuse 1 '0 rows' --model usv3 "$work/head.csv"
printf '%s\n0,1,0,0,0,0,0\n' "$body" >"$work/one.csv"
refuse 1 '1 rows' --model usv3 "$work/one.csv"
printf '%s\n0,1,0,0,fast,0,0\n' "$body" >"$work/text.csv"
refuse 1 "$work/text.csv:2:9: column 'u': 'fast' is not a number" --model usv3 "$work/text.csv"
: >"$work/empty.csv"
refuse 1 'empty' --model usv3 "$work/empty.csv"
awk -F, '!/^#/ { print $1 * 1000 "," $0 }' "$W" | sed '1i ms,t,Tu,Tv,Tr,u_meas,v_meas,r_meas,a,b,c' >"$work/ms.csv"
refuse 1 'times must be in seconds' $vessel,t=ms "$work/ms.csv"
awk -F, 'BEGIN { OFS = "," } /^#/ { print; next } NR % 9 == 0 { $5 = "1e200" } { print }' "$W" >"$work/huge.csv"
refuse 1 'u_mps reaches 1e+200' $vessel "$work/huge.csv"
"$TANDEM" identify $vessel --json "$W" >"$work/vessel.json"
"$TANDEM" identify $vessel --json "$W" | cmp - "$work/vessel.json" || fail "other bytes from the same data"
"$TANDEM" identify $vessel --json --validate "$W" --validate "$W" "$SOURCE/tests/golden/usv_IA.csv" >"$work/other.json"
"$TANDEM" identify $vessel "$W" >"$work/page"
"$TANDEM" identify $vessel --json --method output_error "$W" >"$work/simulated.json"
awk -F, 'BEGIN { OFS = "," } /^#/ { print; next } { $1 += 1.5; print }' "$W" >"$work/part.csv"
"$TANDEM" identify $vessel --json --method output_error --biases "$W" "$work/part.csv" >"$work/biases.json"
grep -q '^usv3 by output_error: PASS' "$work/page" || fail "page: $(head -3 "$work/page")"
# Yaw in deg/s, and a recording in which nothing happens.
awk -F, 'BEGIN { OFS = "," } /^#/ { print; next } { $7 *= 57.29578; print }' "$W" >"$work/deg.csv"
"$TANDEM" identify $vessel "$work/deg.csv" >"$work/page"
grep -q 'FAIL' "$work/page" && grep -q 'another unit' "$work/page" || fail "deg/s: $(head -5 "$work/page")"
awk 'BEGIN { print "'$body'"; for (k = 0; k < 900; k++) print k / 10 ",5,0,0,0,0,0" }' >"$work/still.csv"
"$TANDEM" identify --model usv3 --json "$work/still.csv" >"$work/still.json"
"$TANDEM" identify --model usv3 "$work/still.csv" >"$work/page"
grep -q 'FAIL' "$work/page" && grep -q 'does not determine\|do not determine' "$work/page" || fail "still: $(head -5 "$work/page")"

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
vessel, other = (json.load(open(f"{sys.argv[1]}/{k}.json")) for k in ("vessel", "other"))
truth = [125.9712, 121.4476, 70.5019, 26.5692, 35.8778, 36.4337, 27.4138, 99.1686, 10.6007]
for name, want in zip(vessel["parameters"], truth):
    assert abs(vessel["values"][name] - want) < 3 * vessel["se_hac"][name], name
assert vessel["verdict"] == "PASS" and len(vessel["identifiable"]) == 9 and vessel["held_out"] is None
assert vessel["data"]["used"] == 1500 and vessel["provenance"]["files"][0]["bytes"] == 148714
simulated, biases = (json.load(open(f"{sys.argv[1]}/{k}.json")) for k in ("simulated", "biases"))
assert simulated["verdict"] == "PASS" and abs(simulated["delay_s"]["value"]) < 3 * simulated["delay_s"]["se"] < 0.01
for name, want in zip(simulated["parameters"], truth):
    assert abs(simulated["values"][name] - want) < 3 * simulated["se"][name], name
assert all(axis["white"] for axis in simulated["fit"]["simulated"].values())
assert len(biases["parameters"]) == 12 and biases["data"]["runs"] == 2 and abs(biases["values"]["tau_u_n_bias"]) < 1
still = json.load(open(f"{sys.argv[1]}/still.json"))
assert still["verdict"] == "FAIL" and set(still["values"].values()) == {None} and still["identifiable"] == []
assert other["verdict"] != "PASS" and "yaw_quadratic_kgm2" not in other["identifiable"]
assert other["held_out"]["simulated"]["u_mps"]["n"] == 2998
PY
fi
