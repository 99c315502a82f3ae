/* twin/team/check/model_checker.h - every order in which the work of a small team can go.
 *
 * A model checker over the team's own step (twin/team/step/team.h): from each state each
 * activity may end next, some in one instant, and, where asked, fail, or its robot fall silent
 * for good. How long anything takes is left open: also when a delay runs out, when IdPrt looks
 * again, when a lease ends. Two states are one where the same can follow: times and fences are
 * left out (team_key()), every other byte is compared. Breadth first. Where it ends
 * is told by the sets of states that are never left (twin/team/check/terminal_states.h). Pure;
 * the memory is the caller's. docs/model/teams_theory.md, "Model checker".
 *
 * Left open too: windows (a time-out is a failure), clients' own locks, people.
 */
#ifndef TWIN_TEAM_CHECK_MODEL_CHECKER_H
#define TWIN_TEAM_CHECK_MODEL_CHECKER_H

#include "twin/team/check/team_states.h"
#include "twin/team/check/team_untimed.h"
#include "twin/team/step/team.h"

enum { TEAM_TOGETHER_MAX = 3 };

/* What can happen next; `subject` is a robot, or a resource (DELAY). */
/* clang-format off */
#define TEAM_MOVES(X)                                                                          \
    X(TEAM_MOVE_START, "starts") /* those who start at the next time of the file; 0 */         \
    X(TEAM_MOVE_DONE, "ends")                                                                  \
    X(TEAM_MOVE_DELAY, "delay") /* of a resource that was freed is over */                     \
    X(TEAM_MOVE_RETRY, "looks again")                                                          \
    X(TEAM_MOVE_FAIL, "fails")                                                                 \
    X(TEAM_MOVE_SILENT, "falls silent") /* its leases end */

/* How it ends, the worst first. Only LIVELOCK and UNEXPLAINED are nobody's wish; the last one
 * is a fault of Tandem. */
#define TEAM_ENDS(X)                                                                           \
    X(TEAM_END_UNEXPLAINED, "unexplained") /* robots wait for ever, and no alarm said so */    \
    X(TEAM_END_LIVELOCK, "livelock")       /* steps without end in one instant */              \
    X(TEAM_END_DEADLOCK, "deadlock")       /* robots wait for ever for each other, as told */  \
    X(TEAM_END_STARVED, "starved")   /* robots wait for ever while others go on for ever */    \
    X(TEAM_END_BLOCKED, "blocked")   /* robots wait for ever behind a failure, as told */      \
    X(TEAM_END_FAILED, "failed")     /* robots in Error, nobody waits */                       \
    X(TEAM_END_ENDLESS, "endless")   /* nobody waits for ever, somebody always works */        \
    X(TEAM_END_FINISHED, "finished")

#define TEAM_STOPS(X)                                                                          \
    X(TEAM_STOP_COMPLETE, "complete")                                                          \
    X(TEAM_STOP_STATES, "states") /* the limit of states */                                    \
    X(TEAM_STOP_MEMORY, "memory")                                                              \
    X(TEAM_STOP_ASKED, "stopped")                                                              \
    X(TEAM_STOP_PRIORITIES, "priorities") /* too many for all orders of their head starts */   \
    X(TEAM_STOP_FOUND, "found") /* the first deadlock, as asked */
/* clang-format on */

enum team_move_kind { TEAM_MOVES(NAMES_VALUE) TEAM_MOVE_COUNT };
enum team_end { TEAM_ENDS(NAMES_VALUE) TEAM_END_COUNT };
enum team_stop { TEAM_STOPS(NAMES_VALUE) TEAM_STOP_COUNT };

struct team_move {
    enum team_move_kind kind;
    uint16_t subject;
};

struct model_checker_options {
    uint32_t failures, losses; /* as many activities may fail, robots fall silent */
    uint32_t together;         /* things that happen in one instant, 1 .. TEAM_TOGETHER_MAX */
    size_t states_max;
    size_t bytes_max;
    bool first_deadlock; /* and no further */
};

/* A way: to state `state`, and on by what `bag` stands for there; 0: no further. */
struct team_path {
    uint32_t state; /* TEAM_STATE_NONE: there is none */
    uint64_t bag;
};

struct model_checker_result {
    enum team_stop stop;
    size_t states, edges;
    uint64_t ends[TEAM_END_COUNT];         /* sets of states that are never left */
    struct team_path path[TEAM_END_COUNT]; /* to the first one */
    struct team_path deadlock;             /* the shortest way to the first alarm */
    uint64_t deadlocks;                    /* steps in which a deadlock was told */
    uint64_t unsound;    /* steps in which a robot gets what an alarm said it never will */
    uint64_t violations; /* more owners than units, a fence that does not rise */
};

struct model_checker;

struct model_checker_watch {
    /* Called now and then: so many states found, so many of them not yet gone on from. False:
     * stop. NULL: never asked. */
    bool (*go_on)(void *context, size_t states, size_t open);
    void *context;
};

/* Explore p, which is borrowed while *explore is used. STATUS_E_RANGE: more robots than
 * MODEL_CHECKER_ROBOTS_MAX; STATUS_E_NOMEM: not even the first state. Else *explore is to be
 * given to model_checker_free(), and the result says how far it came. */
MUST_USE enum status
model_checker_run(const struct team_params *p, const struct model_checker_options *options,
                  struct checker_memory *memory, const struct model_checker_watch *watch,
                  struct model_checker **checker, struct model_checker_result *result);
void model_checker_free(struct model_checker *x);

/* Was this sequence, robot, or job of the file ever begun? */
bool model_checker_used_sequence(const struct model_checker *x, size_t sequence);
bool model_checker_used_robot(const struct model_checker *x, size_t robot);
bool model_checker_used_job(const struct model_checker *x, size_t job);

/* Who goes a way again: each instant before it happens, then what follows from it. */
struct model_checker_observer {
    void (*instant)(void *context, const struct team *team, const struct team_move *moves,
                    size_t count);
    struct team_effects effects;
    void *context; /* of instant */
};

/* From the start; the team as it is at the way's end, until the next call; NULL: no memory. */
const struct team *model_checker_replay(struct model_checker *x, struct team_path path,
                                        const struct model_checker_observer *guide);

extern const struct names team_move_kind_names;
const char *team_move_kind_name(enum team_move_kind kind);
extern const struct names team_end_names;
const char *team_end_name(enum team_end end);
extern const struct names team_stop_names;
const char *team_stop_name(enum team_stop stop);

#endif
