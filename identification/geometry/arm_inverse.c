#include "identification/geometry/arm_inverse.h"

#include <math.h>

#include "base/numbers/constants.h"

#define FULL_TURN (2.0 * PI)

/* Rounding error within which a pose counts as reachable (m^2, or in the elbow's cosine). */
static const double ROUNDING = 1e-9;
/* Limit of |sin(q5)|, below which q4 and q6 rotate about the same axis. */
static const double STRETCHED_WRIST = 1e-9;
/* Rounding error by which a joint may exceed its range. */
static const double RANGE_ROUNDING_RAD = 1e-12;

enum { NEWTON_STEPS_MAX = 8 };
static const double SETTLED = 1e-9; /* error in m and rad at which the pose counts as met */
static const double EXACT = 1e-13;  /* error below which no step improves it */
static const double NEWTON_DAMPING = 1e-12;

static double wrap_angle(double rad)
{
    return remainder(rad, FULL_TURN);
}

/* ---- the nominal arm ---- */

/* Computes q3, q2, q4 for one shoulder and wrist; returns the number of solutions (0 or 2).
 * The elbow's triangle has the sides a2 and a3. Its far corner is at (kc, ks) in the plane
 * of the upper arm. */
static size_t solve_elbow(const struct arm_geometry *arm, const struct rigid *t, double q1,
                          double q5, double q6, struct arm_solution out[2])
{
    const double c1 = cos(q1);
    const double s1 = sin(q1);
    const double c5 = cos(q5);
    const double s5 = sin(q5);
    const double c6 = cos(q6);
    const double s6 = sin(q6);
    const double c234 = t->turn[2][0] * s6 + t->turn[2][1] * c6;
    const double s234 = c5 * (t->turn[2][0] * c6 - t->turn[2][1] * s6) - s5 * t->turn[2][2];
    const double kc =
        t->at_m[0] * c1 + t->at_m[1] * s1 + c234 * s5 * arm->d6_m - s234 * arm->d5_m;
    const double ks = t->at_m[2] - arm->d1_m + c234 * arm->d5_m + s234 * s5 * arm->d6_m;
    const double a2 = arm->a2_m;
    const double a3 = arm->a3_m;
    double c3 = (kc * kc + ks * ks - a2 * a2 - a3 * a3) / (2.0 * a2 * a3);
    if (!(fabs(c3) <= 1.0 + ROUNDING)) {
        return 0;
    }
    c3 = fmin(fmax(c3, -1.0), 1.0);
    for (int down = 0; down < 2; down++) {
        const double s3 = (down ? -1.0 : 1.0) * sqrt((1.0 - c3) * (1.0 + c3));
        const double q3 = atan2(s3, c3);
        const double q2 = atan2(ks, kc) - atan2(a3 * s3, a3 * c3 + a2);
        const double q4 = atan2(s234, c234) - q2 - q3;
        const double q[ARM_JOINTS] = {q1, q2, q3, q4, q5, q6};
        out[down].branch = down;
        for (size_t i = 0; i < ARM_JOINTS; i++) {
            out[down].q[i] = wrap_angle(q[i]);
        }
    }
    return 2;
}

/* Squared distance of the wrist from the base's axis, less that of the cylinder that the
 * arm's offset keeps free. */
static double shoulder_room_m2(const struct arm_geometry *arm, const struct rigid *flange)
{
    const double x = flange->at_m[0] - arm->d6_m * flange->turn[0][2];
    const double y = flange->at_m[1] - arm->d6_m * flange->turn[1][2];
    return x * x + y * y - arm->d4_m * arm->d4_m;
}

static size_t solve_nominal(const struct arm_geometry *arm, const struct rigid *flange,
                            double q6_rad, struct arm_solution out[ARM_BRANCHES])
{
    const double room_m2 = shoulder_room_m2(arm, flange);
    if (!(room_m2 >= -ROUNDING)) {
        return 0;
    }
    const double aside = atan2(sqrt(fmax(room_m2, 0.0)), arm->d4_m);
    const double ahead = atan2(flange->at_m[0] - arm->d6_m * flange->turn[0][2],
                               arm->d6_m * flange->turn[1][2] - flange->at_m[1]);
    size_t n = 0;
    for (int left = 0; left < 2; left++) {
        const double q1 = ahead + (left ? -aside : aside);
        const double c1 = cos(q1);
        const double s1 = sin(q1);
        const double c5 = s1 * flange->turn[0][2] - c1 * flange->turn[1][2];
        const double m1 = s1 * flange->turn[0][0] - c1 * flange->turn[1][0];
        const double m2 = s1 * flange->turn[0][1] - c1 * flange->turn[1][1];
        const double size = hypot(m1, m2);
        for (int below = 0; below < 2; below++) {
            const double sign = below ? -1.0 : 1.0;
            const double q6 = size < STRETCHED_WRIST ? q6_rad : atan2(-sign * m2, sign * m1);
            const size_t found =
                solve_elbow(arm, flange, q1, atan2(sign * size, c5), q6, &out[n]);
            for (size_t k = 0; k < found; k++) {
                out[n + k].branch += 4 * left + 2 * below;
            }
            n += found;
        }
    }
    return n;
}

/* ---- a corrected arm ---- */

static double pose_error(const double twist[6])
{
    double worst = 0.0;
    for (size_t i = 0; i < 6; i++) {
        worst = fmax(worst, fabs(twist[i]));
    }
    return worst;
}

/* Newton's method: moves the joints by the pose error through the inverse Jacobian, until
 * the pose is met. */
static bool refine_solution(const struct arm_geometry *arm, const struct rigid *tool,
                            double q[ARM_JOINTS])
{
    for (int step = 0;; step++) {
        const struct rigid now = arm_forward(arm, q);
        double twist[6];
        rigid_difference(&now, tool, twist);
        const double error = pose_error(twist);
        if (!(error > EXACT) || step == NEWTON_STEPS_MAX) {
            return error <= SETTLED;
        }
        double dq[ARM_JOINTS];
        const struct arm_slope j = arm_jacobian(arm, q);
        arm_solve(&j, twist, NEWTON_DAMPING, dq);
        for (size_t i = 0; i < ARM_JOINTS; i++) {
            q[i] += dq[i];
        }
    }
}

static size_t solve_flange(const struct arm_geometry *arm, const struct rigid *tool,
                           double q6_rad, struct arm_solution out[ARM_BRANCHES])
{
    const struct rigid back = rigid_invert(&arm->tool);
    const struct rigid flange = rigid_multiply(tool, &back);
    return solve_nominal(arm, &flange, q6_rad, out);
}

size_t arm_inverse(const struct arm_geometry *arm, const struct rigid *tool, double q6_rad,
                   struct arm_solution out[ARM_BRANCHES])
{
    const size_t n = solve_flange(arm, tool, q6_rad, out);
    if (!arm->corrected) {
        return n;
    }
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct arm_solution s = out[i];
        if (refine_solution(arm, tool, s.q)) {
            for (size_t k = 0; k < ARM_JOINTS; k++) {
                s.q[k] = wrap_angle(s.q[k]);
            }
            out[count++] = s;
        }
    }
    return count;
}

/* ---- the nearest solution ---- */

/* Shifts each joint by full turns, as near to `near` as its range allows. Returns false if
 * none fits. */
static bool choose_turns(const struct arm_geometry *arm, const double near[ARM_JOINTS],
                         double q[ARM_JOINTS])
{
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        const double most = arm->q_max_rad[i] + RANGE_ROUNDING_RAD;
        q[i] += FULL_TURN * round((near[i] - q[i]) / FULL_TURN);
        if (q[i] > most) {
            q[i] -= FULL_TURN;
        } else if (q[i] < -most) {
            q[i] += FULL_TURN;
        }
        if (!(fabs(q[i]) <= most)) {
            return false;
        }
    }
    return true;
}

double arm_largest_turn(const double a[ARM_JOINTS], const double b[ARM_JOINTS])
{
    double most = 0.0;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most;
}

static enum arm_reach find_reason(const struct arm_geometry *arm, const struct rigid *tool)
{
    const struct rigid back = rigid_invert(&arm->tool);
    const struct rigid flange = rigid_multiply(tool, &back);
    if (!(shoulder_room_m2(arm, &flange) >= -ROUNDING)) {
        return ARM_TOO_NEAR_BASE_AXIS;
    }
    double out_m2 = 0.0; /* squared distance of the wrist from the shoulder */
    for (int i = 0; i < 3; i++) {
        const double x =
            flange.at_m[i] - arm->d6_m * flange.turn[i][2] - (i == 2 ? arm->d1_m : 0.0);
        out_m2 += x * x;
    }
    /* A distance beyond the half-way point means too far, otherwise too near. */
    const double middle_m = fmax(fabs(arm->a2_m), fabs(arm->a3_m));
    return out_m2 > middle_m * middle_m ? ARM_TOO_FAR : ARM_TOO_NEAR;
}

enum arm_reach arm_inverse_near(const struct arm_geometry *arm, const struct rigid *tool,
                                const double near[ARM_JOINTS], struct arm_solution *out)
{
    struct arm_solution all[ARM_BRANCHES];
    const size_t n = solve_flange(arm, tool, near[5], all);
    enum arm_reach reach = n > 0 ? ARM_JOINT_LIMIT : find_reason(arm, tool);
    double best = INFINITY;
    for (size_t i = 0; i < n; i++) {
        struct arm_solution s = all[i];
        if (arm->corrected && !refine_solution(arm, tool, s.q)) {
            reach = reach == ARM_JOINT_LIMIT ? ARM_SINGULAR : reach;
            continue;
        }
        if (!choose_turns(arm, near, s.q)) {
            continue;
        }
        const double distance = arm_largest_turn(s.q, near);
        if (distance < best - ROUNDING) {
            best = distance;
            *out = s;
            reach = ARM_REACHED;
        }
    }
    return reach;
}
