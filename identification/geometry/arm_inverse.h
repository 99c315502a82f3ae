/* identification/geometry/arm_inverse.h - which joint angles bring the tool to a pose. Pure.
 *
 * The nominal arm has up to eight solutions in closed form: shoulder left or right, wrist up or
 * down, elbow up or down; docs/model/arm.md. A corrected arm's are found from them by
 * Newton steps.
 */
#ifndef IDENTIFICATION_GEOMETRY_ARM_INVERSE_H
#define IDENTIFICATION_GEOMETRY_ARM_INVERSE_H

#include "identification/geometry/arm_geometry.h"

enum { ARM_BRANCHES = 8 };

struct arm_solution {
    /* 4: the arm lies to the other side of the shoulder, 2: sin(q5) < 0, 1: sin(q3) < 0. */
    int branch;
    double q[ARM_JOINTS]; /* rad */
};

/* Why there is none. */
enum arm_reach {
    ARM_REACHED,
    ARM_TOO_FAR,
    ARM_TOO_NEAR,           /* the elbow cannot fold so much */
    ARM_TOO_NEAR_BASE_AXIS, /* within the cylinder of radius d4 about the base's axis */
    ARM_JOINT_LIMIT,        /* all solutions lie beyond the joints' ranges */
    ARM_SINGULAR,           /* a corrected arm's solution does not settle */
    ARM_REACH_COUNT,
};

/* All solutions, angles in [-pi, pi], by rising branch; how many. Where the wrist is stretched
 * (sin(q5) = 0) only q4 +- q6 is determined: q6 is then q6_rad. Poses that are out of reach by
 * rounding (1e-9) count as reached. */
size_t arm_inverse(const struct arm_geometry *arm, const struct rigid *tool, double q6_rad,
                   struct arm_solution out[ARM_BRANCHES]);

/* The solution whose largest joint difference from `near` is smallest, each joint by the turn
 * nearest to `near` that is within its range; of equal ones (1e-9) the lower branch. *out is
 * written when ARM_REACHED is returned. */
enum arm_reach arm_inverse_near(const struct arm_geometry *arm, const struct rigid *tool,
                                const double near[ARM_JOINTS], struct arm_solution *out);

/* Of any joint angles. */
int arm_branch(const struct arm_geometry *arm, const double q[ARM_JOINTS]);

#endif
