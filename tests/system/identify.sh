# needs: full
# tandem identify: its output, and its errors for wrong usage and wrong files.
set -eu
. "$SOURCE/tests/support/identify.sh"
log=$SOURCE/tests/golden/smartlog.csv

refuse 2 'identify needs FILE...'
refuse 2 'which model?' "$log"
refuse 2 "unknown model 'walk', " --model walk "$log"
refuse 2 'identify needs FILE...' --model travel_time
refuse 2 "unknown option '--mehtod'" --model travel_time --mehtod ols "$log"
refuse 2 "--method: its value METHOD is missing" --model travel_time "$log" --method
refuse 2 "[unknown_value] 'lad'" --model travel_time --method lad "$log"
refuse 2 "--side left: one of real|virtual was expected" --model travel_time --side left "$log"
refuse 2 "[bad_format] 'lap_s'" --model travel_time --columns lap_s "$log"
refuse 2 "[unknown_name] 'lap'" --model travel_time --columns lap=lap1_s "$log"
refuse 1 "[file_unreadable] $work/none.csv: " --model travel_time "$work/none.csv"
refuse 1 "[file_missing] $work: " --model travel_time "$work"
refuse 1 "[missing_column] 'drive'" --model travel_time --columns displacement_m=drive "$log"

head='lap_s,rotation_rad,displacement_m'
printf '%s\n1,2\n' "$head" >"$work/ragged.csv"
refuse 1 "[wrong_count] $work/ragged.csv:2: " --model travel_time "$work/ragged.csv"
printf '%s\n1,2,3\n1,nan,3\n' "$head" >"$work/nan.csv"
refuse 1 "[not_a_number] $work/nan.csv:3:3: column 'rotation_rad': 'nan'" --model travel_time "$work/nan.csv"
printf '%s\n"1,5",2,3\n' "$head" >"$work/comma.csv"
refuse 1 "[not_a_number] $work/comma.csv:2:1: column 'lap_s': '1,5'" --model travel_time "$work/comma.csv"
printf 'lap_s;rotation_rad\n1;2\n' >"$work/semicolon.csv"
refuse 1 "[bad_syntax] ';'" --model travel_time "$work/semicolon.csv"
: >"$work/empty.csv"
refuse 1 "[missing_header] $work/empty.csv:1: " --model travel_time "$work/empty.csv"
printf 'a,b\n1,2\n' >"$work/other.csv"
refuse 1 "[missing_column] 'lap_s'" --model travel_time "$work/other.csv"

# Few moves still give an answer, with moves that would help.
printf '%s\n' "$head" >"$work/none_yet.csv"
"$TANDEM" identify --model travel_time "$work/none_yet.csv" >"$work/out" || fail "no moves: exit $?"
grep -q '^travel times of .*: FAIL$' "$work/out" || fail "no moves: no verdict"
grep -qF 'turn on the spot by two different angles' "$work/out" || fail "no moves: no advice"

# A move without a lap is skipped and counted; degrees and millimetres; standard input.
printf 'lap[s],rotation[deg],displacement[mm]\n2.0,90,0\n,90,0\n3.0,180,0\n' |
    "$TANDEM" identify --model travel_time - >"$work/out" || fail "stdin: exit $?"
grep -q '^1 more are no moves that ended well, and were skipped$' "$work/out" || fail "stdin: $(cat "$work/out")"
grep -qE '^  w    angular_speed_radps +1\.57' "$work/out" || fail "stdin: $(cat "$work/out")"

# A smart logger's table, its two sides, and one JSON document on stdout.
for side in real virtual; do
    "$TANDEM" identify --model travel_time --method tukey --side $side --json "$log" \
        >"$work/$side.json" 2>"$work/err" || fail "$side: exit $?"
    [ ! -s "$work/err" ] || fail "$side: $(cat "$work/err")"
done
"$TANDEM" identify --model travel_time --method tukey --json --validate "$log" "$log" >"$work/held.json"
# A joint: angles alone. All files must have the same columns.
printf 'lap_s,rotation_rad\n1.5,1\n2.0,1.5\n2.52,2\n3.0,2.5\n3.5,3\n3.98,3.5\n4.5,4\n' >"$work/joint.csv"
refuse 1 "[missing_column] 'displacement_m'" --model travel_time "$work/joint.csv"
"$TANDEM" identify --model travel_time --columns displacement_m=- "$work/joint.csv" >"$work/named"
"$TANDEM" identify --model travel_time --columns rotation_rad=rotation_rad "$work/joint.csv" >"$work/out" || fail "joint: exit $?"
grep -q ': PASS$' "$work/out" && grep -qE '^  t0   t0_s +0\.5' "$work/out" && ! grep -q linear "$work/out" && cmp "$work/out" "$work/named" || fail "joint: $(cat "$work/out")"
# The page is one screen, with the first reason; --details has the rest.
printf 'lap_s,rotation_rad,displacement_m\n1,0,1\n2,0,2\n' >"$work/two.csv"
"$TANDEM" identify --model travel_time "$work/two.csv" >"$work/out" || fail "two: exit $?"
[ "$(grep -c '^  because ' "$work/out")" = 1 ] && grep -q '^  and 1 more reason, see --details$' "$work/out" &&
    [ "$(tail -1 "$work/out")" = '--details prints the rest' ] && ! grep -q 'correlation\|rmse_s' "$work/out" || fail "two: $(cat "$work/out")"
"$TANDEM" identify --model travel_time --details "$work/two.csv" >"$work/out" || fail "details: exit $?"
[ "$(grep -c '^  because ' "$work/out")" = 2 ] && grep -q 'correlation of the estimates' "$work/out" && grep -q 'rmse_s' "$work/out" &&
    ! grep -q 'prints the rest' "$work/out" || fail "details: $(cat "$work/out")"
# Two held-out moves can be judged; without one the output says so.
for held in 0 2; do
    head -n $((held + 1)) "$work/joint.csv" >"$work/few.csv"
    "$TANDEM" identify --model travel_time --columns displacement_m=- --validate "$work/few.csv" "$work/joint.csv" >"$work/out" || fail "few: exit $?"
    said=$(grep -c "note: no held-out move .*\[too_few\]$" "$work/out") || :
    [ "$said" = "$((held == 0))" ] && ! grep -q nan "$work/out" || fail "few: $(cat "$work/out")"
done
refuse 1 "[inconsistent] none_yet.csv:1: " --model travel_time --columns rotation_rad=rotation_rad "$work/joint.csv" "$work/none_yet.csv"
# Tandem's own entries: moves that did not end well are left out.
{
    echo op,real_lap_s,virtual_lap_s,rotation_rad,displacement_m,real_status,virtual_status
    for turn in 1 2 3 4 5 6 7; do echo "go,$turn.1,$turn.2,$turn,0,done,done"; done
    echo go,9,9,1,0,error,done
    echo lidar,9,9,0,0,done,done
    echo go,,9,1,0,,done
} >"$work/entries.csv"
"$TANDEM" identify --model travel_time --json "$work/entries.csv" | grep -q '"n":7,.*"skipped":3' || fail "a row without a move is not left out"
# Dynamics of a vessel: a recording with known truth, read by its column names.
vessel="--model usv3 --columns tau_u=Tu,tau_v=Tv,tau_r=Tr,u=u_meas,v=v_meas,r=r_meas"
W=$SOURCE/tests/golden/usv_W.csv
refuse 2 "[unknown_value] 'best'" $vessel --method best "$W"
refuse 1 "[missing_column] 'u_mps'" --model usv3 "$W"
refuse 2 '[not_applicable] travel_time' --model travel_time --biases "$log"
refuse 2 '[not_applicable] --delay-max' --model travel_time --delay-max 0 "$log"
body='t,tau_u,tau_v,tau_r,u,v,r'
printf '%s\n' "$body" >"$work/head.csv"
refuse 1 '[too_few] 0' --model usv3 "$work/head.csv"
printf '%s\n0,1,0,0,0,0,0\n' "$body" >"$work/one.csv"
refuse 1 '[too_few] 1' --model usv3 "$work/one.csv"
printf '%s\n0,1,0,0,fast,0,0\n' "$body" >"$work/text.csv"
refuse 1 "[not_a_number] $work/text.csv:2:9: column 'u': 'fast'" --model usv3 "$work/text.csv"
: >"$work/empty.csv"
refuse 1 '[missing_header] empty.csv:1: ' --model usv3 "$work/empty.csv"
awk -F, '!/^#/ { print $1 * 1000 "," $0 }' "$W" | sed '1i ms,t,Tu,Tv,Tr,u_meas,v_meas,r_meas,a,b,c' >"$work/ms.csv"
refuse 1 '[wrong_unit] data: ' $vessel,t=ms "$work/ms.csv"
awk -F, 'BEGIN { OFS = "," } /^#/ { print; next } NR % 9 == 0 { $5 = "1e200" } { print }' "$W" >"$work/huge.csv"
refuse 1 '[out_of_range] u_mps' $vessel "$work/huge.csv"
"$TANDEM" identify $vessel --json "$W" >"$work/vessel.json"
"$TANDEM" identify $vessel --json "$W" | cmp - "$work/vessel.json" || fail "other bytes from the same data"
"$TANDEM" identify $vessel --json --validate "$W" --validate "$W" "$SOURCE/tests/golden/usv_IA.csv" >"$work/other.json"
"$TANDEM" identify $vessel --json --next "$work/plan.csv" --next-for 4 "$W" >"$work/planned.json" || fail "no plan"
"$TANDEM" identify $vessel "$W" >"$work/page"
"$TANDEM" identify $vessel --json --method output_error "$W" >"$work/simulated.json"
awk -F, 'BEGIN { OFS = "," } /^#/ { print; next } { $1 += 1.5; print }' "$W" >"$work/part.csv"
"$TANDEM" identify $vessel --json --method output_error --biases "$W" "$work/part.csv" >"$work/biases.json"
grep -q '^usv3 by output_error: PASS' "$work/page" || fail "page: $(head -3 "$work/page")"
# A joint: torque as a product of columns, no velocity, static friction.
awk 'BEGIN {
    print "t_s,u_v,q_rad"
    for (k = 0; k < 3000; k++) {
        u = 4 * sin(0.013 * k) + 2 * sin(0.031 * k)
        printf "%.3f,%.9f,%.9f\n", 0.01 * k, u, q
        for (i = 0; i < 50; i++) {
            e = exp(-2 * w / 0.01); tanh = (1 - e) / (1 + e)
            w += 0.0002 * (0.5 * u - w - 0.3 * tanh - 0.1) / 0.4
            q += 0.0002 * w
        }
    }
}' >"$work/joint.csv"
"$TANDEM" identify --model joint --columns effort=0.5*u_v,position=q_rad --json "$work/joint.csv" >"$work/joint.json"
refuse 1 "[missing_column] 'velocity'" --model joint --columns effort=u_v "$work/joint.csv"
refuse 1 "[missing_column] 'position'" --model joint_load --columns effort=u_v,velocity=q_rad "$work/joint.csv"
refuse 1 "[missing_column] 'i_a'" --model joint --columns 'effort=2*i_a,position=q_rad' "$work/joint.csv"
refuse 1 "[missing_column] '2*3'" --model joint --columns 'effort=2*3,position=q_rad' "$work/joint.csv"
# Yaw in deg/s, and a recording without motion.
awk -F, 'BEGIN { OFS = "," } /^#/ { print; next } { $7 *= 57.29578; print }' "$W" >"$work/deg.csv"
"$TANDEM" identify $vessel "$work/deg.csv" >"$work/page"
grep -q 'FAIL' "$work/page" && grep -q 'another unit' "$work/page" || fail "deg/s: $(head -5 "$work/page")"
awk 'BEGIN { print "'$body'"; for (k = 0; k < 900; k++) print k / 10 ",5,0,0,0,0,0" }' >"$work/still.csv"
"$TANDEM" identify --model usv3 --json "$work/still.csv" >"$work/still.json"
"$TANDEM" identify --model usv3 "$work/still.csv" >"$work/page"
grep -q 'FAIL' "$work/page" && grep -q '\[no_motion\]' "$work/page" || fail "still: $(head -5 "$work/page")"

# A wrong unit is recognised by its magnitude: the first reason is one clear sentence.
unit() {
    awk -F, 'BEGIN { OFS = "," } /^#/ { print; next } { '"$1"'; print }' "$W" >"$work/unit.csv"
    "$TANDEM" identify $vessel --method weak_iv "$work/unit.csv" >"$work/page"
    grep -q FAIL "$work/page" && sed -n 2p "$work/page" | grep -qF "$2" || fail "$1: $(head -3 "$work/page")"
}
unit '$7 *= 57.29578' 'is it in deg/s'
unit '$5 *= 1000; $6 *= 1000' 'is it in mm/s'
unit '$1 /= 60' 'are the times in minutes'
awk -F, 'BEGIN { OFS = "," } /^#/ { print; next } { $1 *= 10; print }' "$W" >"$work/slow.csv"
"$TANDEM" identify $vessel --method weak_iv "$work/slow.csv" >"$work/page"
! grep -q 'They must be in seconds' "$work/page" || fail "ten times slower is no other unit: $(head -3 "$work/page")"
# The parameters in use: as a list, as the command printed them, and wrong ones.
refuse 2 "[unknown_name] 'd10'" $vessel --reference d10=1 "$W"
refuse 2 "[bad_format] 'd1='" $vessel --reference d1= "$W"
refuse 2 "[file_unreadable] $work/none.json: " $vessel --reference "$work/none.json" "$W"
refuse 2 "[bad_syntax] $W:1: " $vessel --reference "$W" "$W"
refuse 2 "[unknown_value] 'wrong'" $vessel --fail-if fail,wrong "$W"
refuse 2 '[needs_key] --reference' $vessel --fail-if contradicts "$W"
refuse 2 "[unknown_name] 'd1'" --model travel_time --reference d1=1 "$log"
refuse 2 "[unknown_name] 'delay_s'" --model travel_time --reference delay_s=1 "$log"
refuse 2 "[bad_path] '$work/a.b/x.svg'" $vessel --plot "$work/a.b/x.png" "$W"
"$TANDEM" identify $vessel --json --reference d1=125.9712,d3=60,delay_s=0 "$W" >"$work/list.json"
"$TANDEM" identify $vessel --json --reference "$work/vessel.json" "$W" >"$work/same.json"
"$TANDEM" identify $vessel --reference d1=125.9712,d3=60,delay_s=2 "$W" >"$work/page"
grep -q 'contradicts yes' "$work/page" && grep -q 'delay_contradicted yes' "$work/page" || fail "in use: $(grep 'in use' "$work/page")"
grep -q 'contradicts the parameters in use: sway_mass_kg\|contradicts the parameters in use: .* not ' "$work/page" || fail "no reason: $(sed -n 1,9p "$work/page")"
grep -q 'use the values of this fit for usv3' "$work/page" || fail "no advice: $(sed -n 1,12p "$work/page")"
# exits WANTED ARGUMENT...: checks the exit status, and that there is a result all the same.
exits() {
    local wanted=$1 code=0
    shift
    "$TANDEM" identify $vessel "$@" "$W" >"$work/page" 2>"$work/err" || code=$?
    [ "$code" -eq "$wanted" ] && [ -s "$work/page" ] || fail "$*: exit $code, not $wanted: $(cat "$work/err")"
}
exits 3 --fail-if contradicts --reference d1=125.9712,d3=60
exits 0 --fail-if contradicts --reference "$work/vessel.json"
exits 0 --fail-if marginal,fail --reference d1=125.9712,d3=60
exits 3 --fail-if marginal --method ols_central
# The same for moves: the printed parameters hold for them, and not for a robot half as fast.
awk -F, 'BEGIN { print "lap_s,rotation_rad,displacement_m"; for (k = 0; k < 48; k++) {
    r = k % 3 == 1 ? 0 : 0.3 + k % 5 / 2; d = k % 3 == 0 ? 0 : 0.2 + k % 7 / 5
    printf "%.4f,%s,%s\n", 0.06 + (r > 0 ? 0.12 + r / 1.2 : 0) + (d > 0 ? 0.16 + d / 0.2 : 0) + (k * 37 % 11 - 5) / 500, r, d } }' >"$work/moves.csv"
awk -F, 'BEGIN { OFS = "," } NR > 1 { $1 *= 2 } { print }' "$work/moves.csv" >"$work/half.csv"
moves="--model travel_time"
"$TANDEM" identify $moves --json "$work/moves.csv" >"$work/moves.json"
"$TANDEM" identify $moves --fail-if contradicts --reference "$work/moves.json" "$work/moves.csv" >"$work/page" || fail "its own values do not hold"
grep -q 'contradicts no' "$work/page" || fail "in use: $(cat "$work/page")"
code=0
"$TANDEM" identify $moves --fail-if contradicts --reference "$work/moves.json" "$work/half.csv" >"$work/page" || code=$?
[ "$code" -eq 3 ] && grep -q 'contradicts the parameters in use: .*linear_speed_mps' "$work/page" && grep -q 'use the values of this fit for travel_time' "$work/page" ||
    fail "half as fast: exit $code, $(cat "$work/page")"
"$TANDEM" identify $moves --json --reference w=1.2,v=0.1 "$work/moves.csv" | grep -q '"contradicted":\["linear_speed_mps"\].*"contradicts":true' || fail "no comparison in JSON"
"$TANDEM" identify $vessel --details --method pem "$W" >"$work/page"
grep -q '^  force_time_s [0-9]' "$work/page" || fail "no forces: $(sed -n 1,3p "$work/page")"
# The same recording as a journal, in one file and in two that overlap, gives the same.
telemetry() {
    awk -F, -v side="$1" '/^#/ { next } { k++
        printf "{\"tst\":\"2026-11-20T10:%02d:%06.3fZ\",\"topic\":\"lab/r1/%s/telemetry\",\"qos\":0,\"retain\":0,\"payloadlen\":9,\"payload\":{\"t\":%s,\"seq\":%d,\"boot\":\"a\",\"nu\":[%s,%s,%s],\"tau\":[%s,%s,%s]}}\n",
            k / 600, (k / 10) % 60, side, $1, k, $5, $6, $7, $2, $3, $4 }' "$W"
}
telemetry real >"$work/log.jsonl"
sed -n 'p;n' "$work/log.jsonl" >"$work/odd.jsonl"
sed -n 'n;p' "$work/log.jsonl" >"$work/even.jsonl"
"$TANDEM" identify --model usv3 --json "$work/log.jsonl" >"$work/journal.json" || fail "journal: exit $?"
"$TANDEM" identify --model usv3 --json --journal --pair r1 --side real "$work/even.jsonl" "$work/odd.jsonl" >"$work/merged.json"
"$TANDEM" identify --model usv3 --json --journal - <"$work/log.jsonl" >"$work/piped.json"
"$TANDEM" identify --model usv3 --details "$work/log.jsonl" >"$work/page"
grep -q '^  pair r1, lines 1500,.* samples 1500' "$work/page" && grep -q '^  stamped: .*robot 1500' "$work/page" ||
    fail "journal: $(grep -A3 journal "$work/page")"
"$TANDEM" identify --model first_order --json --columns command=tau[2],velocity=nu[2] "$work/log.jsonl" >"$work/yaw.json"
"$TANDEM" identify --model first_order --json --columns command=-tau[2],velocity=-nu[2] "$work/log.jsonl" >"$work/turned.json"
refuse 1 "[no_data] r2" --model usv3 --pair r2 "$work/log.jsonl"
refuse 1 '[no_data] virtual' --model usv3 --side virtual "$work/log.jsonl"
refuse 2 '[conflicting_keys] ' --model usv3 "$work/log.jsonl" "$W"
refuse 2 '[unknown_name] u=u_meas' $vessel "$work/log.jsonl"
{ telemetry real; telemetry real | sed s/r1/r2/; } >"$work/two.jsonl"
refuse 2 "[ambiguous_pair] 'r1' and 'r2'" --model usv3 "$work/two.jsonl"
sed 's/,"tau":[^}]*//' "$work/log.jsonl" >"$work/no_tau.jsonl"
refuse 1 "[missing_column] tau[0]" --model usv3 "$work/no_tau.jsonl"
# A picture: any name is plain text; gnuplot may be missing, and then no file is left behind.
if command -v gnuplot >/dev/null; then
    odd="$work/it's \"odd\" \$(touch hit) \`touch hit\`; a.csv"
    cp "$W" "$odd"
    (cd "$work" && "$TANDEM" identify $vessel --method weak_iv --plot "$work/a b'.svg" --validate "$odd" "$odd" >/dev/null) || fail "plot: exit $?"
    grep -q '</svg>' "$work/a b'.svg" || fail 'no picture'
    grep -qF 'touch hit' "$work/a b'.svg" || fail 'no title'
    [ ! -e "$work/hit" ] || fail 'a name was run'
    refuse 1 '[file_unwritable] No such file' $vessel --method weak --plot "$work/none/a.svg" "$W"
fi
mkdir "$work/bin"
code=0
(PATH="$work/bin"; export PATH; exec "$TANDEM" identify $vessel --method weak --plot "$work/no.svg" "$W") >"$work/out" 2>"$work/err" || code=$?
[ "$code" = 1 ] && grep -q 'gnuplot: not found: a picture needs it (Debian package gnuplot-nox)' "$work/err" || fail "no gnuplot: $code $(cat "$work/err")"
[ ! -e "$work/no.svg" ] || fail 'a picture without gnuplot'

"$TANDEM" identify --help >"$work/help" || fail "help: exit $?"
grep -q '^  tandem identify \[OPTION\]... FILE...' "$work/help" || fail "no synopsis"
grep -q '^model travel_time' "$work/help" || fail "no model in the help"
"$TANDEM" identify --help odometry >"$work/help" || fail "help of a model: exit $?"
[ "$(grep -c '^model ' "$work/help")" = 1 ] && grep -q -- --heading-m "$work/help" || fail "not the help of odometry"
! grep -q -- --ridge "$work/help" || fail "an option of other models in the help of odometry"
"$TANDEM" help identify odometry | cmp - "$work/help" || fail "two ways to the help of a model differ"
code=0
"$TANDEM" identify --help odometri >/dev/null 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q 'did you mean odometry' "$work/err" || fail "help of an unknown model: $code"
if command -v python3 >/dev/null; then
    # Ctrl-C on a terminal, while a progress bar is drawn.
    awk 'BEGIN { print "'$body'"; for (k = 0; k < 200000; k++) print k / 10 "," sin(k / 30) ",0,0," cos(k / 30) ",0,0" }' >"$work/long.csv"
    python3 - "$TANDEM" "$work/long.csv" <<'PY' || fail 'Ctrl-C'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "identify", "--model", "usv3", sys.argv[2]])
out = b""
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    if not out:
        os.write(fd, b"\x03")
    out += data
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert out.startswith(b"\rreading [") and b": cancelled" in out and code == 1, (code, out[:300])
PY
    python3 - "$work" "$SOURCE/docs/model/identification.md" <<'PY'
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
joint = json.load(open(f"{sys.argv[1]}/joint.json"))
for name, want in zip(("inertia", "viscous", "coulomb", "offset"), (0.4, 1.0, 0.3, 0.1)):
    assert abs(joint["values"][name] - want) < 0.03 * want, joint["values"]
assert joint["provenance"]["options"]["turn_over_velocity"] == 0.01 and joint["data"]["derived_window"]["velocity"] > 4
assert abs(joint["derived"]["time_constant_s"]["value"] - 0.4) < 0.01
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
same, one, merged, piped, inuse = (json.load(open(f"{sys.argv[1]}/{k}.json")) for k in ("same", "journal", "merged", "piped", "list"))
for read in (one, merged, piped):
    for name, value in vessel["values"].items():
        assert abs(read["values"][name] - value) <= 1e-9 * abs(value), (name, read["values"][name], value)
    assert read["data"]["journal"]["samples"] == 1500 and read["data"]["journal"]["lost"] == 0
assert vessel["data"]["journal"] is None and len(merged["provenance"]["files"]) == 2
assert merged["provenance"]["files"][0]["bytes"] + merged["provenance"]["files"][1]["bytes"] == one["provenance"]["files"][0]["bytes"]
assert vessel["comparison"] is None and vessel["unphysical"] == [] and vessel["data"]["missing"] == 0
assert all(abs(z) < 1e-9 for z in same["comparison"]["z"].values()) and all(e < 1e-9 for e in same["comparison"]["effect_rmse"].values())
z = inuse["comparison"]["z"]
assert abs(z["surge_mass_kg"]) < 3 < z["yaw_inertia_kgm2"] and z["sway_mass_kg"] is None
assert inuse["comparison"]["effect_rmse"]["r_radps"] > 0.005
yaw, turned = (json.load(open(f"{sys.argv[1]}/{k}.json")) for k in ("yaw", "turned"))
assert yaw["values"]["command_per_velocity"] > 90
for name, value in yaw["values"].items():
    assert abs(turned["values"][name] - value) <= 1e-6 * abs(value), name
# Every member is in the documentation, and the documentation names no other.
import re
def members(x):
    if isinstance(x, dict):
        for key, value in x.items():
            yield key
            yield from members(value)
    elif isinstance(x, list):
        for value in x:
            yield from members(value)
page = open(sys.argv[2]).read()
section = page[page.index("## FIT"):]
block = "\n".join(line for line in section.split("\n") if line.startswith("    "))
known = set(re.findall(r'["`]([a-z_0-9]+)["`]', page))
names = set(vessel["parameters"]) | set(vessel["data"]["channels"]) | set(vessel["derived"])
held, planned = (json.load(open(f"{sys.argv[1]}/{k}.json")) for k in ("other", "planned"))
there = set().union(*(members(x) for x in (one, inuse, held, planned))) - names - set(planned["next"]["limits"])
assert there <= known, there - known
assert set(re.findall(r'"([a-z_0-9]+)"', block)) <= there | {"name", "value", "se", "ci95"}, set(re.findall(r'"([a-z_0-9]+)"', block)) - there
sensitivity = vessel["filter_sensitivity"]
assert sensitivity["moved"] == [] and sensitivity["half"]["window_s"] * 4 == sensitivity["double"]["window_s"]
options = vessel["provenance"]["options"]
assert options["method"] == "auto" and options["biases"] is False and options["half_width_s"] > 0
low, high = vessel["delay_s"]["ci95"]
assert low < 0 < high
assert vessel["fit"]["one_step"]["u_mps"]["n"] > 1490 and vessel["fit"]["motion_s"] > 1
still = json.load(open(f"{sys.argv[1]}/still.json"))
assert still["verdict"] == "FAIL" and set(still["values"].values()) == {None} and still["identifiable"] == []
assert other["verdict"] != "PASS" and "yaw_quadratic_kgm2" not in other["identifiable"]
assert other["held_out"]["simulated"]["u_mps"]["n"] == 3000
PY
fi
