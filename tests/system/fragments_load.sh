# Simulators load the fragments of `tandem identify --write`, and move as the fitted model says: MuJoCo, urdfdom,
# libsdformat, as far as they are installed.
set -eu
golden=$SOURCE/tests/golden/fragment
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tested=0
fail() { echo "fragments_load: $*"; exit 1; }
near() { # NAME GOT WANT: to 1 %
    awk -v got="$2" -v want="$3" 'BEGIN { exit !(got > 0.99 * want && got < 1.01 * want) }' || fail "$1: $2, not $3"
}

cat >"$work/drive.c" <<'C'
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
/* FILE SECONDS INPUT: prints the velocity under a constant command of the actuator, or torque without one; with a
 * fourth word the position. */
int main(int argc, char **argv)
{
    char error[1000] = "";
    mjModel *m = argc >= 4 ? mj_loadXML(argv[1], 0, error, sizeof error) : 0;
    if (!m) {
        (void)fprintf(stderr, "%s\n", error);
        return 1;
    }
    m->opt.timestep = 0.0005;
    m->opt.integrator = mjINT_IMPLICIT;
    mjData *d = mj_makeData(m);
    while (d->time < atof(argv[2])) {
        *(m->nu > 0 ? d->ctrl : d->qfrc_applied) = atof(argv[3]);
        mj_step(m, d);
    }
    (void)printf("%.5f\n", argc > 4 ? d->qpos[0] : d->qvel[0]);
    return 0;
}
C
world() { # JOINT ACTUATOR
    printf '<mujoco><worldbody><body>%s<geom type="sphere" size="0.001" mass="1e-6"/></body></worldbody>' "$1"
    printf '<actuator>%s</actuator></mujoco>\n' "$2"
}
if "${CC:-cc}" "$work/drive.c" -o "$work/drive" -lmujoco 2>"$work/log"; then
    tested=1
    world "$(cat "$golden/joint.mjcf")" "" >"$work/joint.xml"
    # 1.5 N m less friction of 0.4 N m, by 0.29987 N m s; the joint follows in 0.17 s.
    near "joint in MuJoCo" "$("$work/drive" "$work/joint.xml" 1 1.5)" 3.659
    world '<joint name="joint1" type="hinge" axis="0 0 1" armature="0.01"/>' "$(cat "$golden/fo.mjcf")" >"$work/fo.xml"
    near "first_order in MuJoCo" "$("$work/drive" "$work/fo.xml" 1 1)" 1.646
    world "$(grep '^<joint' "$golden/servo.mjcf")" "$(grep '^<position' "$golden/servo.mjcf")" >"$work/servo.xml"
    # 0.2 rad less the dead band of 0.0102 rad; 1.69 rad/s at most, less what friction takes of the limited torque.
    near "servo in MuJoCo" "$("$work/drive" "$work/servo.xml" 1 0.2 qpos)" 0.195
    near "limited servo in MuJoCo" "$("$work/drive" "$work/servo.xml" 0.5 3)" 1.56
fi
if command -v check_urdf >/dev/null; then
    tested=1
    for name in joint arm; do
        awk 'BEGIN { print "<robot name=\"r\"><link name=\"l0\"/>" } /^<!--/ { print } /^<dynamics/ { n++
            printf "<link name=\"l%d\"/><joint name=\"j%d\" type=\"continuous\"><parent link=\"l%d\"/>", n, n, n - 1
            printf "<child link=\"l%d\"/><axis xyz=\"0 0 1\"/>%s</joint>\n", n, $0 } END { print "</robot>" }' \
            "$golden/$name.urdf" >"$work/$name.urdf"
        check_urdf "$work/$name.urdf" >"$work/log" 2>&1 || fail "urdfdom refuses $name: $(cat "$work/log")"
    done
fi
if command -v xmllint >/dev/null; then
    tested=1
    for name in joint odo usv; do
        { echo "<model>"; cat "$golden/$name.sdf"; echo "</model>"; } | xmllint --noout - || fail "$name.sdf is no XML"
    done
fi
[ "$tested" -eq 1 ] || { echo "SKIPPED: neither libmujoco-dev, liburdfdom-tools nor xmllint"; exit 77; }
