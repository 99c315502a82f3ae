/* twin/pair/smartlog.h - the smart data logger: one machine per open command.
 *
 *     IDLE --command--> WAIT --real--> BEHIND --virtual--> LOG --> IDLE
 *                        '--virtual--> AHEAD --real--'
 *
 * AHEAD: the virtual robot is through and the real one is awaited; BEHIND: the other way round.
 * "Through" means answered, timed out, or not asked. LOG is where the entry is written (Moore).
 * docs/model/pair.md section 2; seed 000 Figure 9. Pure.
 */
#ifndef TWIN_PAIR_SMARTLOG_H
#define TWIN_PAIR_SMARTLOG_H

#include <stdbool.h>

#include "logger/message/event.h"
#include "twin/efsm/efsm.h"

enum smartlog_state {
    SMARTLOG_IDLE,
    SMARTLOG_WAIT,
    SMARTLOG_AHEAD,
    SMARTLOG_BEHIND,
    SMARTLOG_LOG,
    SMARTLOG_STATE_COUNT
};

enum smartlog_cell {
    SMARTLOG_T,    /* lab time of the command, s */
    SMARTLOG_LAP1, /* command to the first robot's end, s; undefined when it timed out */
    SMARTLOG_LAP2, /* to the second robot's */
    SMARTLOG_CELL_COUNT
};

struct smartlog_in {
    bool command;             /* event: a command arrived */
    bool through[SIDE_COUNT]; /* level: this side is through */
    double t_s;               /* of the command */
    double lap_s[SIDE_COUNT]; /* NaN: none */
};

struct smartlog_out {
    bool log; /* write the entry now */
};

extern const struct efsm_table smartlog_table;

#endif
