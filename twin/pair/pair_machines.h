/* twin/pair/pair_machines.h - the state machines of a pair.
 *
 * `smartlog`, one per open command, is the smart data logger:
 *
 *   IDLE --command--> WAIT --real--> BEHIND --virtual--> LOG --> IDLE
 *                      '--virtual--> AHEAD --real--'
 *
 * AHEAD: the virtual robot is through and the real one is awaited; BEHIND: vice versa.
 * "Through" means answered, timed out, or not sent. LOG writes the entry (Moore).
 * docs/model/pair.md section 2; seed 000 Figure 9.
 *
 * The two others are the real/virtual link between the upper and the lower layers of the
 * controller, in link mode only. `dispatch`, one per side, gives the side its next command when
 * the previous one is done. `link`, one per open command, builds the single reply to L1. The
 * real robot has priority; if it is absent, the virtual one replies. D counts the cycles that
 * the virtual robot lags.
 *
 *   dispatch:  READY --queued--> SEND --> BUSY --done--> READY
 *   link:      IDLE --command--> WAIT --R--> ANSWER --> BEHIND --V--> IDLE
 *                                 '--V--> AHEAD --R--> ANSWER --> IDLE
 *              real timed out: FAIL instead of ANSWER; real absent: WAIT --V--> STAND_IN -->
 *              IDLE
 *
 * docs/model/pair.md section 3; seed 000 Figure 8. Pure.
 */
#ifndef TWIN_PAIR_PAIR_MACHINES_H
#define TWIN_PAIR_PAIR_MACHINES_H

#include <stdbool.h>

#include "base/text/names.h"
#include "logger/message/event.h"
#include "twin/efsm/efsm.h"

/* Inputs of smartlog and link about their command. */
struct command_in {
    bool command;              /* event: it arrived */
    bool expected[SIDE_COUNT]; /* levels: the side must answer … */
    bool answered[SIDE_COUNT]; /* … and has answered in time … */
    bool timed_out[SIDE_COUNT];
    double t_s;               /* lab time of the command */
    double now_s;             /* lab time now */
    double lap_s[SIDE_COUNT]; /* NaN: none */
    double cycle_s;           /* of the controller */
};

/* clang-format off */
#define SMARTLOG_STATES(X)                                                                     \
    X(SMARTLOG_IDLE, "IDLE") X(SMARTLOG_WAIT, "WAIT") X(SMARTLOG_AHEAD, "AHEAD")               \
    X(SMARTLOG_BEHIND, "BEHIND") X(SMARTLOG_LOG, "LOG")
#define LINK_STATES(X)                                                                         \
    X(LINK_IDLE, "IDLE") X(LINK_WAIT, "WAIT")                                                  \
    X(LINK_AHEAD, "AHEAD") /* the virtual robot is through, the real one is awaited */         \
    X(LINK_BEHIND, "BEHIND") /* L1 has its reply, the virtual robot is awaited */              \
    /* M = the real robot's reply; the virtual robot's; an error */                            \
    X(LINK_ANSWER, "ANSWER") X(LINK_STAND_IN, "STAND_IN") X(LINK_FAIL, "FAIL")
#define DISPATCH_STATES(X)                                                                     \
    X(DISPATCH_READY, "READY") X(DISPATCH_SEND, "SEND") X(DISPATCH_BUSY, "BUSY")
/* clang-format on */

enum smartlog_state { SMARTLOG_STATES(NAMES_VALUE) };
enum link_state { LINK_STATES(NAMES_VALUE) };
enum dispatch_state { DISPATCH_STATES(NAMES_VALUE) };

enum smartlog_cell {
    SMARTLOG_T,    /* lab time of the command, s */
    SMARTLOG_LAP1, /* command to the first robot's end, s; undefined when it timed out */
    SMARTLOG_LAP2  /* command to the second robot's end, s */
};

enum link_cell {
    LINK_T_REAL, /* lab time of the reply to L1, s */
    LINK_D       /* cycles that the virtual robot lagged */
};

struct dispatch_in {
    bool queued; /* a command waits for this side */
    bool done;   /* the side has finished its command */
};

extern const struct efsm_table smartlog_table;
extern const struct efsm_table link_table;
extern const struct efsm_table dispatch_table;

#endif
