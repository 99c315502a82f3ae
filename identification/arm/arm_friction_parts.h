/* identification/arm/arm_friction_parts.h - what the files of the friction fit share. */
#ifndef IDENTIFICATION_ARM_ARM_FRICTION_PARTS_H
#define IDENTIFICATION_ARM_ARM_FRICTION_PARTS_H

#include "identification/arm/arm_friction.h"
#include "identification/numeric/agreement.h"

enum { ARM_FRICTION_PARTS = 3 };

/* How a joint's parameters came out in the thirds of the recording. */
struct arm_friction_thirds {
    size_t count; /* of them that tell all parameters */
    struct estimate_of_one each[ARM_FRICTION_P_MAX][ARM_FRICTION_PARTS];
    double effect_a[ARM_FRICTION_P_MAX]; /* sd of the current by a parameter of size 1 */
    double current_sd_a;
};

/* Of one joint, by number from 0. */
void arm_friction_judge_joint(struct arm_friction_joint *joint, size_t number,
                              const struct arm_friction_thirds *thirds, bool doubt_units);
/* After all joints. */
void arm_friction_judge_whole(struct arm_friction_fit *fit,
                              const struct arm_friction_summary *summary);
/* After all joints were held against a recording that took no part. */
void arm_friction_judge_held_out(struct arm_friction_fit *fit);

#endif
