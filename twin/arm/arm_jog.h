/* twin/arm/arm_jog.h - jogs an arm by hand: changes speeds of its joints or of its tool towards
 * a target, or to a stop. One period per call. Pure.
 */
#ifndef TWIN_ARM_ARM_JOG_H
#define TWIN_ARM_ARM_JOG_H

#include "twin/arm/arm_move.h"
#include "twin/arm/arm_servo.h"

struct arm_jog {
    struct arm_set_point now;
    double twist[6]; /* present twist of the tool, while the tool is jogged */
};

/* Changes the joint speeds towards their targets [6], all in one proportion, the largest change
 * at a_radps2 > 0. Speeds are limited, and reduced in time for the ends of the ranges. With
 * targets of zero the arm stops. */
void arm_jog_joints(struct arm_jog *jog, const struct arm_geometry *arm,
                    const double want[ARM_JOINTS], double a_radps2, double period_s);

/* Changes the twist of the tool towards its target [6], m/s and rad/s in the base's axes, at
 * a_mps2 and a_radps2 > 0; by damped least squares near singular poses, and slower as a whole
 * if a joint would be too fast. ARM_BEYOND_LIMIT, and at rest, if a joint would leave its
 * range. */
enum arm_refusal arm_jog_tool(struct arm_jog *jog, const struct arm_geometry *arm,
                              const double twist[6], double a_mps2, double a_radps2,
                              double period_s);

/* If it braked now with a_radps2 > 0, would it stop too close to an obstacle, and closer than
 * it is? *where names the parts. */
bool arm_jog_blocked(const struct arm_jog *jog, const struct arm_geometry *arm,
                     const struct arm_bounds *bounds, double a_radps2,
                     struct arm_clearance *where);

/* Are all speeds zero? */
bool arm_at_rest(const struct arm_set_point *now);

#endif
