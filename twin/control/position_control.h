/* twin/control/position_control.h - position controllers of a joint with a speed servo, behind
 * one interface: proportional, state machine, profile, and time-optimal.
 *
 * All see the measured position and speed and output a speed command within +-command_max. The
 * last two know the joint's lag: they plan and track the point z = q + k lag w where it would
 * coast to rest, because z' = k u whatever the lag.    (docs/model/servo.md)
 *
 * Plain data without pointers. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_CONTROL_POSITION_CONTROL_H
#define TWIN_CONTROL_POSITION_CONTROL_H

#include <stdbool.h>

#include "base/text/names.h"
#include "twin/control/motion_profile.h"
#include "twin/efsm/efsm.h"

enum position_kind {
    POSITION_P,
    POSITION_FSM,
    POSITION_PROFILE,
    POSITION_TIME_OPTIMAL,
    POSITION_KIND_COUNT
};

struct position_params {
    enum position_kind kind;
    double period_s;                 /* > 0 */
    double command_max, command_min; /* max > 0, 0 <= min <= max; min: for P and the machine */
    double gain_per_s;               /* kc > 0, for P and the machine's last part */
    double stop;                     /* P >= 0: no command at errors up to this */
    double near_by, slow;            /* windows of the machine: slow >= near_by > 0 */
    /* >= 0: the machine rests within it, once the joint does not coast beyond it, and its last
     * part has no least command; 0: rests within half of near_by, at whatever speed, as in the
     * paper */
    double rest;
    double tracking_per_s;       /* > 0: for the coasting point, last two kinds */
    double lag_s, position_gain; /* estimates of the joint: lag >= 0, gain > 0 */
    struct motion_limits limits; /* of the profile; the joint may need lower ones */
};

struct position_control { /* All zero: initial state. */
    bool started;
    double command; /* of the previous step */
    double target;
    double elapsed_s; /* since the plan was made */
    int64_t steps;
    struct efsm machine;
    struct motion_profile profile;
    struct time_optimal quickest;
};

/* "p", "fsm", "profile", "time_optimal". */
ENUM_NAMES_DECLARED(position_kind);

/* Returns the distance from the target at which the machine must slow down: the coasting
 * distance from full to slow speed, plus margin >= 0; at least near_by. Eq. 11. */
double position_slow_window(const struct position_params *p, double margin);

/* Returns the profile's limits reduced to what this joint can follow: eq. 19. */
struct motion_limits position_profile_limits(const struct position_params *p);

/* STATUS_E_RANGE with err: which number is invalid, and what would be right. */
MUST_USE enum status position_check(const struct position_params *p, struct err *err);

/* Runs one period. *command is always written, and within the limits. False, with the previous
 * command, if target, q or w is not finite. The target may change at any time. */
bool position_step(struct position_control *c, const struct position_params *p, double target,
                   double q, double w, double *command);

#endif
