/* twin/control/motion_profile.h - how a joint is to move to its target: trapezoids of
 * speed, or S-curves with limited jerk, from any motion it is in.
 *
 * A profile is a few pieces of constant jerk: first over to a cruising speed, then on with it,
 * then down to rest on the target. It can be made anew while it runs, from the motion it has
 * then, so that position and speed (with a jerk limit: acceleration too) have no steps.
 *                                                      (docs/model/servo.md, eq. 12 - 15)
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

struct motion_profile { /* all zero: at rest at 0 */
    size_t count;
    struct motion_piece piece[MOTION_PIECES_MAX];
    double target;
    double duration_s;
};

/* STATUS_E_RANGE with err saying which limit cannot be. */
MUST_USE enum status motion_limits_check(const struct motion_limits *limits, struct err *err);

/* From the motion start, at time 0, to rest at target. start is finite; a speed or an
 * acceleration beyond its limit goes back to it without delay. Where start cannot come to rest
 * before the target it goes past it and returns. Trapezoids take no notice of start.a. Of
 * profiles with one cruising speed this is the quickest. Costs at most some 100 evaluations of
 * seven pieces. */
void motion_profile_make(struct motion_profile *profile, const struct motion_limits *limits,
                         const struct motion *start, double target);

/* Where it is t_s after its start; from duration_s on at rest, exactly on the target. */
void motion_profile_at(const struct motion_profile *profile, double t_s, struct motion *out);

/* The quickest way of a joint with a lag to its target: full speed on, full speed back, and
 * rest. No controller with the same limit on the command can be quicker; it knows the lag and
 * the limit exactly, which is why it is a bound to compare with. (docs/model/servo.md, eq. 16,
 * 17) */
struct time_optimal {
    double command; /* first; minus it after the switch */
    double switch_s, end_s;
};

/* For error = target - q, from speed w (before the gear, at most command_max), command_max > 0,
 * position_gain > 0, lag_s >= 0. */
void time_optimal_make(struct time_optimal *out, double command_max, double position_gain,
                       double lag_s, double error, double w);

/* Integral of the command from 0 to t_s. */
double time_optimal_travel(const struct time_optimal *plan, double t_s);

#endif
