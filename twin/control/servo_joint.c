#include "twin/control/servo_joint.h"

#include <math.h>

void servo_joint_step(struct servo_joint *joint, const struct servo_joint_params *p,
                      enum servo_method method, double period_s, double u, double load)
{
    const double free_radps = p->speed_gain * u - p->load_gain * load;
    const double settled = fmin(fmax(free_radps, -p->speed_radps_max), p->speed_radps_max);
    const double before = joint->w_radps;
    if (method == SERVO_EULER) {
        const double alpha = p->lag_s / (p->lag_s + period_s);
        joint->w_radps = alpha * before + (1.0 - alpha) * settled;
        joint->q_rad += period_s * p->position_gain * joint->w_radps;
        return;
    }
    const double gone = p->lag_s > 0.0 ? -expm1(-period_s / p->lag_s) : 1.0; /* 1 - alpha */
    joint->w_radps = before + gone * (settled - before);
    joint->q_rad +=
        p->position_gain * (settled * period_s + (before - settled) * p->lag_s * gone);
}
