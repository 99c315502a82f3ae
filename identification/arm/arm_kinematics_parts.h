/* identification/arm/arm_kinematics_parts.h - functions shared by the files of the kinematic
 * fit.
 */
#ifndef IDENTIFICATION_ARM_ARM_KINEMATICS_PARTS_H
#define IDENTIFICATION_ARM_ARM_KINEMATICS_PARTS_H

#include "identification/arm/arm_kinematics.h"

/* Explains poses that are not those of this arm: other units, frames, columns or arms. Fills
 * *explained and tool_m. */
void arm_kinematics_explain(const struct arm_geometry *arm, const struct arm_pairs *pairs,
                            struct arm_kinematics_fit *fit);

void arm_kinematics_judge(struct arm_kinematics_fit *fit, bool doubt_units);
void arm_kinematics_judge_held_out(struct arm_kinematics_fit *fit);

#endif
