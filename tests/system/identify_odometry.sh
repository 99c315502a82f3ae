# needs: virtual time
# tandem identify --model odometry: input, refusals and output.
set -eu
. "$SOURCE/tests/support/identify.sh"

# Wheels under a camera: curves to both sides and a straight line, with poses as numbers between -pi and pi.
awk 'BEGIN { pi = 3.141592653589793; print "t_s,cam_x_m,cam_y_m,cam_theta_rad,wheel_left_rad,wheel_right_rad"
    rr = 0.08; rl = 0.079; b = 0.4; dt = 0.05; h = 0.3
    for (k = 0; k < 1200; k++) {
        c = h + 0.2; while (c > pi) c -= 2 * pi; while (c < -pi) c += 2 * pi
        printf "%.3f,%.5f,%.5f,%.5f,%.6f,%.6f\n", k * dt, x + 0.1 * cos(h), y + 0.1 * sin(h), c, l, r
        w = k < 500 ? 0.6 : k < 700 ? 0 : -0.7; v = k < 700 ? 0.3 : 0.2
        l += dt * (v - b * w / 2) / rl; r += dt * (v + b * w / 2) / rr
        s = w ? 2 * sin(w * dt / 2) / w : dt; x += v * s * cos(h + w * dt / 2); y += v * s * sin(h + w * dt / 2); h += w * dt
    } }' >"$work/wheels.csv"
sed 's/cam_x_m/px/; s/wheel_left_rad/enc/' "$work/wheels.csv" >"$work/named.csv"
refuse 1 "[missing_column] 'wheel_left_rad'" --model odometry "$work/named.csv"
refuse 2 '[not_applicable] odometry' --model odometry --method ols "$work/wheels.csv"
refuse 2 '[not_applicable] usv3' --model usv3 --heading-m 0.5 "$work/wheels.csv"
refuse 2 'heading-m' --model odometry --heading-m -1 "$work/wheels.csv"
refuse 2 "[unknown_name] 'tau_u'" --model odometry --columns tau_u=a "$work/wheels.csv"
head -4 "$work/wheels.csv" >"$work/few.csv"
refuse 1 '[too_few] 8' --model odometry "$work/few.csv"
awk -F, 'BEGIN { OFS = "," } NR > 1 { $4 *= 57.29578 } { print }' "$work/wheels.csv" >"$work/degrees.csv"
refuse 1 '[wrong_unit] ' --model odometry "$work/degrees.csv"
"$TANDEM" identify --model odometry --json --columns x=px,wheel_left=enc --validate "$work/named.csv" "$work/named.csv" >"$work/wheels.json"
"$TANDEM" identify --model odometry --json --columns x=px,wheel_left=enc --validate "$work/named.csv" "$work/named.csv" | cmp - "$work/wheels.json" ||
    fail "other bytes from the same wheels"
"$TANDEM" identify --model odometry --json --heading-m 0.5 "$work/wheels.csv" | grep -q '"heading_m":0.5' || fail "no weight in the provenance"
"$TANDEM" identify --model odometry "$work/wheels.csv" >"$work/page"
grep -q '^odometry of 1200 poses in 1 run: PASS' "$work/page" || fail "wheels: $(head -5 "$work/page")"
# The parameters in use: as the command printed them, a wider track, and an unknown name.
refuse 2 "[unknown_name] 'delay_s'" --model odometry --reference delay_s=0 "$work/wheels.csv"
"$TANDEM" identify --model odometry --fail-if contradicts --reference "$work/wheels.json" "$work/wheels.csv" >"$work/page" || fail "its own values do not hold: $(cat "$work/page")"
code=0
"$TANDEM" identify --model odometry --fail-if contradicts --reference b=0.41,radius_left_m=0.079 "$work/wheels.csv" >"$work/page" || code=$?
[ "$code" -eq 3 ] && grep -q 'contradicts the parameters in use: track_m 0.41, not' "$work/page" || fail "another track: exit $code, $(cat "$work/page")"
# Other units: the output names their effect on wheels and speeds, unless the user declares the units.
doubt() { # TEXT FILE
    "$TANDEM" identify --model odometry "$2" >"$work/page"
    grep -qE ': (MARGINAL|FAIL)$' "$work/page" && grep -qF "$1" "$work/page" || fail "no '$1': $(head -5 "$work/page")"
}
awk -F, 'BEGIN { OFS = "," } NR > 1 { $5 /= 6.2831853; $6 /= 6.2831853 } { print }' "$work/wheels.csv" >"$work/revolutions.csv"
doubt 'a factor of 2 pi' "$work/revolutions.csv"
"$TANDEM" identify --model odometry --plausible off "$work/revolutions.csv" | grep -q 'run: PASS' || fail "revolutions suspected"
awk -F, 'BEGIN { OFS = "," } NR > 1 { $5 *= 57.29578; $6 *= 57.29578 } { print }' "$work/wheels.csv" >"$work/wheels_deg.csv"
refuse 1 '[too_few] 1199 ' --model odometry "$work/wheels_deg.csv"
refuse 1 'radians' --model odometry "$work/wheels_deg.csv" # the unit that it suspects
awk -F, 'BEGIN { OFS = "," } NR > 1 { $1 *= 1000 } { print }' "$work/wheels.csv" >"$work/ms.csv"
doubt 'looks like milliseconds' "$work/ms.csv"
sed -n '1p; 502,701p' "$work/wheels.csv" | "$TANDEM" identify --model odometry - >"$work/page"
grep -q 'FAIL' "$work/page" && grep -q 'does not determine track_m' "$work/page" && grep -q 'drive a closed circle in both directions' "$work/page" ||
    fail "straight: $(head -8 "$work/page")"
if command -v python3 >/dev/null; then
    python3 - "$work/wheels.json" <<'PY'
import json, sys
wheels = json.load(open(sys.argv[1]))
for name, want in (("radius_right_m", 0.08), ("radius_left_m", 0.079), ("track_m", 0.4), ("sensor_x_m", 0.1), ("sensor_alpha_rad", 0.2)):
    assert abs(wheels["values"][name] - want) < 1e-4 and name in wheels["identifiable"], name
assert wheels["verdict"] == "PASS" and wheels["held_out"]["position_rmse_m"] < 1e-4
assert wheels["provenance"]["held_out"][0]["name"] == "named.csv" and len(wheels["correlation"]) == 7 and abs(wheels["values"]["sensor_delay_s"]) < 1e-3
PY
fi
