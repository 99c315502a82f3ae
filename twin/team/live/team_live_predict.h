/* twin/team/live/team_live_predict.h - predicts what a team at work will do.
 *
 * The team's own step is run many times into the future, from its present state and from what
 * is known of its robots' durations. Parameters are drawn once per run
 * (twin/team/step/team_predict.h). docs/model/teams.md, "Execution".
 *
 * It takes up to some tenths of a second, so it must not run on the lab thread. Pure, apart
 * from GSL's allocations.
 */
#ifndef TWIN_TEAM_LIVE_TEAM_LIVE_PREDICT_H
#define TWIN_TEAM_LIVE_TEAM_LIVE_PREDICT_H

#include "twin/pair/pair.h"
#include "twin/team/live/team_live.h"
#include "twin/team/step/team_predict.h"

enum {
    TEAM_LIVE_PREDICT_RUNS = 1000,    /* maximum; with many activities */
    TEAM_LIVE_PREDICT_RUNS_MIN = 200, /* fewer; below this there is no prediction */
    TEAM_LIVE_PREDICT_WORK = 250000,  /* activities of all runs */
    TEAM_LIVE_PREDICT_LONGEST = 1024  /* per run; later activities are not predicted */
};

/* Gets a pair of the lab and its parameters. */
typedef const struct pair *team_live_read_pair(void *context, uint32_t pair,
                                               const struct pair_params **p);

/* Predicts the moves of a team's robot from those that its pair made on this side: by the
 * pair's forecasts, or a fit of their laps at arrival. Arms, which move joints, have none. */
void team_live_predict_pair(struct team_prediction *tp, uint16_t robot, const struct pair *pair,
                            const struct pair_params *p, enum side side);

/* Sets what the live team knows of its robots: moves of their pairs, measured laps and poses.
 * read NULL: without the pairs. */
void team_live_predict_learn(struct team_prediction *tp, const struct team_live *live,
                             team_live_read_pair *read, void *context);

size_t team_live_predict_bytes(const struct team_params *p);

/* Predicts from the team's state at t_us, for its newest request. memory:
 * team_live_predict_bytes(), aligned for any type. read NULL: use the measured durations of
 * moves. *out is always valid; its detail has the reason if there is no end. */
void team_live_predict(void *memory, const struct team_live *live, const struct team_params *p,
                       int64_t t_us, team_live_read_pair *read, void *context,
                       struct team_forecast *out);

#endif
