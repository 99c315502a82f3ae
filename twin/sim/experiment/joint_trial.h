/* twin/sim/experiment/joint_trial.h - one simulated movement of a joint under a position
 * controller, and its performance indices.
 *
 *   ISE = h Σ e^2,  IAE = h Σ |e|,  ITAE = h Σ t |e|,  e = set point - q at every control
 *                                                  period h  (docs/model/servo.md, eq. 20)
 *
 * Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_SIM_EXPERIMENT_JOINT_TRIAL_H
#define TWIN_SIM_EXPERIMENT_JOINT_TRIAL_H

#include "twin/control/position_control.h"
#include "twin/control/servo_joint.h"

struct joint_trial_params {
    struct servo_joint_params joint; /* true joint; the controller's estimate is in control */
    /* Time constant of a motor under a PID speed controller, tuned so that it lags like the
     * joint; 0: the joint's speed lags by itself. motor_max: limit of the PID's output, as the
     * steady speed; 0: no limit. */
    double motor_lag_s, motor_max;
    enum servo_method method;
    struct position_params control;
    double set_point;  /* finite; the joint starts at rest at 0 */
    double load;       /* constant torque */
    double duration_s; /* > 0 */
    double sample_s;   /* a multiple of control.period_s: interval of the sums */
};

struct joint_indices {
    double ise, iae, itae;
};

struct joint_trial_result {
    struct joint_indices integral; /* sums times the period */
    struct joint_indices sum;      /* Σ over samples every sample_s, as in publications */
    double settle_s;  /* time after which the error stays within 2 % of the set point */
    double rest_s;    /* time after which there is no command; NaN: never */
    double overshoot; /* largest error beyond the set point, >= 0 */
    double final_error;
    double speed_max; /* of the joint */
};

struct joint_trial_point {
    double t_s, q, w, command;
};

/* STATUS_E_RANGE with err: what is invalid. */
MUST_USE enum status joint_trial_check(const struct joint_trial_params *p, struct err *err);

/* Runs it after joint_trial_check() has passed. point, optional, is called at every
 * sample_s. */
void joint_trial_run(const struct joint_trial_params *p,
                     void (*point)(void *context, const struct joint_trial_point *point),
                     void *context, struct joint_trial_result *result);

#endif
