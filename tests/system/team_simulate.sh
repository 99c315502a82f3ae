# tandem team simulate: its output for the classes, the same on any number of threads, learning from a recording, what
# if.
set -eu
fail() { echo "team_simulate: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
simulate() { "$TANDEM" team simulate "$@"; }

cat >cell.yaml <<'EOF'
team:
  resources: {IB: {}}
  positions: {IB: {x_m: 1.2, y_m: 0.4}, SPos: {x_m: 0.6, y_m: 0.4}, OB: {x_m: -1, y_m: 0}}
  tasks: {Move: {to: position}, PickPrt: {op: pick}, PlacePrt: {op: place, nominal_s: 1.5, nominal_sd_s: 0.1}}
  sequences:
    cycle: [Lock: IB, Move: IB, PickPrt, Move: SPos, UnLock: IB, Move: OB, PlacePrt]
  robots:
    R1: {pair: r1, sequence: cycle, cycles: 5}
    R2: {pair: r2, sequence: cycle, cycles: 5}
EOF
sed 's/op: pick/&, nominal_s: 2/; s/Move: {to: position/&, nominal_s: 5, nominal_sd_s: 0.2/' cell.yaml >nominal.yaml

# Nominal times are known without chance; the same seed gives the same bytes.
simulate nominal.yaml --seed 5 --runs 500 --threads 1 --json >one
simulate nominal.yaml --seed 5 --runs 500 --threads 7 --json >two
cmp one two || fail "threads show"
simulate nominal.yaml --seed 6 --runs 500 --json >three
! cmp -s one three || fail "the seed does not show"
grep -q '"expected":{"makespan_s":126.5,"end":"finished"}' one || fail "expected: $(cat one)"
grep -q '"finished":500' one || fail "not all finished"
grep -q '"waits":\[{"robot":"R1","for":"R2",' one || fail "who waits"
simulate nominal.yaml --runs 100 --csv tables --plot tables >page
grep -q '^  p95  *[0-9.]*  *[0-9.]*$' page || fail "page: $(cat page)"
grep -q '^  R1  *R2  *[0-9.]*$' page || fail "waits of the page"
[ "$(wc -l <tables/makespans.csv)" = 101 ] || fail "makespans.csv"
# Without a recording nothing is measured, which is counted as 0.
awk -F, 'NR > 1 && ($7 "" != "0" || $8 $9 != "")' tables/activities.csv >measured
[ ! -s measured ] || fail "activities.csv: $(cat measured)"
for table in robots resources waits activities; do [ -s tables/$table.csv ] || fail "$table.csv"; done
if command -v gnuplot >/dev/null; then grep -q '<svg' tables/simulate.svg || fail "no picture"; fi

# The page lists every wait of the document, equal ones too.
sed '/R2: /{p;s/R2/R3/;s/r2/r3/}; s/, nominal_sd_s: 0.[12]//g' nominal.yaml >equal.yaml
simulate equal.yaml --runs 1 --json | grep -o '"for"' >waits || fail "equal waits: $(simulate equal.yaml --runs 1 2>&1)"
simulate equal.yaml --runs 1 | sed -n '/^waits/,/^$/p' | grep '^ .* R[123] ' >lines
[ "$(wc -l <waits)" = "$(wc -l <lines)" ] || fail "waits: $(cat lines)"

# Changed teams: a place for both, or a faster robot.
simulate nominal.yaml --set IB.capacity=2 --runs 1 --json | grep -q '"expected":{"makespan_s":92.5,' || fail "capacity"
simulate nominal.yaml --set R1.cycles=1 --set R2.cycles=1 --set R2.speed=+25% --runs 1 --json |
    grep -q '"expected":{"makespan_s":27.5,' || fail "speed"

# The trace is one run without chance.
simulate nominal.yaml --trace >trace
head -1 trace | grep -q '^{"t":0,"type":"grant","robot":"R1","resource":"IB","fence":1,"waited_s":0}$' || fail "trace: $(head -1 trace)"
tail -1 trace | grep -q '^{"t":126.5,"type":"finish","robot":"R2"}$' || fail "trace: $(tail -1 trace)"

# Learnt from a recording: lap = 0.1 + |rotation| + |distance| / 0.5, and 2.2 s for picking; both robots end at the
# origin.
python3 - <<'EOF'
import datetime, json, random
random.seed(3)
t = 1.0
def line(topic, payload):
    stamp = datetime.datetime.fromtimestamp(1.7e9 + t, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    out.write(json.dumps({"tst": stamp, "topic": "tandem/v1/" + topic, "qos": 1, "retain": 0, "payload": payload}) + "\n")
with open("moves.jsonl", "w") as out:
    for k in range(60):
        for pair in "r1", "r2":
            a = random.uniform(0.3, 3.1) if k % 3 != 1 else 0
            d = random.uniform(0.2, 1.5) if k % 3 != 0 else 0
            go = {"id": f"{pair}{k}", "op": "go", "rotation_rad": a, "displacement_m": d}
            lap = 0.1 + a + d / 0.5
            if k % 6 == 5:
                go, lap = {"id": f"{pair}{k}", "op": "pick"}, 2.2
            line(pair + "/command", go)
            t += lap + random.gauss(0, 0.02)
            for side in "real", "virtual":
                line(f"{pair}/{side}/reply", {"id": f"{pair}{k}", "status": "done"})
            t += 0.5
    for pair in "r1", "r2":
        line(pair + "/real/telemetry", {"t": 0, "nu": [0, 0, 0], "pose": [0, 0, 0]})
EOF
simulate cell.yaml --from moves.jsonl --json >learnt || fail "learning: $(simulate cell.yaml --from moves.jsonl 2>&1)"
python3 - <<'EOF'
import json, math
d = json.load(open("learnt"))
law = {(a["robot"], a["task"], a["arg"]): a for a in d["activities"]}
assert law["R1", "Move", "IB"]["from"] == "fitted" and law["R1", "PickPrt", None]["from"] == "measured", law
assert law["R1", "PlacePrt", None]["from"] == "nominal", law
assert abs(law["R1", "PickPrt", None]["mean_s"] - 2.2) < 0.1 and law["R1", "PickPrt", None]["measured"]["n"] == 10, law
place, at, laps = {"IB": (1.2, 0.4), "SPos": (0.6, 0.4), "OB": (-1, 0)}, (0, 0, 0), []
for name in ["IB", "SPos", "OB"] * 5:
    x, y = place[name]
    way, bearing = math.hypot(x - at[0], y - at[1]), math.atan2(y - at[1], x - at[0])
    laps.append(0.1 + abs(math.remainder(bearing - at[2], 2 * math.pi)) + way / 0.5)
    at = (x, y, bearing)
# First come, first served, R1 on ties: the place is held for two moves and the picking.
parts = {r: [(laps[3 * k] + 2.2 + laps[3 * k + 1], laps[3 * k + 2] + 1.5) for k in range(5)] for r in "12"}
free, ask = 0, {"1": 0, "2": 0}
for _ in range(10):
    r = min((t, r) for r, t in ask.items() if parts[r])[1]
    hold, rest = parts[r].pop(0)
    free = max(ask[r], free) + hold
    ask[r] = free + rest
want, got = max(ask.values()), d["makespan_s"]
assert abs(d["expected"]["makespan_s"] - want) < 1.0, (d["expected"], want)
assert got["p05"]["value"] < want < got["p95"]["value"], (got, want)
assert 0.1 < got["p95"]["value"] - got["p05"]["value"] < 5, got
assert [f["moves"] for f in d["travel_times"]] == [50, 50], d["travel_times"]
EOF
simulate cell.yaml --from - --json <moves.jsonl >again && sed 's/"from":"-"/"from":"moves.jsonl"/' again | cmp -s - learnt || fail "standard input"
simulate cell.yaml --from moves.jsonl --side virtual --runs 10 >page || fail "the virtual side"
grep -q '^  R1  *[A-Z]*  *50 ' page || fail "page of what was learnt: $(cat page)"
grep -q 'R1: no moves' page && fail "moves"

# All errors are reported.
. "$SOURCE/tests/support/fault_code.sh"
says() { # STATUS TEXT ARGUMENT...: TEXT may begin with "[CODE] "
    want=$1; text=$2; shift 2
    got=0; simulate "$@" >out 2>err || got=$?
    [ "$got" = "$want" ] || fail "$*: exit $got: $(cat err)"
    case $text in "["*) has_fault_code "${text%%]*}" err "$*"; text=${text#*] } ;; esac
    grep -qF -- "$text" err || fail "$*: $(cat err)"
}
says 1 '[no_data] R2: ' cell.yaml
[ "$(grep -c '^tandem: R[12]: ' err)" = 8 ] || fail "eight laps are not known: $(cat err)"
says 2 "[unknown_name] 'R7'" nominal.yaml --set R7.speed=+1% --set IB.capacity=0
grep -q 'IB.capacity=0: ' err || fail "only the first: $(cat err)"
says 2 "[unknown_name] IB.speed" nominal.yaml --set IB.speed=+1%
says 2 "R1.speed=5" nominal.yaml --set R1.speed=5
says 2 "R1.at=XY" nominal.yaml --set R1.at=XY
says 2 "exclude each other" nominal.yaml --nominal --from moves.jsonl
says 2 "takes FILE, not also 'cell.yaml'" nominal.yaml cell.yaml
: >empty.jsonl
says 2 "[no_data] empty.jsonl" cell.yaml --from empty.jsonl
sed 's/r1/r8/g; s/r2/r9/g' moves.jsonl >others.jsonl
says 2 "[no_data] others.jsonl" cell.yaml --from others.jsonl
says 2 "nothere.jsonl" cell.yaml --from nothere.jsonl
says 2 "nothere.yaml" nothere.yaml
says 2 "--team is one of team" nominal.yaml --team cell
got=0; "$TANDEM" team simulat x 2>err || got=$?
[ $got = 2 ] && grep -q "did you mean simulate?" err || fail "misspelt: $(cat err)"

# A team that cannot reach its end gives status 1.
sed 's/cycle: .*/cycle: [Move: IB, Repeat]/' nominal.yaml >endless.yaml
got=0; simulate endless.yaml --horizon 60 --runs 3 >out 2>err || got=$?
[ $got = 1 ] && grep -q '3 of 3 runs did not finish' err || fail "endless: exit $got, $(cat err)"
grep -q 'not_finished 3' out && ! grep -q 'makespan' out || fail "endless: $(cat out)"
simulate endless.yaml --horizon 60 --runs 3 --json 2>err | grep -q '"expected":{"makespan_s":null,"end":"horizon"},"finished":0,"not_finished":3,' ||
    fail "endless: $(simulate endless.yaml --horizon 60 --runs 3 --json)"
grep -q 'horizon 3, endless' out || fail "endless: $(cat out)"
echo "tandem team simulate: fine"
