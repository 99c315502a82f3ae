#include "twin/arm/arm_jog.h"

#include <math.h>
#include <string.h>

static double limit_size(double x, double most)
{
    return fmin(fmax(x, -most), most);
}

bool arm_at_rest(const struct arm_set_point *now)
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        if (fabs(now->qd[j]) > 0.0) {
            return false;
        }
    }
    return true;
}

/* Returns the speed from which a joint can just stop at the end of its range. */
static double speed_for_room(const struct arm_geometry *arm, size_t j, double q, double qd,
                             double a_radps2, double period_s)
{
    const double room = qd > 0.0 ? arm->q_max_rad[j] - q : q + arm->q_max_rad[j];
    return sqrt(2.0 * a_radps2 * fmax(room - fabs(qd) * period_s, 0.0));
}

void arm_jog_joints(struct arm_jog *jog, const struct arm_geometry *arm,
                    const double want[ARM_JOINTS], double a_radps2, double period_s)
{
    double gap[ARM_JOINTS];
    double most = 0.0;
    memset(jog->twist, 0, sizeof jog->twist);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        gap[j] = limit_size(want[j], arm->qd_max_radps[j]) - jog->now.qd[j];
        most = fmax(most, fabs(gap[j]));
    }
    const double share = most > a_radps2 * period_s ? a_radps2 * period_s / most : 1.0;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const double before = jog->now.qd[j];
        /* The last step gives exactly the wanted speed, which may be zero. */
        double qd =
            share < 1.0 ? before + share * gap[j] : limit_size(want[j], arm->qd_max_radps[j]);
        qd = limit_size(qd, speed_for_room(arm, j, jog->now.q[j], qd, a_radps2, period_s));
        jog->now.qd[j] = qd;
        jog->now.q[j] =
            limit_size(jog->now.q[j] + 0.5 * (before + qd) * period_s, arm->q_max_rad[j]);
    }
}

/* Changes a part of the twist, m/s or rad/s, towards its target by at most `most`. */
static void turn_twist(double now[3], const double want[3], double most)
{
    double gap = 0.0;
    for (size_t i = 0; i < 3; i++) {
        gap = hypot(gap, want[i] - now[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        now[i] = gap > most ? now[i] + (want[i] - now[i]) * most / gap : want[i];
    }
}

static void find_speeds(const struct arm_geometry *arm, const double q[ARM_JOINTS],
                        const double twist[6], double qd[ARM_JOINTS])
{
    const struct arm_slope slope = arm_jacobian(arm, q);
    double slower = 1.0;
    (void)arm_joint_speeds(&slope, twist, qd);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        slower = fmax(slower, fabs(qd[j]) / arm->qd_max_radps[j]);
    }
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        qd[j] /= slower;
    }
}

enum arm_refusal arm_jog_tool(struct arm_jog *jog, const struct arm_geometry *arm,
                              const double twist[6], double a_mps2, double a_radps2,
                              double period_s)
{
    double half[ARM_JOINTS];
    double qd[ARM_JOINTS];
    turn_twist(&jog->twist[0], &twist[0], a_mps2 * period_s);
    turn_twist(&jog->twist[3], &twist[3], a_radps2 * period_s);
    find_speeds(arm, jog->now.q, jog->twist, qd);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        half[j] = jog->now.q[j] + 0.5 * period_s * qd[j];
    }
    find_speeds(arm, half, jog->twist, qd);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        if (fabs(jog->now.q[j] + period_s * qd[j]) > arm->q_max_rad[j]) {
            memset(jog->twist, 0, sizeof jog->twist);
            memset(jog->now.qd, 0, sizeof jog->now.qd);
            return ARM_BEYOND_LIMIT;
        }
    }
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        jog->now.q[j] += period_s * qd[j];
        jog->now.qd[j] = qd[j];
    }
    return ARM_ACCEPTED;
}

bool arm_jog_blocked(const struct arm_jog *jog, const struct arm_geometry *arm,
                     const struct arm_bounds *bounds, double a_radps2,
                     struct arm_clearance *where)
{
    if (!(isfinite(bounds->clearance_m) || isfinite(bounds->floor_m)) ||
        arm_at_rest(&jog->now)) {
        return false;
    }
    double rest[ARM_JOINTS];
    double most = 0.0;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        most = fmax(most, fabs(jog->now.qd[j]));
    }
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        rest[j] = jog->now.q[j] + jog->now.qd[j] * most / (2.0 * a_radps2);
    }
    const double now_m = arm_clearance(arm, jog->now.q, bounds->floor_m).distance_m;
    *where = arm_clearance(arm, rest, bounds->floor_m);
    return where->distance_m < fmax(bounds->clearance_m, 0.0) && where->distance_m < now_m;
}
