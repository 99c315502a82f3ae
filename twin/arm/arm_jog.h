/* twin/arm/arm_jog.h - an arm moved by hand: towards speeds of its joints or of its tool, and
 * to a stop. One period a call. Pure.
 */
#ifndef TWIN_ARM_ARM_JOG_H
#define TWIN_ARM_ARM_JOG_H

#include "twin/arm/arm_move.h"
#include "twin/arm/arm_servo.h"

struct arm_jog {
    struct arm_set_point now;
    double twist[6]; /* of the tool as it is told now, while it is the tool that is jogged */
};

/* Towards speeds [6] of the joints, which all change in one proportion, the one that changes
 * most at a_radps2 > 0; cut to their limits, and braked in time for the ends of their ranges.
 * With all zero it is how an arm stops. */
void arm_jog_joints(struct arm_jog *jog, const struct arm_geometry *arm,
                    const double want[ARM_JOINTS], double a_radps2, double period_s);

/* Towards a twist [6] of the tool, m/s and rad/s in the base's axes, at a_mps2 and a_radps2 >
 * 0; by damped least squares near singular poses, all of it slower where a joint would be too
 * fast. ARM_BEYOND_LIMIT, and at rest, where a joint would leave its range. */
enum arm_refusal arm_jog_tool(struct arm_jog *jog, const struct arm_geometry *arm,
                              const double twist[6], double a_mps2, double a_radps2,
                              double period_s);

/* Were it stopped now, with a_radps2 > 0, it would come to rest too near something, and nearer
 * than it is: which parts. */
bool arm_jog_blocked(const struct arm_jog *jog, const struct arm_geometry *arm,
                     const struct arm_bounds *bounds, double a_radps2,
                     struct arm_clearance *where);

/* All speeds are zero. */
bool arm_at_rest(const struct arm_set_point *now);

#endif
