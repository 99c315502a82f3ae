/* identification/dynamics/dynamics_check.h - a fit of dynamics held against recordings.
 *
 * One step ahead nearly every model looks well; simulated over the whole recording is what
 * counts (docs/model/identification_theory.md, "Checks"). Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_CHECK_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_CHECK_H

#include <stdbool.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/numeric/residual_test.h"
#include "identification/simulation/stability.h"

/* One axis. The first sample of each run, where both begin, does not count. */
struct dynamics_axis_check {
    /* Simulated; from the first sample of each run, or, for a fit with a delay, from the start
     * that fits best. */
    struct residual_summary run;
    struct residual_summary one_step; /* from each sample to the next */
    double input_correlation;         /* of run's residual with an earlier effort, the most
                                       * beyond chance */
    double input_correlation_bound;   /* what 99 % of noise stays below, all lags together, that
                                       * hangs together as these do */
    size_t outliers;                  /* of run's, beyond 4 robust standard deviations */
};

/* How fast an axis answers its effort, where that is faster than samples follow each other. */
struct dynamics_lag {
    double time_s; /* time constant; NaN: not known */
    /* Nothing in the samples tells it: no search finds it, its interval holds zero, or fewer
     * samples lie within the answer to a change of the effort than they would have to: two for
     * how late it begins and how long it takes, one where it is known when it begins. */
    bool untold;
};

struct dynamics_check {
    struct dynamics_lag lag[MODEL_AXES_MAX];
    bool simulated; /* else the model could not be, and axis is not valid */
    /* Share of the efforts' variance that the model computes from the measured motion
     * (unmodelled_term.h); NaN but of a model that sticks. */
    double effort_r2;
    struct residual_summary
        effort_residual; /* likewise, of the efforts in motion; n 0: not known */
    /* Root mean square of what an axis' effort does in its equation; NaN where that is the
     * effort itself, of which the data card tells. */
    double force_rms[MODEL_AXES_MAX];
    double motion_s; /* within which measured velocities change; NaN: they stand still */
    struct dynamics_axis_check axis[MODEL_AXES_MAX];
    struct stability stability; /* of the parameters, part by part */
};

/* Simulate the fit on a set. Returns STATUS_OK; STATUS_E_NOMEM, or what
 * output_error_validate() does for a fit with a delay, with *check untouched. */
MUST_USE enum status dynamics_check_run(const struct model *model,
                                        const struct dynamics_fit *fit,
                                        const struct data_set *set,
                                        struct dynamics_check *check);

/* The same for a part that was cut out of a motion: it begins anywhere, so that the noise of
 * its first sample would count for a fault of the model. Velocities at its start are fitted,
 * but for models that stick, which forget them at once. */
MUST_USE enum status dynamics_check_part(const struct model *model,
                                         const struct dynamics_fit *fit,
                                         const struct data_set *set,
                                         struct dynamics_check *check);

/* Whether velocities at the start of a recording are fitted to it. Else it begins at what was
 * measured there, whose noise takes its time to leave a simulation. */
bool dynamics_check_has_start(const struct dynamics_fit *fit);

/* The same residuals, measured - simulated, one by one: [axes] rows of [set->n], out; NaN where
 * there is none. *simulated is false when the model cannot be, and residual then holds nothing.
 * Returns as dynamics_check_run() does. */
MUST_USE enum status dynamics_check_residuals(const struct model *model,
                                              const struct dynamics_fit *fit,
                                              const struct data_set *set,
                                              double *const *residual, bool *simulated);

#endif
