# tandem identify --model travel_time on journals: a file, a directory, one pair of several, stamps of the robots and laps.
set -eu
fail() { echo "identify_journal: $*" >&2; exit 1; }
command -v python3 >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# 60 moves of two pairs. r1 turns at 1.25 rad/s and drives at 0.4 m/s after 0.1 s, and stamps its moves; the network adds
# 0.3 s. r2 is twice as slow and has no stamps. One move of each does not end well, and each pair looks around once.
python3 - "$work" <<'PY'
import datetime, json, random, sys
draw, lines = random.Random(4), []
def line(t, topic, payload):
    tst = datetime.datetime.fromtimestamp(1.8e9 + t, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    lines.append((t, json.dumps({"tst": tst, "topic": "tandem/v1/" + topic, "qos": 1, "retain": 0, "payload": payload})))
for n in range(60):
    turn, way = [(1.5 * draw.random() + 0.2, 0), (0, draw.random() + 0.1), (-draw.random() - 0.2, draw.random() + 0.1)][n % 3]
    for pair, slow in (("r1", 1), ("r2", 2)):
        t, ident = 20.0 * n + slow, f"{pair}-{n}"
        move = slow * (0.1 + abs(turn) / 1.25 + way / 0.4) + draw.gauss(0, 0.002)
        line(t, f"{pair}/command", {"id": ident, "op": "go", "rotation_rad": turn, "displacement_m": way, "t": t})
        stamps = {"t_start": t + 5, "t": t + 5 + move} if pair == "r1" else {}
        for side in ("real", "virtual"):
            line(t + move + 0.3, f"{pair}/{side}/reply", {"id": ident, "status": "blocked" if n == 7 else "done", **stamps})
    if n == 9:
        line(20.0 * n + 15, "r1/command", {"id": "look", "op": "lidar"})
        line(20.0 * n + 16, "r1/real/reply", {"id": "look", "status": "data"})
lines = [text + "\n" for _, text in sorted(lines)]
open(sys.argv[1] + "/day.jsonl", "w").writelines(lines)
PY
mkdir "$work/journal"
head -n 100 "$work/day.jsonl" >"$work/journal/journal-20270115T080000.000000Z.jsonl"
tail -n +101 "$work/day.jsonl" >"$work/journal/journal-20270115T090000.000000Z.jsonl"

fit() { # NAME ARGUMENT...
    name=$1
    shift
    "$TANDEM" identify --model travel_time "$@" >"$work/$name.txt" || fail "$*"
    "$TANDEM" identify --model travel_time --json "$@" >"$work/$name.json" || fail "$* --json"
}
fit r1 --pair r1 "$work/day.jsonl"
fit r2 --pair r2 --side virtual "$work/journal"
fit dir --pair r1 "$work/journal/"
grep -q '^times: 59 by the robot.s stamps of start and end, 0 laps$' "$work/r1.txt" || fail "no stamps: $(cat "$work/r1.txt")"
grep -q '^times: 0 by the robot.s stamps of start and end, 59 laps$' "$work/r2.txt" || fail "stamps: $(cat "$work/r2.txt")"
grep -q '^2 more are no moves' "$work/r1.txt" || fail "skipped: $(cat "$work/r1.txt")"
python3 - "$work" <<'PY' || fail "values"
import json, sys
fits = {name: json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("r1", "r2", "dir")}
def near(name, row, truth, tol):
    value = fits[name]["values"][row]
    assert abs(value - truth) < tol, (name, row, value, truth)
for name, slow in (("r1", 1), ("r2", 2)):
    near(name, "angular_speed_radps", 1.25 / slow, 0.02)
    near(name, "linear_speed_mps", 0.4 / slow, 0.01)
    assert fits[name]["n"] == 59, fits[name]["n"]
near("r1", "t0_s", 0.1, 0.01)       # the motion, without the network
near("r2", "t0_s", 0.2 + 0.3, 0.01)  # the lap
assert fits["dir"]["values"] == fits["r1"]["values"]
PY

refuse() { # TEXT ARGUMENT...
    text=$1
    shift
    if "$TANDEM" identify "$@" >"$work/out" 2>"$work/err"; then fail "accepted: $*"; fi
    grep -qF -- "$text" "$work/err" || fail "no '$text': $(cat "$work/err")"
}
refuse "choose one with --pair" --model travel_time "$work/day.jsonl"
refuse "no 'go' of pair r9" --model travel_time --pair r9 "$work/day.jsonl"
refuse "is a journal" --model arm_time "$work/journal"
# A table with a column of pairs.
printf 'pair,rotation_rad,displacement_m,real_lap_s\na,1,0,1.1\nb,1,0,2\na,2,0,2.1\na,0,1,1.1\na,0,2,2.1\na,1,1,2.2\n' >"$work/entries.csv"
"$TANDEM" identify --model travel_time --pair a "$work/entries.csv" >"$work/out" || fail "pairs of a table"
grep -q '^travel times of 5 moves' "$work/out" || fail "pairs of a table: $(cat "$work/out")"
# One move determines little, and no number is called nan.
printf 'rotation_rad,displacement_m,lap_s\n1,0.5,1\n' >"$work/one.csv"
refuse "no column 'pair'" --model travel_time --pair a "$work/one.csv"
"$TANDEM" identify --model travel_time "$work/one.csv" >"$work/out" || fail "one move"
grep -q 'not known' "$work/out" && ! grep -qwi 'nan' "$work/out" || fail "nan: $(cat "$work/out")"
echo "journals are identified"
