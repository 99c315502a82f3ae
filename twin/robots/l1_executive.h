/* twin/robots/l1_executive.h - L1, the executive layer: decomposes an order into commands of
 * L0.
 *
 *     IDLE --F--> LEG --> GO --> MOVING --done--> LEG --no leg left--> ACK --> IDLE
 *     IDLE --S--> LIDAR --> RAY --data--> RESUME --> RAY --done--> ACK --> IDLE
 *     MOVING, RAY --Q--> HALT --> HALTING --> QUIT --> IDLE
 *     MOVING, RAY --refused or late--> FAIL, STOP --> FAIL --> IDLE
 *
 * Orders are F (follow path), S (lidar sweep) and Q (quit and wait). Each is answered with one
 * message: acknowledged, quit or failed; what was ignored and tried again is a warning.
 * docs/model/missions.md section 2; seed 001 section 3. Pure.
 */
#ifndef TWIN_ROBOTS_L1_EXECUTIVE_H
#define TWIN_ROBOTS_L1_EXECUTIVE_H

#include "base/names.h"
#include "twin/efsm/efsm.h"

enum l1_state {
    L1_IDLE,
    L1_LEG,    /* which leg is next? */
    L1_GO,     /* L0: go */
    L1_MOVING, /* its reply is awaited */
    L1_LIDAR,  /* L0: lidar */
    L1_RAY,    /* the next ray or the end of the sweep is awaited */
    L1_RESUME, /* L0: resume */
    L1_HALT,   /* L0: halt, for Q */
    L1_HALTING,
    L1_STOP, /* L0: halt, because its reply is late */
    L1_ACK,  /* L2: done */
    L1_QUIT, /* L2: quit */
    L1_FAIL, /* L2: failed */
    L1_STATE_COUNT
};

enum l1_cell {
    L1_J,        /* legs that are done */
    L1_TRIES,    /* of the command that was ignored */
    L1_RAYS,     /* of this sweep */
    L1_UNTIL,    /* when patience with L0 ends, us */
    L1_WARNINGS, /* ever: commands ignored, sweeps cut short */
    L1_REFUSED,  /* ever: orders that came while another was in work */
    L1_CELL_COUNT
};

/* One event a cycle, in cycle 0 only. */
enum l1_event {
    L1_EVENT_NONE,
    L1_EVENT_FOLLOW, /* orders of L2 */
    L1_EVENT_SWEEP,
    L1_EVENT_QUIT,
    L1_EVENT_DONE, /* replies of L0 to the last command */
    L1_EVENT_DATA,
    L1_EVENT_BLOCKED,
    L1_EVENT_HALTED,
    L1_EVENT_IGNORED,
    L1_EVENT_ERROR,
    L1_EVENT_COUNT
};

struct l1_in {
    enum l1_event event;
    double leg_count;   /* of the path */
    bool leg_is_short;  /* the robot is at the end of leg J already */
    double patience_us; /* with one command */
    double tries_max;   /* of a command that is ignored */
    double rays_max;    /* of a sweep */
};

enum l1_command {
    L1_COMMAND_NONE,
    L1_COMMAND_GO,
    L1_COMMAND_LIDAR,
    L1_COMMAND_RESUME,
    L1_COMMAND_HALT
};
enum l1_message { L1_MESSAGE_NONE, L1_MESSAGE_ACK, L1_MESSAGE_QUIT, L1_MESSAGE_FAIL };

struct l1_out {
    enum l1_command command; /* to L0, for one cycle */
    enum l1_message message; /* to L2, for one cycle */
};

extern const struct efsm_table l1_table;

/* To IDLE, counters at zero. */
void l1_reset(struct efsm *m, int64_t t_us);

extern const struct names l1_command_names;
const char *l1_command_name(enum l1_command value); /* "go", "lidar" …; "" for none */

#endif
