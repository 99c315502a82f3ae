/* twin/robots/l2_mission.h - L2, the deliberative layer: carries a mission out, step by step.
 *
 * What is still to be done stands on the machine's stack of states: a step pushes what follows
 * it, the end of the step pops it. A failure empties the stack and pushes another plan: go
 * home, then report.
 *
 *     IDLE --mission / push END--> STEP --path / push STEP--> FOLLOW --> FOLLOWING --ack--> pop
 *                                  STEP --sweep / push STEP--> SWEEP --> SWEEPING --ack--> pop
 *                                  STEP --goal / push STEP, FOLLOW--> PLAN --route--> pop
 *                                  STEP --no more--> pop (END), or by way of HOME
 *     failed: empty, push ABORT, FOLLOW --> HOME --route--> pop
 *     blocked on a route of its own: push FOLLOW --> PLAN or HOME again, a few times
 *
 * docs/model/missions.md section 3; seed 000 section 3.2.1, seed 001 section 3. Pure.
 */
#ifndef TWIN_ROBOTS_L2_MISSION_H
#define TWIN_ROBOTS_L2_MISSION_H

#include "base/names.h"
#include "twin/efsm/efsm.h"

enum l2_state {
    L2_IDLE,
    L2_STEP,   /* which step is next? */
    L2_PLAN,   /* a route to the goal of the step is wanted */
    L2_HOME,   /* a route to the start is wanted */
    L2_FOLLOW, /* L1: F */
    L2_FOLLOWING,
    L2_SWEEP, /* L1: S */
    L2_SWEEPING,
    L2_QUIT, /* L1: Q */
    L2_QUITTING,
    L2_END,     /* the user: done */
    L2_ABORT,   /* the user: failed */
    L2_STOPPED, /* the user: quit */
    L2_STATE_COUNT
};

enum l2_cell {
    L2_K,       /* steps begun */
    L2_ROUTES,  /* planned for this step */
    L2_HOMING,  /* 1 on the way back */
    L2_FAILED,  /* 1 when a step failed */
    L2_REFUSED, /* ever: missions that came while one was in work */
    L2_CELL_COUNT
};

enum l2_step { L2_STEP_NONE, L2_STEP_PATH, L2_STEP_SWEEP, L2_STEP_GOAL };

enum l2_event { /* one a cycle, in cycle 0 only */
                L2_EVENT_NONE,
                L2_EVENT_START, /* of the user */
                L2_EVENT_QUIT,
                L2_EVENT_ACK, /* of L1 */
                L2_EVENT_HALTED,
                L2_EVENT_BLOCKED, /* failed, an obstacle was in the way */
                L2_EVENT_FAILED,
                L2_EVENT_COUNT
};

struct l2_in {
    enum l2_event event;
    enum l2_step step; /* kind of step K */
    bool on_route;     /* step K - 1 is a goal: the way there is L2's own choice */
    bool routed;       /* the route asked for was found */
    bool returns;      /* at the end of all steps */
    bool returns_on_failure;
    double routes_max; /* per step */
};

enum l2_order { L2_ORDER_NONE, L2_ORDER_FOLLOW, L2_ORDER_SWEEP, L2_ORDER_QUIT };
enum l2_request { L2_REQUEST_NONE, L2_REQUEST_GOAL, L2_REQUEST_HOME };
enum l2_verdict { L2_VERDICT_NONE, L2_VERDICT_DONE, L2_VERDICT_FAILED, L2_VERDICT_QUIT };

struct l2_out { /* each for one cycle */
    enum l2_order order;
    enum l2_request request; /* answered in routed in the next cycle */
    enum l2_verdict verdict;
};

extern const struct efsm_table l2_table;

/* To IDLE, counters at zero. */
void l2_reset(struct efsm *m, int64_t t_us);

extern const struct names l2_verdict_names;
const char *l2_verdict_name(enum l2_verdict value); /* in words for people; "" for none */

#endif
