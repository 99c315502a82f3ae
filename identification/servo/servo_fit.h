/* identification/servo/servo_fit.h - stiffness, damping, friction, droop and delay of a
 * position-commanded servo.
 *
 *     minimise  sum (position - simulated)^2          (docs/model/position_servo.md, eq. 1 - 3)
 *
 * A linear regression gives the start, Levenberg-Marquardt the result. Extended models (limits,
 * gravity by angle, play) are kept where the data ask for them. Deterministic, no I/O, no
 * clock. Cold path: allocates through GSL while it runs and frees all of it. The number of
 * integration steps is limited.
 */
#ifndef IDENTIFICATION_SERVO_SERVO_FIT_H
#define IDENTIFICATION_SERVO_SERVO_FIT_H

#include "base/text/names.h"
#include "identification/fit/estimate.h"
#include "identification/servo/servo_simulation.h"

enum servo_parameter {
    SERVO_NATURAL_FREQUENCY, /* rad/s */
    SERVO_DAMPING_RATIO,
    SERVO_POSITION_GAIN, /* 1/s: decay rate of an error, wn / (2 zeta) */
    SERVO_DEAD_BAND,     /* rad, half the width */
    SERVO_DROOP,         /* rad */
    SERVO_DELAY,         /* s */
    /* Extended models have the others; NaN where the data do not ask for them. */
    SERVO_PLAY,               /* rad; always has an upper limit */
    SERVO_SPEED_LIMIT,        /* rad/s */
    SERVO_ACCELERATION_LIMIT, /* rad/s^2 */
    SERVO_DROOP_SIN,          /* rad */
    SERVO_DROOP_COS,          /* rad */
    SERVO_P
};

enum servo_limit { SERVO_NO_LIMIT, SERVO_TORQUE_LIMIT, SERVO_PROFILE, SERVO_LIMITS };

/* Quality of the prediction of positions from commands and first positions alone. */
struct servo_check {
    size_t positions;
    double rmse_rad, max_rad;
    double r2;      /* about the mean; NaN: no motion */
    double delay_s; /* that was used: that of the fit, or one within a row of it */
};

struct servo_fit {
    size_t n, runs, iterations;
    uint64_t steps;
    bool converged, exhausted; /* exhausted: it stopped at the limit of steps */
    struct estimate estimate;
    enum servo_limit limit;
    double play_chi2;      /* how much better play explains the positions; NaN: not tried */
    double coloured_ratio; /* predictable residual, as a ratio of the motion's sd */
    double sides_ratio;    /* how much more a radian is worth above zero than below */
    double sides_se;       /* its standard error */
    double hac_share;      /* of the rows over which the errors allow for autocorrelation */
    double phase_rad;      /* residual that commands would cause if they changed between rows */
    /* Speed of the command, and its frequency at the amplitude there, above which the servo
     * does not follow; NaN: none. */
    double fast_radps, fast_hz, fast_amplitude_rad;
    struct servo_law law;
    struct servo_check own;
};

/* Sets everything to unknown. */
void servo_fit_start(struct servo_fit *fit);

/* Fits. Returns STATUS_E_NOMEM or STATUS_E_MATH with *fit unchanged, else STATUS_OK:
 * a recording in which nothing moves is an answer, with its verdict. */
MUST_USE enum status servo_fit_run(const struct servo_set *set,
                                   const struct servo_summary *summary, struct servo_fit *fit);

/* Computes how well a fit predicts other recordings; their commands may change elsewhere
 * between two rows, so that the delay may differ by a row. Returns STATUS_E_ARG if the fit
 * determined nothing, STATUS_E_NOMEM. */
MUST_USE enum status servo_check_run(const struct servo_set *set, const struct servo_fit *fit,
                                     struct servo_check *check);

/* Lowers the verdict if other recordings contradict the fit. */
void servo_judge_held_out(struct servo_fit *fit, const struct servo_check *held_out);

/* Adds a reason for positions that seem to have another unit. */
void servo_judge_units(struct servo_fit *fit, const struct servo_summary *summary);

ENUM_NAMES_DECLARED(servo_parameter); /* "natural_frequency_radps" … */
ENUM_NAMES_DECLARED(servo_limit);     /* "none" "torque" "profile" */

#endif
