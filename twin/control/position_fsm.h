/* twin/control/position_fsm.h - a position controller as a state machine: full speed, slow
 * speed near the target, a proportional last part, rest.
 *
 *  REST --e > S--> FAST_UP --e < D--> SLOW_UP --e < S--> NEAR --|e|, |c| < R--> REST
 *
 * and the same downwards. c is the distance that the joint still coasts at its speed, because a
 * joint released in motion could come to rest anywhere. A new set point and a change of the
 * error's sign lead out of every state. Errors are sampled, so several arcs may be taken in one
 * period.
 *                                                        (docs/model/servo.md)
 * Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_CONTROL_POSITION_FSM_H
#define TWIN_CONTROL_POSITION_FSM_H

#include "base/text/names.h"
#include "twin/efsm/efsm.h"

#define POSITION_FSM_STATES(X)                                                                 \
    X(POSITION_FSM_REST, "REST")                                                               \
    X(POSITION_FSM_FAST_UP, "FAST_UP")                                                         \
    X(POSITION_FSM_SLOW_UP, "SLOW_UP")                                                         \
    X(POSITION_FSM_FAST_DOWN, "FAST_DOWN")                                                     \
    X(POSITION_FSM_SLOW_DOWN, "SLOW_DOWN")                                                     \
    X(POSITION_FSM_NEAR, "NEAR")

enum position_fsm_state { POSITION_FSM_STATES(NAMES_VALUE) POSITION_FSM_STATE_COUNT };

struct position_fsm_in {
    double error;
    double coast;               /* remaining coasting distance: lag times speed */
    double slow, near_by, rest; /* windows D >= S > 0, R > 0 */
    double fast_command, slow_command;
    double near_command; /* command of the proportional law */
};

extern const struct efsm_table position_fsm_table;

/* Runs one period: as many arcs as the error leads through. Returns the command; 0 in a fault,
 * which finite inputs never cause. */
double position_fsm_step(struct efsm *machine, const struct position_fsm_in *in, int64_t t_us);

#endif
