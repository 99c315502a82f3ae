/* twin/team/step/team_simulate.h - a team run through events of its own making.
 *
 * A discrete-event driver over twin/team/step/team.h: how long each activity takes is asked once,
 * when it starts; a script says what else happens. Time jumps from one event to the next.
 * Activities that take no time end in the instant in which they began, after its bag and before
 * its deadlines. Pure: no I/O, no clock, no allocation; docs/model/teams.md, "Simulation".
 */
#ifndef TWIN_TEAM_STEP_TEAM_SIMULATE_H
#define TWIN_TEAM_STEP_TEAM_SIMULATE_H

#include "twin/team/step/team.h"

/* How an activity goes. */
struct team_lap {
    bool answers;   /* false: nothing is ever heard of it */
    bool fails;     /* it ends by failing */
    int64_t lap_us; /* >= 0, to its end */
};

/* Ask how the activity of this TEAM_START goes; false ends the run. */
typedef bool team_ask_lap(void *context, const struct team_effect *start, struct team_lap *lap);

struct team_happening {
    int64_t t_us;
    struct team_event event;
};

/* Everything is borrowed for the run. Robots with a sequence are started by their params; but
 * of a team at work, `from`, as it stands at from_us: it goes on from there, and of the
 * activities in work it is asked again how they go. */
struct team_scenario {
    const struct team_params *params;
    const struct team *from; /* NULL: from the beginning, at 0 */
    int64_t from_us;
    team_ask_lap *ask;
    void *context;
    const struct team_happening *script; /* [script_count] by time */
    size_t script_count;
    int64_t horizon_us; /* nothing after it happens */
};

#define TEAM_RUN_ENDS(X)                                                                       \
    X(TEAM_RUN_FINISHED, "finished") /* everybody has come to his end */                       \
    X(TEAM_RUN_STUCK, "stuck")       /* nothing more can happen, and somebody has not */       \
    X(TEAM_RUN_HORIZON, "horizon")   /* it would go on */                                      \
    X(TEAM_RUN_ENDLESS, "endless")   /* time stands still: activities without duration */      \
    X(TEAM_RUN_REFUSED, "refused")   /* nobody could say how long an activity takes */

enum team_run_end { TEAM_RUN_ENDS(NAMES_VALUE) TEAM_RUN_END_COUNT };

struct team_run {
    enum team_run_end end;
    int64_t makespan_us; /* when the last effect DONE or FINISH came; 0: none */
    int64_t t_us;        /* the last instant in which anything happened */
    uint64_t activities, events;
};

extern const struct names team_run_end_names;
const char *team_run_end_name(enum team_run_end end);

struct team_simulator;

/* Bytes team_simulator_init() needs. */
size_t team_simulator_bytes(const struct team_params *p);
/* memory: at least so many bytes, aligned for any type; params are borrowed as long. One memory
 * serves any number of runs. */
struct team_simulator *team_simulator_init(void *memory, const struct team_params *p);
/* One run; scenario->params are those of init. Effects in their order;
 * fx->emit may be NULL. */
void team_simulate(struct team_simulator *s, const struct team_scenario *scenario,
                   const struct team_effects *fx, struct team_run *run);
/* The team as the last run left it. */
const struct team *team_simulator_team(const struct team_simulator *s);

#endif
