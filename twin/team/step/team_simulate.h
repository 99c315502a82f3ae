/* twin/team/step/team_simulate.h - discrete-event simulation of a team.
 *
 * It drives twin/team/step/team.h: the duration of each activity is asked once, when the
 * activity starts, and a script has the other events. Time jumps from one event to the next.
 * Activities of zero time end in the instant in which they began, after its bag and before its
 * deadlines. Pure: no I/O, no clock, no allocation; docs/model/teams.md, "Simulation".
 */
#ifndef TWIN_TEAM_STEP_TEAM_SIMULATE_H
#define TWIN_TEAM_STEP_TEAM_SIMULATE_H

#include "base/text/names.h"
#include "twin/team/step/team.h"

/* The course of an activity. */
struct team_lap {
    bool answers;   /* false: no answer ever comes */
    bool fails;     /* it ends with a failure */
    int64_t lap_us; /* duration, >= 0 */
};

/* Asks for the course of this TEAM_START's activity; false ends the run. */
typedef bool team_ask_lap(void *context, const struct team_effect *start, struct team_lap *lap);

struct team_happening {
    int64_t t_us;
    struct team_event event;
};

/* Everything is borrowed for the run. Robots with a sequence start as in their parameters. With
 * `from`, a team at work in its state at from_us, the run continues from there, and the running
 * activities are asked again. */
struct team_scenario {
    const struct team_params *params;
    const struct team *from; /* NULL: start at the beginning, at 0 */
    int64_t from_us;
    team_ask_lap *ask;
    void *context;
    const struct team_happening *script; /* [script_count] sorted by time */
    size_t script_count;
    int64_t horizon_us;      /* end of the simulated time */
    uint64_t activities_max; /* a run with more is refused; 0: unlimited */
};

#define TEAM_RUN_ENDS(X)                                                                       \
    X(TEAM_RUN_FINISHED, "finished") /* every robot has finished */                            \
    X(TEAM_RUN_STUCK, "stuck") /* nothing more can happen, and some robot has not finished */  \
    X(TEAM_RUN_HORIZON, "horizon") /* the horizon was reached */                               \
    X(TEAM_RUN_ENDLESS, "endless") /* time stands still: activities without duration */        \
    X(TEAM_RUN_REFUSED, "refused") /* an activity has an unknown duration, or is one too many  \
                                    */

enum team_run_end { TEAM_RUN_ENDS(NAMES_VALUE) TEAM_RUN_END_COUNT };

struct team_run {
    enum team_run_end end;
    int64_t makespan_us; /* time of the last effect DONE or FINISH; 0: none */
    int64_t t_us;        /* time of the last instant with an event */
    uint64_t activities, events;
};

ENUM_NAMES_DECLARED(team_run_end);

struct team_simulator;

/* Size of the memory for team_simulator_init(). */
size_t team_simulator_bytes(const struct team_params *p);
/* memory: team_simulator_bytes(), aligned for any type; p is borrowed as long. One simulator
 * serves any number of runs. */
struct team_simulator *team_simulator_init(void *memory, const struct team_params *p);
/* Simulates one run; scenario->params must be those of init. Effects come in order; fx->emit
 * may be NULL. */
void team_simulate(struct team_simulator *s, const struct team_scenario *scenario,
                   const struct team_effects *fx, struct team_run *run);
/* Returns the team after the last run. */
const struct team *team_simulator_team(const struct team_simulator *s);

#endif
