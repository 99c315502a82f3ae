/* service/sim/experiment/follow_study.h - runs an experiment many times and collects results
 * for each state.
 */
#ifndef SERVICE_SIM_EXPERIMENT_FOLLOW_STUDY_H
#define SERVICE_SIM_EXPERIMENT_FOLLOW_STUDY_H

#include "service/sim/experiment/experiment_file.h"
#include "service/sim/experiment/experiment_output.h"

struct follow_quantiles {
    double median, p95;
};

struct follow_state {
    char name[EXPERIMENT_NAME_MAX];
    struct follow_quantiles rmse, mae, r2; /* p95 of r2 is its 5 % quantile, the worse side */
    /* with the best known plant parameters; NaN: not run */
    double open_loop_rmse;
};

struct follow_study {
    const struct experiment_file *file;
    size_t states, runs;
    size_t diverged; /* runs in which the plant diverged; not in the figures below */
    struct follow_state state[TRIAL_STATES_MAX];
    double found_ratio[MODEL_AXES_MAX];   /* medians */
    double unmatched_rms[MODEL_AXES_MAX]; /* medians */
    double saturated_ratio;               /* mean */
    struct trial_point *points;           /* [point_count] points of the first run */
    size_t point_count;
};

/* Called before each run; false ends the study with the finished runs. */
typedef bool follow_go_on(void *context, size_t done, size_t total);

/* Run all. go_on may be NULL. Errors of the input, the draws and trial_check() with err filled;
 * STATUS_E_EMPTY when no run was finished. On STATUS_OK the caller ends with
 * follow_study_free(). */
MUST_USE enum status follow_study_run(const struct experiment_file *file, follow_go_on *go_on,
                                      void *context, struct follow_study *out, struct err *err);

void follow_study_free(struct follow_study *study);

/* Output of a struct follow_study as page, JSON (docs/model/following.md), CSV, plot. The
 * tables are states.csv, and run.csv with the first run over time, which the plot also shows.
 */
extern const struct experiment_output follow_output;

#endif
