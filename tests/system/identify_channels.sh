# needs: full
# tandem identify --model first_order, first_order_deadband, diffdrive: known robots from tables.
set -eu
fail() { echo "identify_channels: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A wheel of gain 1.6, time constant 0.2 s and dead band 5, 50 ms late, with reversed sign. The command changes every
# 0.7 s. The wheel is recorded as it is and rounded to whole ticks.
awk 'BEGIN {
    print "t_s,power,right,coarse"
    split("20 45 -30 0 60 8 -50 25 -12 40 0 -60 33 -20 55", c, " ")
    for (k = 0; k < 1050; k++) {
        print k / 100 "," c[int(k / 70) + 1] "," (-y) "," int(-y + (y < 0 ? 0.5 : -0.5))
        for (i = 0; i < 10; i++) {
            s = int((k + i / 10 - 5) / 70) + 1
            f = 20 * 0.625 * y
            f = f > 5 ? 5 : f < -5 ? -5 : f
            y += 0.001 * ((k + i / 10 < 5 ? 0 : c[s]) - 0.625 * y - f) / 0.125
        }
    }
}' >"$work/wheel.csv"

# value FILE NAME: a value of a fit in JSON
value() {
    python3 -c 'import json, sys
fit = json.load(open(sys.argv[1]))
print({**fit["values"], "delay_s": fit["delay_s"]["value"]}[sys.argv[2]])' "$1" "$2"
}
# near WHAT GOT WANT TOLERANCE
near() {
    awk -v got="$2" -v want="$3" -v tol="$4" 'BEGIN { d = got - want; exit !(d <= tol && d >= -tol) }' ||
        fail "$1 is $2, not $3"
}

for column in right coarse; do
    "$TANDEM" identify --model first_order_deadband --method output_error --json \
        --columns command=power,velocity=-$column \
        "$work/wheel.csv" >"$work/wheel.json"
    near "a of $column" "$(value "$work/wheel.json" command_per_acceleration)" 0.125 0.002
    near "b of $column" "$(value "$work/wheel.json" command_per_velocity)" 0.625 0.004
    near "dead band of $column" "$(value "$work/wheel.json" dead_band)" 5 0.15
    near "delay of $column" "$(value "$work/wheel.json" delay_s)" 0.05 0.002
done
"$TANDEM" identify --model first_order_deadband --columns command=power,velocity=-right "$work/wheel.csv" >"$work/page"
grep -q '^first_order_deadband by \(output_error\|pem\)' "$work/page" || fail "page: $(head -3 "$work/page")"
grep -q 'time_constant_s  *0\.\(19[89]\|20[0-2]\)' "$work/page" || fail "no time constant: $(cat "$work/page")"
# Without a delay in the model the lag absorbs it.
"$TANDEM" identify --model first_order_deadband --columns command=power,velocity=-right --delay-max 0 --json \
    --method output_error "$work/wheel.csv" >"$work/wheel.json"
[ "$(value "$work/wheel.json" delay_s)" = None ] || fail "a delay where none was to be sought"
near 'lag and delay' "$(value "$work/wheel.json" command_per_acceleration)" 0.16 0.015
# The sign is fixed: no robot turns against its command.
"$TANDEM" identify --model first_order --columns command=power,velocity=right "$work/wheel.csv" >"$work/page"
grep -q 'is negative' "$work/page" || fail "nothing about the sign: $(cat "$work/page")"
grep -q 'FAIL' "$work/page" || fail "a wheel that runs backwards passes: $(head -3 "$work/page")"

# A robot with its centre of mass ahead of the axle, with the usual column names.
awk 'BEGIN {
    print "t_s,v_cmd_mps,w_cmd_radps,v_mps,w_radps"
    srand(7)
    for (k = 0; k < 1200; k++) {
        if (k % 21 == 0) { a = int(8 * rand()) / 10 }
        if (k % 15 == 0) { b = int(40 * rand() - 20) / 10 }
        printf "%.2f,%g,%g,%.9g,%.9g\n", k / 20, a, b, u, w
        for (i = 0; i < 50; i++) {
            du = (a + 0.03 * w * w - 1.05 * u) / 0.25
            dw = (b - 0.15 * u * w - 1.08 * w) / 0.18
            u += 0.001 * du
            w += 0.001 * dw
        }
    }
}' >"$work/drive.csv"
"$TANDEM" identify --model diffdrive --json --validate "$work/drive.csv" "$work/drive.csv" >"$work/drive.json"
for row in forward_inertia_s:0.25 turn_inertia_s:0.18 centrifugal_sm:0.03 forward_drag_ratio:1.05 \
    coupling_spm:0.15 turn_drag_ratio:1.08; do
    near "${row%:*}" "$(value "$work/drive.json" "${row%:*}")" "${row#*:}" 0.003
done
near 'delay of the robot' "$(value "$work/drive.json" delay_s)" 0 0.002

# A pendulum with noisy velocity, fitted as a free joint: the optional position column is read, and shows the fault.
awk 'BEGIN {
    srand(3)
    print "t_s,effort,velocity,angle"
    w = q = 0
    for (k = 0; k < 2000; k++) {
        e = 1.5 * sin(k * 0.013) + (k % 700 < 350 ? 0.8 : -0.8) + 0.7 * sin(k * 0.11)
        print k / 100 "," e "," w + 0.04 * (rand() + rand() - 1) "," q
        for (i = 0; i < 20; i++) {
            dry = 0.2 * (w > 0.01 ? 1 : w < -0.01 ? -1 : w / 0.01)
            w += 0.0005 * (e - 0.3 * w - 2 * sin(q) - dry) / 0.1
            q += 0.0005 * w
        }
    }
}' >"$work/pendulum.csv"
"$TANDEM" identify --model joint --columns position=angle "$work/pendulum.csv" >"$work/page"
grep -q 'advice: it depends on the position' "$work/page" || fail "nothing about the load: $(head -12 "$work/page")"
"$TANDEM" identify --model joint --json "$work/pendulum.csv" >"$work/free.json"
grep -q 'depends on the position' "$work/free.json" && fail "a position that nobody named: $(cat "$work/free.json")"
"$TANDEM" identify --model joint_load --columns position=angle --json "$work/pendulum.csv" >"$work/arm.json"
for row in inertia:0.1 viscous:0.3 coulomb:0.2 load:2; do
    near "${row%:*} of the pendulum" "$(value "$work/arm.json" "${row%:*}")" "${row#*:}" 0.01
done
