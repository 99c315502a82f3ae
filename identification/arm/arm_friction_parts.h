/* identification/arm/arm_friction_parts.h - functions shared by the files of the friction fit.
 */
#ifndef IDENTIFICATION_ARM_ARM_FRICTION_PARTS_H
#define IDENTIFICATION_ARM_ARM_FRICTION_PARTS_H

#include "identification/arm/arm_friction.h"
#include "identification/numeric/agreement.h"

enum { ARM_FRICTION_PARTS = 3 };

/* Parameters of a joint in the thirds of the recording. */
struct arm_friction_thirds {
    size_t count; /* number of thirds that determine all parameters */
    struct estimate_of_one each[ARM_FRICTION_P_MAX][ARM_FRICTION_PARTS];
    /* standard deviation of the current due to a parameter of size 1 */
    double effect_a[ARM_FRICTION_P_MAX];
    double current_sd_a;
};

/* Judges one joint, by number from 0. */
void arm_friction_judge_joint(struct arm_friction_joint *joint, size_t number,
                              const struct arm_friction_thirds *thirds, bool doubt_units);
/* Judges the arm, after all joints. */
void arm_friction_judge_whole(struct arm_friction_fit *fit,
                              const struct arm_friction_summary *summary);
/* Judges after all joints were compared with a held-out recording. */
void arm_friction_judge_held_out(struct arm_friction_fit *fit);

#endif
