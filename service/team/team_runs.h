/* service/team/team_runs.h - many runs of a team, with chance, on several threads.
 *
 * Each run draws from streams of its own, told by seed and number, and sums are whole numbers:
 * the same seed gives the same results on any number of threads. Cold path: allocates.
 */
#ifndef SERVICE_TEAM_TEAM_RUNS_H
#define SERVICE_TEAM_TEAM_RUNS_H

#include "base/errors/err.h"
#include "twin/team/step/team_statistics.h"

enum { TEAM_RUNS_MAX = 10000000, TEAM_THREADS_MAX = 256 };

struct team_runs_options {
    size_t runs; /* 0 .. TEAM_RUNS_MAX */
    uint64_t seed;
    unsigned threads; /* 1 .. TEAM_THREADS_MAX */
    int64_t horizon_us;
    const struct team_happening *script; /* [script_count] by time; borrowed */
    size_t script_count;
    /* Asked often, with the share that is done: shall it go on? NULL: it does, and shows how
     * far it is on a terminal. */
    bool (*go_on)(void *context, double share);
    void *context;
};

struct team_runs {
    struct team_run expected;            /* without chance: parameters as estimated, no noise */
    struct team_distribution makespan_s; /* of the runs that finished */
    double *makespans_s;                 /* [makespan_s.n] in order */
    struct team_statistics *statistics;  /* of all runs */
};

/* The run without chance; its effects go to fx, whose emit may be NULL. STATUS_E_NOMEM,
 * STATUS_E_EMPTY: nothing tells how long some activities take, err says which. */
MUST_USE enum status team_runs_expect(const struct team_prediction *tp,
                                      const struct team_runs_options *options,
                                      const struct team_effects *fx, struct team_run *run,
                                      struct err_list *errors);

/* All runs. out is to be freed by team_runs_free(). As above; STATUS_E_STALE: it was not to go
 * on.
 */
MUST_USE enum status team_runs_make(const struct team_prediction *tp,
                                    const struct team_runs_options *options,
                                    struct team_runs *out, struct err_list *errors);
void team_runs_free(struct team_runs *runs);

#endif
