/* identification/geometry/arm_indices.h - how well the joints of an arm reached where they were to be:
 * integrals of each joint's error since its goal was set, whoever controls it. Pure.
 *
 *     ISE = h Σ e^2,  IAE = h Σ |e|,  ITAE = h Σ t |e|,  e = goal - q, every period h   (seed
 * 003)
 */
#ifndef IDENTIFICATION_GEOMETRY_ARM_INDICES_H
#define IDENTIFICATION_GEOMETRY_ARM_INDICES_H

#include "identification/geometry/arm_geometry.h"

struct arm_indices { /* all zero: no goal was set */
    bool begun;
    double goal_rad[ARM_JOINTS];
    double t_s;                                                /* since it was set */
    double ise[ARM_JOINTS], iae[ARM_JOINTS], itae[ARM_JOINTS]; /* rad^2 s, rad s, rad s^2 */
};

/* From now on; what was summed up is forgotten. */
void arm_indices_begin(struct arm_indices *x, const double goal_rad[ARM_JOINTS]);

/* A period of h_s seconds ends with the joints at q. Nothing before a goal was set; a period
 * with an angle that is no number is left out. */
void arm_indices_step(struct arm_indices *x, const double q_rad[ARM_JOINTS], double h_s);

#endif
