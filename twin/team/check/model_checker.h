/* twin/team/check/model_checker.h - a model checker for small teams: explores every order in
 * which their work can happen.
 *
 * It runs the team's own step (twin/team/step/team.h). From each state each activity may end
 * next, several in one instant, and, on request, activities may fail or robots fall silent for
 * good. Durations are left open, and so are the ends of delays, the next look of IdPrt, and the
 * ends of leases. Two states are equal if the same can follow: times and fences are left out
 * (team_key()), and every other byte is compared. The search is breadth first. The possible
 * ends are the sets of states that are never left (twin/team/check/terminal_states.h). Pure;
 * the memory is the caller's. docs/model/teams_theory.md, "Model checker".
 *
 * Not explored: windows (a time-out is a failure), clients' own locks, interventions of people.
 */
#ifndef TWIN_TEAM_CHECK_MODEL_CHECKER_H
#define TWIN_TEAM_CHECK_MODEL_CHECKER_H

#include "twin/team/check/team_states.h"
#include "twin/team/check/team_untimed.h"
#include "twin/team/step/team.h"

enum { TEAM_TOGETHER_MAX = 3 };

/* Possible next events; `subject` is a robot, or a resource (DELAY). */
/* clang-format off */
#define TEAM_MOVES(X)                                                                          \
    X(TEAM_MOVE_START, "starts") /* the robots of the next start time; subject 0 */            \
    X(TEAM_MOVE_DONE, "ends")                                                                  \
    X(TEAM_MOVE_DELAY, "delay") /* the delay of a freed resource is over */                    \
    X(TEAM_MOVE_RETRY, "looks again")                                                          \
    X(TEAM_MOVE_FAIL, "fails")                                                                 \
    X(TEAM_MOVE_SILENT, "falls silent") /* its leases end */

/* Kinds of ends, the worst first. UNEXPLAINED means a bug of Tandem. LIVELOCK and UNEXPLAINED
 * are never intended. */
#define TEAM_ENDS(X)                                                                           \
    X(TEAM_END_UNEXPLAINED, "unexplained") /* robots wait for ever without an alarm */         \
    X(TEAM_END_LIVELOCK, "livelock")       /* endless steps in one instant */                  \
    X(TEAM_END_DEADLOCK, "deadlock")       /* robots wait for ever for each other; an alarm reported it */ \
    X(TEAM_END_STARVED, "starved")   /* robots wait for ever while others work for ever */     \
    X(TEAM_END_BLOCKED, "blocked")   /* robots wait for ever behind a failure; an alarm reported it */ \
    X(TEAM_END_FAILED, "failed")     /* robots in Error, nobody waits */                       \
    X(TEAM_END_ENDLESS, "endless")   /* nobody waits for ever, somebody always works */        \
    X(TEAM_END_FINISHED, "finished")

#define TEAM_STOPS(X)                                                                          \
    X(TEAM_STOP_COMPLETE, "complete")                                                          \
    X(TEAM_STOP_STATES, "states") /* the limit of states was reached */                        \
    X(TEAM_STOP_MEMORY, "memory")                                                              \
    X(TEAM_STOP_ASKED, "stopped")                                                              \
    X(TEAM_STOP_PRIORITIES, "priorities") /* too many for all orders of head starts */         \
    X(TEAM_STOP_FOUND, "found") /* the first deadlock was found, as requested */
/* clang-format on */

enum team_move_kind { TEAM_MOVES(NAMES_VALUE) TEAM_MOVE_COUNT };
enum team_end { TEAM_ENDS(NAMES_VALUE) TEAM_END_COUNT };
enum team_stop { TEAM_STOPS(NAMES_VALUE) TEAM_STOP_COUNT };

struct team_move {
    enum team_move_kind kind;
    uint16_t subject;
};

struct model_checker_options {
    uint32_t failures, losses; /* limits of failing activities and of silent robots */
    uint32_t together;         /* maximum events in one instant, 1 .. TEAM_TOGETHER_MAX */
    size_t states_max;
    size_t bytes_max;
    bool first_deadlock; /* stop at the first deadlock */
};

/* A path: to state `state`, then the events of `bag`; 0: no further. */
struct team_path {
    uint32_t state; /* TEAM_STATE_NONE: no path */
    uint64_t bag;
};

struct model_checker_result {
    enum team_stop stop;
    size_t states, edges;
    uint64_t ends[TEAM_END_COUNT];         /* number of terminal sets */
    struct team_path path[TEAM_END_COUNT]; /* to the first of each kind */
    struct team_path deadlock;             /* shortest path to the first deadlock alarm */
    uint64_t deadlocks;                    /* steps with a deadlock alarm */
    uint64_t unsound; /* steps in which a robot was served although an alarm had excluded it */
    uint64_t violations; /* more owners than units, or a fence that does not rise */
};

struct model_checker;

struct model_checker_watch {
    /* Called now and then with the numbers of known and of unexplored states. False: stop. May
     * be NULL. */
    bool (*go_on)(void *context, size_t states, size_t open);
    void *context;
};

/* Explores p, which is borrowed while *explore is used. STATUS_E_RANGE: more robots than
 * MODEL_CHECKER_ROBOTS_MAX; STATUS_E_NOMEM: not even the first state fits. Otherwise pass
 * *explore to model_checker_free(); the result shows how far it came. */
MUST_USE enum status
model_checker_run(const struct team_params *p, const struct model_checker_options *options,
                  struct checker_memory *memory, const struct model_checker_watch *watch,
                  struct model_checker **checker, struct model_checker_result *result);
void model_checker_free(struct model_checker *x);

/* Was this sequence, robot, or job of the file ever used? */
enum model_checker_item {
    MODEL_CHECKER_SEQUENCE,
    MODEL_CHECKER_ROBOT,
    MODEL_CHECKER_JOB,
    MODEL_CHECKER_ITEMS
};
bool model_checker_used(const struct model_checker *x, enum model_checker_item kind, size_t i);

/* Observer of a replayed path: called before each instant, then with its effects. */
struct model_checker_observer {
    void (*instant)(void *context, const struct team *team, const struct team_move *moves,
                    size_t count);
    struct team_effects effects;
    void *context; /* context of instant */
};

/* Replays a path from the start. Returns the team at its end, valid until the next call; NULL:
 * no memory. */
const struct team *model_checker_replay(struct model_checker *x, struct team_path path,
                                        const struct model_checker_observer *guide);

ENUM_NAMES_DECLARED(team_move_kind);
ENUM_NAMES_DECLARED(team_end);
ENUM_NAMES_DECLARED(team_stop);

#endif
