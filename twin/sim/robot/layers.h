/* twin/sim/robot/layers.h - the upper layers of a mission's controller, above the robot's own
 * layer L0.
 *
 * L1, the executive layer, decomposes an order into commands to L0:
 *
 *   IDLE --F--> LEG --> GO --> MOVING --done--> LEG --no leg left--> ACK --> IDLE
 *   IDLE --S--> LIDAR --> RAY --data--> RESUME --> RAY --done--> ACK --> IDLE
 *   MOVING, RAY --Q--> HALT --> HALTING --> QUIT --> IDLE
 *   MOVING, RAY --refused or late--> FAIL, STOP --> FAIL --> IDLE
 *
 * Orders are F (follow path), S (lidar sweep) and Q (quit and wait). Each is answered with one
 * message: acknowledged, quit or failed. A command that was ignored and repeated gives a
 * warning.
 *
 * L2, the deliberative layer, executes a mission step by step. The rest of the plan is on the
 * machine's stack of states: a step pushes its successor, and the end of the step pops it. A
 * failure empties the stack and pushes another plan: go home, then report.
 *
 *   IDLE --mission / push END--> STEP --path / push STEP--> FOLLOW --> FOLLOWING --ack--> pop
 *                                STEP --sweep / push STEP--> SWEEP --> SWEEPING --ack--> pop
 *                                STEP --goal / push STEP, FOLLOW--> PLAN --route--> pop
 *                                STEP --no more--> pop (END), or by way of HOME
 *   failed: empty, push ABORT, FOLLOW --> HOME --route--> pop
 *   blocked on a route of its own: push FOLLOW --> PLAN or HOME again, a few times
 *
 * docs/model/missions.md; seed 000 section 3.2.1, seed 001 section 3. Pure.
 */
#ifndef TWIN_SIM_ROBOT_LAYERS_H
#define TWIN_SIM_ROBOT_LAYERS_H

#include "base/text/names.h"
#include "twin/efsm/efsm.h"

/* --- L1 ------------------------------------------------------------------------------- */

#define L1_STATES(X)                                                                           \
    X(L1_IDLE, "IDLE")                                                                         \
    X(L1_LEG, "LEG")       /* choose the next leg */                                           \
    X(L1_GO, "GO")         /* L0: go */                                                        \
    X(L1_MOVING, "MOVING") /* waits for its reply */                                           \
    X(L1_LIDAR, "LIDAR")   /* L0: lidar */                                                     \
    X(L1_RAY, "RAY")       /* waits for the next ray or the end of the sweep */                \
    X(L1_RESUME, "RESUME") /* L0: resume */                                                    \
    X(L1_HALT, "HALT")     /* L0: halt, for Q */                                               \
    X(L1_HALTING, "HALTING")                                                                   \
    X(L1_STOP, "STOP") /* L0: halt, because its reply is late */                               \
    X(L1_ACK, "ACK")   /* L2: done */                                                          \
    X(L1_QUIT, "QUIT") /* L2: quit */                                                          \
    X(L1_FAIL, "FAIL") /* L2: failed */

enum l1_state { L1_STATES(NAMES_VALUE) L1_STATE_COUNT };

enum l1_cell {
    L1_J,        /* completed legs */
    L1_TRIES,    /* attempts of the ignored command */
    L1_RAYS,     /* rays of this sweep */
    L1_UNTIL,    /* deadline of L0's reply, us */
    L1_WARNINGS, /* in all: commands ignored, sweeps cut short */
    L1_REFUSED,  /* in all: orders refused during another one */
    L1_CELL_COUNT
};

/* One event per cycle, in cycle 0 only. */
enum l1_event {
    L1_EVENT_NONE,
    L1_EVENT_FOLLOW, /* orders from L2 */
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
    unsigned event;     /* enum l1_event */
    double leg_count;   /* legs of the path */
    bool leg_is_short;  /* the robot is already at the end of leg J */
    double patience_us; /* per command */
    double tries_max;   /* per ignored command */
    double rays_max;    /* per sweep */
};

enum l1_command {
    L1_COMMAND_NONE,
    L1_COMMAND_GO,
    L1_COMMAND_LIDAR,
    L1_COMMAND_RESUME,
    L1_COMMAND_HALT
};

ENUM_NAMES_DECLARED(l1_command); /* "go", "lidar" …; "" for none */

extern const struct efsm_table l1_table;

/* --- L2 ------------------------------------------------------------------------------- */

#define L2_STATES(X)                                                                           \
    X(L2_IDLE, "IDLE")                                                                         \
    X(L2_STEP, "STEP")     /* choose the next step */                                          \
    X(L2_PLAN, "PLAN")     /* needs a route to the goal of the step */                         \
    X(L2_HOME, "HOME")     /* needs a route to the start */                                    \
    X(L2_FOLLOW, "FOLLOW") /* L1: F */                                                         \
    X(L2_FOLLOWING, "FOLLOWING")                                                               \
    X(L2_SWEEP, "SWEEP") /* L1: S */                                                           \
    X(L2_SWEEPING, "SWEEPING")                                                                 \
    X(L2_QUIT, "QUIT") /* L1: Q */                                                             \
    X(L2_QUITTING, "QUITTING")                                                                 \
    X(L2_END, "END")         /* the user: done */                                              \
    X(L2_ABORT, "ABORT")     /* the user: failed */                                            \
    X(L2_STOPPED, "STOPPED") /* the user: quit */

enum l2_state { L2_STATES(NAMES_VALUE) L2_STATE_COUNT };

enum l2_cell {
    L2_K,       /* steps begun */
    L2_ROUTES,  /* routes planned for this step */
    L2_HOMING,  /* 1 on the way back */
    L2_FAILED,  /* 1 after a failed step */
    L2_REFUSED, /* in all: missions refused during another one */
    L2_CELL_COUNT
};

enum l2_step { L2_STEP_NONE, L2_STEP_PATH, L2_STEP_SWEEP, L2_STEP_GOAL };

enum l2_event { /* one per cycle, in cycle 0 only */
                L2_EVENT_NONE,
                L2_EVENT_START, /* from the user */
                L2_EVENT_QUIT,
                L2_EVENT_ACK, /* messages of L1 */
                L2_EVENT_HALTED,
                L2_EVENT_BLOCKED, /* failed because of an obstacle */
                L2_EVENT_FAILED,
                L2_EVENT_COUNT
};

struct l2_in {
    unsigned event;    /* enum l2_event */
    enum l2_step step; /* kind of step K */
    bool on_route;     /* step K - 1 is a goal, so L2 chose the route itself */
    bool routed;       /* the requested route was found */
    bool returns;      /* after all steps */
    bool returns_on_failure;
    double routes_max; /* per step */
};

enum l2_request { L2_REQUEST_NONE, L2_REQUEST_GOAL, L2_REQUEST_HOME };
enum l2_verdict { L2_VERDICT_NONE, L2_VERDICT_DONE, L2_VERDICT_FAILED, L2_VERDICT_QUIT };

ENUM_NAMES_DECLARED(l2_verdict); /* for people; "" for none */

extern const struct efsm_table l2_table;

/* --- outputs of a state, for one cycle each --------------------------------------------- */

struct l1_out {
    enum l1_command command; /* to L0 */
    enum l2_event message;   /* to L2: ACK, HALTED or FAILED */
};

struct l2_out {
    enum l1_event order;     /* to L1: FOLLOW, SWEEP or QUIT */
    enum l2_request request; /* answered by `routed` in the next cycle */
    enum l2_verdict verdict;
};

#endif
