/* twin/sim/experiment/joint_trial.h - one simulated movement of a joint under a position
 * controller, and what it is worth.
 *
 *     ISE = h Σ e^2,  IAE = h Σ |e|,  ITAE = h Σ t |e|,  e = set point - q at every control
 *                                                    period h  (docs/model/servo.md, eq. 20)
 *
 * Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_SIM_EXPERIMENT_JOINT_TRIAL_H
#define TWIN_SIM_EXPERIMENT_JOINT_TRIAL_H

#include "twin/control/position_control.h"
#include "twin/control/servo_joint.h"

struct joint_trial_params {
    struct servo_joint_params joint; /* as it is; the controller's own idea is in control */
    /* The time constant of a motor whose speed a PID controls, tuned so that it lags as the
     * joint does; 0: the joint's speed lags by itself. And the most that the PID asks of it, as
     * the speed where it would settle; 0: no limit. */
    double motor_lag_s, motor_max;
    enum servo_method method;
    struct position_params control;
    double set_point;  /* finite; it starts at rest at 0 */
    double load;       /* torque, all the time */
    double duration_s; /* > 0 */
    double sample_s;   /* a multiple of control.period_s: of the sums */
};

struct joint_indices {
    double ise, iae, itae;
};

struct joint_trial_result {
    struct joint_indices integral; /* times the period */
    struct joint_indices sum;      /* Σ over samples every sample_s, as they are published */
    double settle_s;               /* after which the error stays within 2 % of the set point */
    double rest_s;                 /* from which on there is no command; NaN: there always is */
    double overshoot;              /* largest error beyond the set point, >= 0 */
    double final_error;
    double speed_max; /* of the joint */
};

struct joint_trial_point {
    double t_s, q, w, command;
};

/* STATUS_E_RANGE with err saying what cannot be. */
MUST_USE enum status joint_trial_check(const struct joint_trial_params *p, struct err *err);

/* Run it. p has passed joint_trial_check(). point, optional, is called at every sample_s. */
void joint_trial_run(const struct joint_trial_params *p,
                     void (*point)(void *context, const struct joint_trial_point *point),
                     void *context, struct joint_trial_result *result);

#endif
