/* twin/pair/link.h - the real/virtual link between the upper and the lower layers of the
 * controller.
 *
 * Link mode only. Two machines: `dispatch`, one per side, hands the side its next command when
 * it has done the one before; `link`, one per open command, builds the single reply to L1. The
 * real robot has priority; if it is absent the virtual one answers for it; D counts how many
 * cycles the virtual robot lags.
 *
 *   dispatch:  READY --queued--> SEND --> BUSY --done--> READY
 *   link:      IDLE --command--> WAIT --R--> ANSWER --> BEHIND --V--> IDLE
 *                                 '--V--> AHEAD --R--> ANSWER --> IDLE
 *              real timed out: FAIL instead of ANSWER; real absent: WAIT --V--> STAND_IN -->
 * IDLE
 *
 * docs/model/pair.md section 3; seed 000 Figure 8. Pure.
 */
#ifndef TWIN_PAIR_LINK_H
#define TWIN_PAIR_LINK_H

#include <stdbool.h>

#include "logger/message/event.h"
#include "twin/efsm/efsm.h"

enum link_state {
    LINK_IDLE,
    LINK_WAIT,
    LINK_AHEAD,    /* the virtual robot is through, the real one is awaited */
    LINK_BEHIND,   /* L1 has its reply, the virtual robot is awaited */
    LINK_ANSWER,   /* M = the real robot's reply */
    LINK_STAND_IN, /* M = the virtual robot's reply */
    LINK_FAIL,     /* M = error */
    LINK_STATE_COUNT
};

enum link_cell {
    LINK_T_REAL, /* lab time at which L1 got its reply, s */
    LINK_D,      /* cycles the virtual robot lagged */
    LINK_CELL_COUNT
};

struct link_in {
    bool command;              /* event */
    bool answered[SIDE_COUNT]; /* levels of this command */
    bool timed_out[SIDE_COUNT];
    bool expected[SIDE_COUNT];
    double t_s; /* lab time now */
    double cycle_s;
};

enum link_reply { LINK_NONE, LINK_REAL, LINK_VIRTUAL, LINK_ERROR };

struct link_out {
    enum link_reply reply; /* to L1, now */
};

enum dispatch_state { DISPATCH_READY, DISPATCH_SEND, DISPATCH_BUSY, DISPATCH_STATE_COUNT };

struct dispatch_in {
    bool queued; /* a command waits for this side */
    bool done;   /* the side is through with the one it has */
};

struct dispatch_out {
    bool send; /* hand out the oldest waiting command now */
};

extern const struct efsm_table link_table;
extern const struct efsm_table dispatch_table;

#endif
