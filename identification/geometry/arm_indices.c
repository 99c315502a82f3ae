#include "identification/geometry/arm_indices.h"

#include <math.h>
#include <string.h>

void arm_indices_begin(struct arm_indices *x, const double goal_rad[ARM_JOINTS])
{
    *x = (struct arm_indices){.begun = true};
    memcpy(x->goal_rad, goal_rad, sizeof x->goal_rad);
}

void arm_indices_step(struct arm_indices *x, const double q_rad[ARM_JOINTS], double h_s)
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        if (!x->begun || !isfinite(x->goal_rad[j] - q_rad[j])) {
            return;
        }
    }
    x->t_s += h_s;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const double error = x->goal_rad[j] - q_rad[j];
        x->ise[j] += h_s * error * error;
        x->iae[j] += h_s * fabs(error);
        x->itae[j] += h_s * x->t_s * fabs(error);
    }
}
