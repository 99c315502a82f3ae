# needs: full
# Recordings of other programs: --columns or a file of columns declares their columns, units and times; the estimates
# equal those of the recording in SI units; errors are refused with their place.
set -eu
. "$SOURCE/tests/support/identify.sh"
data=$SOURCE/examples/data

# rosbag FILE: writes the vessel as a bag's export has it: stamps in nanoseconds since 1970, yaw rate in degrees, speeds
# in other lengths; and the same with stamps in other units.
cat >"$work/rosbag.py" <<'EOF'
import csv, datetime, math, sys
kind = sys.argv[1]
rows = list(csv.DictReader(sys.stdin))
begin = 1795149880 * 10**9 + 123456000
stamp = {"ns": str, "us": lambda ns: str(ns // 1000), "ms": lambda ns: f"{ns // 10**6}.{ns % 10**6:06}",
         "iso8601": lambda ns: datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
         + f".{ns % 10**9:09}Z"}[kind]
print("%time,field.force.x,field.force.y,field.torque.z,/odom:twist.x,twist.y,twist.yaw")
for r in rows:
    ns = begin + round(float(r["t_s"]) * 1e9)
    print(",".join([stamp(ns), r["tau_u_n"], r["tau_v_n"], r["tau_r_nm"], repr(float(r["u_mps"]) * 1e3),
                    repr(float(r["v_mps"]) * 100), repr(math.degrees(float(r["r_radps"])))]))
EOF
# Two fits in JSON are equal up to the last digits.
cat >"$work/same.py" <<'EOF'
import json, sys
one, other = (json.load(open(name)) for name in sys.argv[1:3])
assert one["verdict"] == other["verdict"], (one["verdict"], other["verdict"])
assert one["values"].keys() == other["values"].keys() and len(one["values"]) > 1
for name, value in one["values"].items():
    assert abs(other["values"][name] - value) <= 1e-9 * abs(value), (name, value, other["values"][name])
EOF

"$TANDEM" identify --model usv3 --json "$data/vessel1.csv" >"$work/si.json"
for unit in ns us ms iso8601; do
    python3 "$work/rosbag.py" $unit <"$data/vessel1.csv" >"$work/bag.csv"
    cat >"$work/bag.columns" <<EOF
# the boat's bag
t = %time:$unit
tau_u=field.force.x, tau_v = field.force.y
tau_r=field.torque.z

u = /odom:twist.x:mm
v = twist.y:cm
r = twist.yaw:deg
EOF
    "$TANDEM" identify --model usv3 --json --columns "@$work/bag.columns" "$work/bag.csv" >"$work/bag.json" || fail "$unit: exit $?"
    python3 "$work/same.py" "$work/si.json" "$work/bag.json" || fail "$unit: another estimate"
done
"$TANDEM" identify --model usv3 --json "$work/bag.csv" --columns \
    't=%time:iso8601,tau_u=field.force.x,tau_v=field.force.y,tau_r=field.torque.z,u=/odom:twist.x:mm,v=twist.y:cm,r=twist.yaw:deg' |
    cmp - "$work/bag.json" || fail 'inline is another way than by file'

# A pose in degrees, wheels in turns.
python3 - "$work" <<'EOF'
import math, sys
work = sys.argv[1]
si, other = open(work + "/wheels.csv", "w"), open(work + "/wheels_deg.csv", "w")
print("t,wheel_left,wheel_right,x,y,theta", file=si)
print("stamp,left,right,x,y,yaw", file=other)
x = y = theta = left = right = 0.0
for k in range(2000):
    t = k * 0.05
    v, w = 0.3 + 0.1 * math.sin(0.3 * t), 0.6 * math.sin(0.17 * t) + 0.2 * math.sin(0.9 * t)
    print(t, left, right, x, y, theta, sep=",", file=si)
    print(round(t * 1000), left / math.tau, right / math.tau, x * 1000, y * 100, math.degrees(theta), sep=",", file=other)
    left, right = left + 0.05 * (v - 0.15 * w) / 0.04, right + 0.05 * (v + 0.15 * w) / 0.04
    theta += 0.05 * w
    x, y = x + 0.05 * v * math.cos(theta - 0.025 * w), y + 0.05 * v * math.sin(theta - 0.025 * w)
EOF
"$TANDEM" identify --model odometry --json "$work/wheels.csv" >"$work/si.json"
"$TANDEM" identify --model odometry --json --columns \
    't=stamp:ms,wheel_left=left:turn,wheel_right=right:turn,x=x:mm,y=y:cm,theta=yaw:deg' "$work/wheels_deg.csv" >"$work/deg.json"
python3 - "$work/si.json" "$work/deg.json" <<'EOF' || fail 'degrees: another estimate'
import json, sys
one, other = (json.load(open(name))["values"] for name in sys.argv[1:3])
assert all(abs(other[name] - value) <= 1e-6 for name, value in one.items()), (one, other)
assert abs(one["radius_left_m"] - 0.04) < 1e-3, one
EOF

# Moves: laps in milliseconds, turns in degrees, for travel times and for a replay.
printf 'ms,turn,drive\n' >"$work/moves.csv"
awk -F, 'NR > 1 { printf "%.4f,%.8f,%.8f\n", $1 * 1000, $2 * 57.29577951308232, $3 * 100 }' "$data/moves.csv" >>"$work/moves.csv"
"$TANDEM" identify --model travel_time --json --columns lap_s=duration_s "$data/moves.csv" >"$work/si.json"
"$TANDEM" identify --model travel_time --json --columns 'lap_s=ms:ms,rotation_rad=turn:deg,displacement_m=drive:cm' \
    "$work/moves.csv" >"$work/ms.json"
python3 "$work/same.py" "$work/si.json" "$work/ms.json" || fail 'moves: another estimate'

printf 'pairs:\n  r1: {}\n' >"$work/lab.yaml"
cat >"$work/table.csv" <<'EOF'
t,rotation_rad,displacement_m,real_lap_s,virtual_lap_s
1795149880,0.5,0,1.25,1
1795149890.5,0,0.2,0.5,0.75
EOF
cat >"$work/elsewhere.csv" <<'EOF'
when,turned,driven,robot,twin
2026-11-20T04:44:40Z,28.64788975654116,0,1250,1000000
2026-11-20T05:44:50.5+01:00,0,20,500,750000
EOF
printf 't=when:iso8601\nrotation_rad=turned:deg\ndisplacement_m=driven:cm\nreal_lap_s=robot:ms\nvirtual_lap_s=twin:us\n' >"$work/table.columns"
"$TANDEM" replay -c "$work/lab.yaml" --json "$work/table.csv" >"$work/table.json"
"$TANDEM" replay -c "$work/lab.yaml" --json --columns "@$work/table.columns" "$work/elsewhere.csv" |
    cmp - "$work/table.json" || fail 'replay: other entries'
grep -q '"t":1795149890.5,.*"verdict":"BEHIND"' "$work/table.json" || fail "replay: $(head -c 600 "$work/table.json")"

# Wrong declarations.
bag="$work/bag.csv"
printf 't=%%time:ns\nw=x\n' >"$work/role.columns"
refuse 2 "[unknown_name] $work/role.columns:2: " --model usv3 --columns "@$work/role.columns" "$bag"
printf 't=%%time:ns\n\n# u\nu\n' >"$work/word.columns"
refuse 2 "[bad_format] $work/word.columns:4: " --model usv3 --columns "@$work/word.columns" "$bag"
printf 't=a\nt=b\n' >"$work/twice.columns"
refuse 2 "[duplicate_name] $work/twice.columns:2: " --model usv3 --columns "@$work/twice.columns" "$bag"
refuse 1 "[file_unreadable] $work/none.columns: " --model usv3 --columns "@$work/none.columns" "$bag"
refuse 1 "[unknown_unit] bag.csv:1: '%time:deg': " --model usv3 --columns t=%time:deg "$bag"
refuse 1 "[missing_column] '%time:minutes'" --model usv3 --columns t=%time:minutes "$bag"
refuse 1 "[unknown_unit] 'twist.yaw:mm': " --model usv3 --columns \
    't=%time:iso8601,tau_u=field.force.x,tau_v=field.force.y,tau_r=field.torque.z,u=twist.y,v=twist.y,r=twist.yaw:mm' "$bag"
refuse 1 "[unknown_unit] 'field.force.x:mm': " --model usv3 --columns \
    't=%time:iso8601,tau_u=field.force.x:mm,tau_v=field.force.y,tau_r=field.torque.z,u=twist.y,v=twist.y,r=twist.yaw' "$bag"
printf 'when,tau_u_n,tau_v_n,tau_r_nm,u_mps,v_mps,r_radps\n2026-11-20T04:44:40Z,0,0,0,0,0,0\nyesterday,0,0,0,0,0,0\n' >"$work/day.csv"
refuse 1 "[time_expected] day.csv:3:1: column 'when': " --model usv3 --columns t=when:iso8601 "$work/day.csv"
refuse 1 "[not_applicable] '2*when:iso8601'" --model usv3 --columns 't=2*when:iso8601' "$work/day.csv"
if "$TANDEM" replay -c "$work/lab.yaml" --columns lap=robot "$work/elsewhere.csv" 2>"$work/err"; then fail 'replay: a role that there is none'; fi
has_fault_code '[unknown_name' "$work/err" replay && grep -q "'lap'" "$work/err" || fail "replay: $(cat "$work/err")"
if "$TANDEM" replay -c "$work/lab.yaml" --columns real_lap_s=robot:iso8601,rotation_rad=turned "$work/elsewhere.csv" 2>"$work/err"; then fail 'a lap at noon'; fi
has_fault_code '[unknown_unit' "$work/err" replay && grep -q "elsewhere.csv:1: 'robot:iso8601': " "$work/err" || fail "replay: $(cat "$work/err")"
