# tandem identify --model arm_kinematics and arm_friction: input, refusals, output, and wrong columns and units.
set -eu
. "$SOURCE/tests/support/identify.sh"
data=$SOURCE/examples/data

# say VERDICT TEXT ARGUMENT...
say() {
    verdict=$1 text=$2
    shift 2
    "$TANDEM" identify "$@" >"$work/page" || fail "exit $?: $*"
    head -1 "$work/page" | grep -q ": $verdict\$" || fail "not $verdict: $* $(head -3 "$work/page")"
    grep -qF -- "$text" "$work/page" || fail "no '$text' from '$*': $(head -5 "$work/page")"
}

# make.py writes the same bytes each time.
python3 "$data/make.py" "$work" && for f in arm_poses arm_poses2 arm_joints; do
    cmp "$work/$f.csv" "$data/$f.csv" || fail "$f is not what make.py makes"
done

refuse 2 "[unknown_name] 'kuka'" --model arm_kinematics --arm kuka "$data/arm_poses.csv"
refuse 2 '[not_applicable] odometry' --model odometry --arm ur5 "$data/arm_poses.csv"
refuse 2 "[unknown_name] 'a'" --model arm_friction --reference a=1 "$data/arm_joints.csv"
refuse 1 "[missing_column] 'q1_rad'" --model arm_kinematics "$data/moves.csv"
refuse 1 "[missing_column] 'qd1_radps'" --model arm_friction "$data/arm_poses.csv" --columns t=q1_rad
head -6 "$data/arm_poses.csv" >"$work/few.csv"
refuse 1 '[too_few] 5 ' --model arm_kinematics "$work/few.csv"
head -40 "$data/arm_joints.csv" >"$work/few.csv"
refuse 1 '[too_few] 2 s' --model arm_friction "$work/few.csv"
refuse 1 'few.csv' --model arm_friction --validate "$work/few.csv" "$data/arm_joints.csv"

say PASS 'held_out' --model arm_kinematics --validate "$data/arm_poses2.csv" "$data/arm_poses.csv"
scale() { awk -F, -v OFS=, "NR > 1 { $1 } { print }" "$2" >"$work/bent.csv"; }
scale '$7 *= 1000; $8 *= 1000; $9 *= 1000' "$data/arm_poses.csv"
say FAIL 'positions in millimetres' --model arm_kinematics "$work/bent.csv"
scale 'for (k = 1; k <= 6; k++) $k *= 57.29578' "$data/arm_poses.csv"
say FAIL 'joint angles in degrees' --model arm_kinematics "$work/bent.csv"
say FAIL 'q2 and q3 exchanged' --model arm_kinematics --columns q2=q3_rad,q3=q2_rad "$data/arm_poses.csv"
say FAIL 'a ur5' --model arm_kinematics --arm ur5e "$data/arm_poses.csv"
"$TANDEM" identify --model arm_kinematics --json --validate "$data/arm_poses2.csv" "$data/arm_poses.csv" >"$work/links.json"
"$TANDEM" identify --model arm_kinematics --json --validate "$data/arm_poses2.csv" "$data/arm_poses.csv" | cmp - "$work/links.json" || fail 'other bytes'
"$TANDEM" identify --model arm_kinematics --reference "$work/links.json" --fail-if contradicts "$data/arm_poses2.csv" >"$work/page" || fail "another arm: $(cat "$work/page")"
code=0
"$TANDEM" identify --model arm_kinematics --reference link3_rx_rad=0.001 --fail-if contradicts "$data/arm_poses2.csv" >"$work/page" || code=$?
[ "$code" = 3 ] || fail "a link that is another: exit $code"

say PASS 'joint 6: PASS' --model arm_friction "$data/arm_joints.csv"
say FAIL 'is due to the motion of joint' --model arm_friction --columns i2=i3_a,i3=i2_a "$data/arm_joints.csv"
scale 'for (k = 2; k <= 19; k += 3) $k *= 57.29578' "$data/arm_joints.csv"
say FAIL 'angles in degrees' --model arm_friction "$work/bent.csv"
scale '$1 *= 1000' "$data/arm_joints.csv"
refuse 1 '[wrong_unit] ' --model arm_friction "$work/bent.csv"
"$TANDEM" identify --model arm_friction --json --validate "$data/arm_joints.csv" "$data/arm_joints.csv" >"$work/joints.json"
# One value as a fit printed it, and one that no joint has.
"$TANDEM" identify --model arm_friction --details --reference "$work/joints.json" --fail-if contradicts "$data/arm_joints.csv" >"$work/page" || fail "other joints: $(cat "$work/page")"
grep -q 'contradicts no' "$work/page" || fail "not compared: $(cat "$work/page")"
code=0
"$TANDEM" identify --model arm_friction --details --reference Fv1=0.89,viscous5_as=0.24 --fail-if contradicts "$data/arm_joints.csv" >"$work/page" || code=$?
[ "$code" = 3 ] || fail "a joint that is another: exit $code"
grep -q 'in use: viscous5_as 0.24, not ' "$work/page" || fail "which one? $(cat "$work/page")"
[ "$(grep -c ' reference  *z$' "$work/page")" = 2 ] || fail "two joints were given: $(cat "$work/page")"
python3 - "$work/links.json" "$work/joints.json" <<'END'
import json, sys
links, joints = (json.load(open(name)) for name in sys.argv[1:])
assert links["verdict"] == "PASS" and links["arm"] == "ur5" and links["rank"] == 26 == len(links["parameters"])
assert len(links["corrections"]) == 6 and all(len(row) == 6 for row in links["corrections"])
assert all(row[2] == row[5] == 0 for row in links["corrections"][:5])
assert abs(links["corrections"][2][3] - links["values"]["link3_rx_rad"]) == 0 and abs(links["values"]["link3_rx_rad"] - 2.7e-3) < 5e-5
assert links["nominal"]["mean_m"] > 1.5e-3 and links["crossed"]["mean_m"] < 1e-4 and links["held_out"]["n"] == 40
assert joints["verdict"] == "PASS" and len(joints["joints"]) == 6 and len(joints["values"]) == 38 == len(joints["parameters"])
assert all(j["held_out"]["r2"] > 0.9 and j["verdict"] == "PASS" for j in joints["joints"])
assert abs(joints["values"]["viscous1_as"] - 0.89) < 0.02 and joints["se"]["viscous1_as"] > 0
assert joints["comparison"] is None and all(j["comparison"] is None for j in joints["joints"])
lo, hi = joints["ci95"]["gravity2_c2_a"]
assert lo < -3.4 < hi
END
