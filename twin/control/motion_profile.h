/* twin/control/motion_profile.h - motion profiles of a joint to its target: trapezoids of
 * speed, or S-curves with limited jerk, from any initial motion.
 *
 * A profile is a few pieces of constant jerk: first to a cruising speed, then at it, then down
 * to rest at the target. It can be recomputed from the present motion at any time, so that
 * position and speed (with a jerk limit also acceleration) have no steps.
 *                                                    (docs/model/servo.md, eq. 12 - 15)
 * Plain data. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_CONTROL_MOTION_PROFILE_H
#define TWIN_CONTROL_MOTION_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/err.h"

enum { MOTION_PIECES_MAX = 8 };

struct motion_limits {
    double speed;        /* > 0, finite */
    double acceleration; /* > 0, finite: while the speed grows */
    double deceleration; /* > 0, finite: while it falls */
    double jerk;         /* > 0; infinite: a trapezoid */
};

struct motion {
    double q, v, a;
};

struct motion_piece {
    double duration_s;
    struct motion start;
    double jerk;
};

struct motion_profile { /* All zero: at rest at 0. */
    size_t count;
    struct motion_piece piece[MOTION_PIECES_MAX];
    double target;
    double duration_s;
};

/* STATUS_E_RANGE with err: which limit is invalid. */
MUST_USE enum status motion_limits_check(const struct motion_limits *limits, struct err *err);

/* Plans from the motion start, at time 0, to rest at target. start must be finite; a speed or
 * acceleration beyond its limit returns to it without delay. If start cannot stop before the
 * target, it overshoots and returns. Trapezoids ignore start.a. The result is the fastest
 * profile with one cruising speed. Costs at most some 100 evaluations of seven pieces. */
void motion_profile_make(struct motion_profile *profile, const struct motion_limits *limits,
                         const struct motion *start, double target);

/* Computes the motion t_s after the start; from duration_s on at rest, exactly at the
 * target. */
void motion_profile_at(const struct motion_profile *profile, double t_s, struct motion *out);

/* The fastest motion of a joint with a lag to its target: full speed towards it, full speed
 * back, and rest. No controller with the same limit of the command can be faster. It needs
 * exact lag and limit, so it is a bound for comparison. (docs/model/servo.md, eq. 16, 17) */
struct time_optimal {
    double command; /* first command; the second is its negative */
    double switch_s, end_s;
};

/* Plans for error = target - q, from speed w (before the gear, at most command_max),
 * command_max > 0, position_gain > 0, lag_s >= 0. */
void time_optimal_make(struct time_optimal *out, double command_max, double position_gain,
                       double lag_s, double error, double w);

/* Returns the integral of the command from 0 to t_s. */
double time_optimal_travel(const struct time_optimal *plan, double t_s);

#endif
