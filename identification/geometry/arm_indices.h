/* identification/geometry/arm_indices.h - performance indices of joint control: error
 * integrals.
 *
 *     ISE = h Σ e^2,  IAE = h Σ |e|,  ITAE = h Σ t |e|,  e = goal - q, every period h
 *                                                                              (seed 003)
 *
 * They sum each joint's error since its goal was set, for any controller. Pure.
 */
#ifndef IDENTIFICATION_GEOMETRY_ARM_INDICES_H
#define IDENTIFICATION_GEOMETRY_ARM_INDICES_H

#include "identification/geometry/arm_geometry.h"

struct arm_indices { /* all zero: no goal was set */
    bool begun;
    double goal_rad[ARM_JOINTS];
    double t_s;                                                /* time since the goal was set */
    double ise[ARM_JOINTS], iae[ARM_JOINTS], itae[ARM_JOINTS]; /* rad^2 s, rad s, rad s^2 */
};

/* Sets the goal and clears the sums. */
void arm_indices_begin(struct arm_indices *x, const double goal_rad[ARM_JOINTS]);

/* Adds a period of h_s seconds that ends with the joints at q. Without a goal nothing is
 * added; a period with a NaN angle is left out. */
void arm_indices_step(struct arm_indices *x, const double q_rad[ARM_JOINTS], double h_s);

#endif
