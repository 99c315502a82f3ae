#include "service/selftest/selftest_robots.h"

#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "identification/arm/arm_friction.h"
#include "identification/arm/arm_kinematics.h"

enum { ROWS = 7500, POSES = 60, TERMS = 38, TRUTH_P = ARM_FRICTION_P_MAX };

static const double RATE_HZ = 125.0;
static const double REST_S = 0.3;
static const double REACH_RAD = 1.5;
static const double TURN_OVER_RADPS = 0.01;
static const double ANGLE_SD = 1e-5, SPEED_SD = 2e-4, CURRENT_SD = 0.1;
static const double PLACE_SD_M = 5e-5, TURN_SD_RAD = 1e-4;

/* Values of a UR5: J Fv Fc o, gravity terms, coupling terms. */
static const double friction_truth[ARM_JOINTS][TRUTH_P] = {
    {0.33, 0.89, 0.72, -0.05},
    {0.61, 0.91, 0.75, -0.4, -3.4, -1.6, -0.7, 0.45, 0.25, -0.18},
    {0.25, 0.4, 1.03, -0.05, -0.43, 1.4, 0.3, 0.05, -0.05},
    {0.2, 0.33, 0.3, 0.37, 0.8, -0.39},
    {0.12, 0.21, 0.22, -0.1, -0.3},
    {0.1, 0.22, 0.27, -0.17},
};

static double factor_of(const struct selftest_scenario *w, size_t column)
{
    return w->factor[column] > 0.0 ? w->factor[column] : 1.0;
}

/* ---- joints ---- */

/* A move of all joints from rest to rest. */
struct motion {
    double from_rad[ARM_JOINTS], stroke_rad[ARM_JOINTS], start_s, time_s;
    double q[ARM_JOINTS], qd[ARM_JOINTS], qdd[ARM_JOINTS];
};

static void move_on(struct motion *m, double t_s, struct random_source *draws)
{
    if (!(m->time_s > 0.0) || t_s >= m->start_s + m->time_s + REST_S) {
        m->start_s += m->time_s > 0.0 ? m->time_s + REST_S : 0.0;
        m->time_s = random_between(draws, 1.2, 3.5);
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            m->from_rad[j] += m->stroke_rad[j];
            m->stroke_rad[j] = random_between(draws, -REACH_RAD, REACH_RAD) - m->from_rad[j];
        }
    }
    const double share = fmin((t_s - m->start_s) / m->time_s, 1.0);
    const double phase = 2.0 * PI * share;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        m->q[j] = m->from_rad[j] + m->stroke_rad[j] * (share - sin(phase) / (2.0 * PI));
        m->qd[j] = m->stroke_rad[j] / m->time_s * (1.0 - cos(phase));
        m->qdd[j] = m->stroke_rad[j] * 2.0 * PI / (m->time_s * m->time_s) * sin(phase);
    }
}

static double weigh_joint(const double *p, size_t joint, const double q[ARM_JOINTS])
{
    const double q23 = q[1] + q[2];
    const double q234 = q23 + q[3];
    switch (joint) {
    case 1:
        return p[4] * cos(q[1]) + p[5] * cos(q23) + p[6] * sin(q234) +
               p[7] * cos(q234) * sin(q[4]);
    case 2:
        return p[4] * cos(q23) + p[5] * sin(q234) + p[6] * cos(q234) * sin(q[4]);
    case 3:
        return p[4] * sin(q234) + p[5] * cos(q234) * sin(q[4]);
    case 4:
        return p[4] * sin(q234) * cos(q[4]);
    default:
        return 0.0;
    }
}

/* Returns the current of a joint in this scenario. */
static double draw_current(const struct selftest_scenario *w, const struct motion *m,
                           size_t joint, double share)
{
    const double *p = friction_truth[joint];
    const double qd = m->qd[joint];
    const double near = w->falls > 0.0 ? w->at_rest * exp(-pow(qd / w->falls, 2.0)) : 0.0;
    const double direction = qd < 0.0 ? 1.0 + w->backed : 1.0;
    double i = p[0] * m->qdd[joint] + p[1] * (1.0 + w->drag) * qd + p[3] +
               p[2] * direction * (1.0 + near) * tanh(qd / TURN_OVER_RADPS) +
               weigh_joint(p, joint, m->q);
    if (joint == 1 || joint == 2) {
        const size_t coupled = joint == 1 ? 8 : 7;
        i += (p[coupled] * cos(m->q[2]) + p[coupled + 1]) * m->qdd[3 - joint];
    }
    return i * (1.0 + w->off) * (share >= 0.5 ? 1.0 + w->at_half : 1.0);
}

/* A delay of currents in rows, at most. */
enum { LATE_ROWS_MAX = 64 };

void selftest_write_joints(const struct selftest_scenario *scenario,
                           struct random_source *draws, FILE *to)
{
    struct motion m = {.start_s = 0.0};
    double past[ARM_JOINTS][LATE_ROWS_MAX] = {{0.0}};
    const size_t late = (size_t)(scenario->late_s * RATE_HZ + 0.5);
    (void)fputs("t", to);
    for (size_t j = 1; j <= ARM_JOINTS; j++) {
        (void)fprintf(to, ",q%zu,qd%zu,i%zu", j, j, j);
    }
    (void)fputc('\n', to);
    for (size_t k = 0; k < ROWS; k++) {
        const double t_s = (double)k / RATE_HZ;
        double i[ARM_JOINTS];
        move_on(&m, t_s, draws);
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            double *now = &past[j][k % LATE_ROWS_MAX];
            const double before = past[j][(k + LATE_ROWS_MAX - 1) % LATE_ROWS_MAX];
            *now = draw_current(scenario, &m, j, (double)k / ROWS);
            *now += k > 0 && scenario->lag_s > 0.0
                        ? (before - *now) * exp(-1.0 / (RATE_HZ * scenario->lag_s))
                        : 0.0;
            i[j] = past[j][(k - (k < late ? k : late)) % LATE_ROWS_MAX] +
                   CURRENT_SD * selftest_draw_normal(draws);
        }
        (void)fprintf(to, "%.6f", scenario->counted ? (double)k : factor_of(scenario, 0) * t_s);
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            /* joints 2 and 3 are exchanged */
            const size_t other = scenario->exchanged && (j == 1 || j == 2) ? 3 - j : j;
            (void)fprintf(to, ",%.7g,%.7g,%.6g",
                          factor_of(scenario, 1) *
                              (m.q[j] + ANGLE_SD * selftest_draw_normal(draws)),
                          m.qd[j] + SPEED_SD * selftest_draw_normal(draws),
                          factor_of(scenario, 2) * i[other]);
        }
        (void)fputc('\n', to);
    }
}

double selftest_joints_truth(size_t i, const char **name)
{
    static struct arm_friction_fit named;
    size_t joint = 0;
    if (named.joint[0].estimate.p == 0) {
        arm_friction_fit_start(&named);
    }
    while (joint < ARM_JOINTS && i >= named.joint[joint].estimate.p) {
        i -= named.joint[joint++].estimate.p;
    }
    *name = joint < ARM_JOINTS ? named.joint[joint].estimate.name[i] : NULL;
    return joint < ARM_JOINTS ? friction_truth[joint][i] : 0.0;
}

/* ---- poses ---- */

/* Corrections of some tenths of a millimetre, and of milliradians. */
static double correction_at(size_t i)
{
    const double size = arm_kinematics_place(i) % 6 < 3 ? 6e-4 : 2e-3;
    return size * sin(1.0 + 2.3 * (double)i);
}

double selftest_poses_truth(size_t i, const char **name)
{
    static struct arm_kinematics_fit named;
    if (named.estimate.p == 0) {
        arm_kinematics_fit_start(&named);
    }
    *name = i < ARM_KINEMATICS_P ? named.estimate.name[i] : NULL;
    return i < ARM_KINEMATICS_P ? correction_at(i) : 0.0;
}

static struct arm_geometry make_arm(const struct selftest_scenario *w)
{
    struct arm_geometry arm;
    double correction[ARM_CORRECTIONS] = {0.0};
    (void)arm_geometry_find(w->arm ? w->arm : "ur5", &arm);
    for (size_t i = 0; i < ARM_KINEMATICS_P; i++) {
        correction[arm_kinematics_place(i)] =
            correction_at(i) * (1.0 + w->drag * cos((double)i));
    }
    arm_geometry_correct(&arm, correction);
    arm.tool.at_m[2] = w->tool_m;
    return arm;
}

static struct rigid draw_pose(const struct selftest_scenario *w, const struct arm_geometry *arm,
                              const double q[ARM_JOINTS], struct random_source *draws)
{
    const double base[6] = {0.0, 0.0, 0.0, w->leans_rad, 0.0, w->turned_rad};
    const double noise[3] = {TURN_SD_RAD * selftest_draw_normal(draws),
                             TURN_SD_RAD * selftest_draw_normal(draws),
                             TURN_SD_RAD * selftest_draw_normal(draws)};
    const struct rigid stand = rigid_from_pose(base);
    const struct rigid shaken = rotation_exp(noise);
    struct rigid at = arm_forward(arm, q);
    at = rigid_multiply(&stand, &at);
    at = rigid_multiply(&at, &shaken);
    for (size_t k = 0; k < 3; k++) {
        at.at_m[k] += PLACE_SD_M * selftest_draw_normal(draws);
    }
    return at;
}

void selftest_write_poses(const struct selftest_scenario *scenario, struct random_source *draws,
                          FILE *to)
{
    const struct arm_geometry arm = make_arm(scenario);
    const size_t rows = scenario->samples > 0 ? scenario->samples : POSES;
    (void)fputs("q1,q2,q3,q4,q5,q6,x,y,z,rx,ry,rz\n", to);
    for (size_t n = 0; n < rows; n++) {
        double q[ARM_JOINTS];
        double pose[6];
        const double gentle = scenario->gentle > 0.0 ? scenario->gentle : 1.0;
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            q[j] = gentle * random_between(draws, -PI, PI);
        }
        double turned[ARM_JOINTS];
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            turned[j] = q[j] + scenario->eccentric_rad * sin(q[j]);
        }
        const struct rigid at = draw_pose(scenario, &arm, turned, draws);
        rigid_to_pose(&at, pose);
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            /* joints 2 and 3 are exchanged */
            const size_t other = scenario->exchanged && (j == 1 || j == 2) ? 3 - j : j;
            (void)fprintf(to, "%.9g,", factor_of(scenario, 0) * q[other]);
        }
        for (size_t k = 0; k < 6; k++) {
            (void)fprintf(to, "%.9g%c", factor_of(scenario, k < 3 ? 1 : 2) * pose[k],
                          k < 5 ? ',' : '\n');
        }
    }
}
