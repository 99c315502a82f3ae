/* service/team/team_runs.h - simulates many random runs of a team on several threads.
 *
 * Each run draws from streams of its own, determined by seed and run number, and sums are
 * integers. So a seed gives the same results on any number of threads. Cold path: allocates.
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
    uint64_t activities_max; /* a run with more is refused; 0: unlimited */
    /* Called often with the ratio of finished runs; false cancels. NULL: never cancelled. */
    bool (*go_on)(void *context, double share);
    void *context;
};

struct team_runs {
    /* without randomness: parameters as estimated, no noise */
    struct team_run expected;
    struct team_distribution makespan_s; /* of the runs that finished */
    double *makespans_s;                 /* [makespan_s.n] sorted */
    struct team_statistics *statistics;  /* of all runs */
};

/* Do the run without randomness; its effects go to fx, whose emit may be NULL. *guessed: it
 * used a duration of the file, which nobody measured. STATUS_E_NOMEM, STATUS_E_EMPTY: the
 * durations of some activities are unknown, err names them. */
MUST_USE enum status team_runs_expect(struct team_prediction *tp,
                                      const struct team_runs_options *options,
                                      const struct team_effects *fx, struct team_run *run,
                                      bool *guessed, struct err_list *errors);

/* Do all runs. out is to be freed by team_runs_free(). Errors as above; STATUS_E_STALE:
 * cancelled.
 */
MUST_USE enum status team_runs_make(struct team_prediction *tp,
                                    const struct team_runs_options *options,
                                    struct team_runs *out, struct err_list *errors);
void team_runs_free(struct team_runs *runs);

#endif
