/* identification/geometry/arm_inverse.h - inverse kinematics: joint angles for a pose of the
 * tool. Pure.
 *
 * The nominal arm has up to eight closed-form solutions: shoulder left or right, wrist up or
 * down, elbow up or down (docs/model/arm.md). Newton steps from these find the solutions of a
 * corrected arm.
 */
#ifndef IDENTIFICATION_GEOMETRY_ARM_INVERSE_H
#define IDENTIFICATION_GEOMETRY_ARM_INVERSE_H

#include "identification/geometry/arm_geometry.h"

enum { ARM_BRANCHES = 8 };

struct arm_solution {
    /* Bits: 4: the arm lies on the other side of the shoulder, 2: sin(q5) < 0, 1: sin(q3) <
     * 0. */
    int branch;
    double q[ARM_JOINTS]; /* rad */
};

/* Reason why there is no solution. */
enum arm_reach {
    ARM_REACHED,
    ARM_TOO_FAR,
    ARM_TOO_NEAR,           /* the elbow cannot fold far enough */
    ARM_TOO_NEAR_BASE_AXIS, /* within the cylinder of radius d4 about the base's axis */
    ARM_JOINT_LIMIT,        /* all solutions lie beyond the joints' ranges */
    ARM_SINGULAR,           /* the Newton steps for a corrected arm do not converge */
    ARM_REACH_COUNT,
};

/* Finds all solutions, with angles in [-pi, pi], by rising branch, and returns their number.
 * If the wrist is stretched (sin(q5) = 0), only q4 +- q6 is determined, and q6 is set to
 * q6_rad. Poses that are out of reach by rounding (1e-9) count as reached. */
size_t arm_inverse(const struct arm_geometry *arm, const struct rigid *tool, double q6_rad,
                   struct arm_solution out[ARM_BRANCHES]);

/* Finds the solution whose largest joint difference from `near` is smallest. Each joint is
 * shifted by full turns within its range. Of equal ones (1e-9) the lower branch wins. *out
 * is written only if ARM_REACHED is returned. */
enum arm_reach arm_inverse_near(const struct arm_geometry *arm, const struct rigid *tool,
                                const double near[ARM_JOINTS], struct arm_solution *out);

/* Returns the largest difference of a joint. */
double arm_largest_turn(const double a[ARM_JOINTS], const double b[ARM_JOINTS]);

#endif
