/* twin/team/live/team_live_predict.h - what a team at work will do, from how it stands and from
 * what is known by now of how long its robots take: many runs of its own step into the future,
 * with parameters drawn once a run (twin/team/step/team_predict.h). docs/model/teams.md,
 * "Execution".
 *
 * Takes up to some tenths of a second: not for the lab thread. Pure but for GSL's allocations.
 */
#ifndef TWIN_TEAM_LIVE_TEAM_LIVE_PREDICT_H
#define TWIN_TEAM_LIVE_TEAM_LIVE_PREDICT_H

#include "twin/pair/pair.h"
#include "twin/team/live/team_live.h"

enum {
    TEAM_LIVE_PREDICT_RUNS = 1000,    /* at most, and where they are many activities, */
    TEAM_LIVE_PREDICT_RUNS_MIN = 200, /* fewer; below this nothing is foretold */
    TEAM_LIVE_PREDICT_WORK = 250000,  /* activities of all runs */
    TEAM_LIVE_PREDICT_LONGEST = 1024  /* of one: a team that goes on is not followed further */
};

/* What the moves of a pair tell (pair_fit_window()). */
typedef void team_live_pair_fits(void *context, uint32_t pair, struct pair_fits *out);

size_t team_live_predict_bytes(const struct team_params *p);

/* Of crew as it stands at t_us, in answer to its newest wish. memory: so many bytes, aligned
 * for any type. fits NULL: moves take what they took. Always tells something, if only, in
 * detail, why the end cannot be foretold. */
void team_live_predict(void *memory, const struct team_live *live, const struct team_params *p,
                       int64_t t_us, team_live_pair_fits *fits, void *context,
                       struct team_forecast *out);

#endif
