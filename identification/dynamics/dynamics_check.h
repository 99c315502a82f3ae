/* identification/dynamics/dynamics_check.h - comparison of a fit of dynamics with recordings.
 *
 * One step ahead, nearly every model predicts well. The simulation over the whole recording
 * decides (docs/model/identification_theory.md, "Checks"). Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_CHECK_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_CHECK_H

#include <stdbool.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/numeric/residual_test.h"
#include "identification/simulation/stability.h"

/* Results for one axis. The first sample of each run, where both motions begin, is left out. */
struct dynamics_axis_check {
    /* Residuals of the simulation, from the first sample of each run or, for a fit with a
     * delay, from the best fitting start. */
    struct residual_summary run;
    struct residual_summary one_step; /* prediction from each sample to the next */
    /* Correlation of the simulation's residual with an earlier effort: the one furthest
     * beyond chance. */
    double input_correlation;
    /* Bound that 99 % of noise stays below, for all lags together and this autocorrelation. */
    double input_correlation_bound;
    size_t outliers; /* residuals beyond 4 robust standard deviations */
};

/* Response time of an axis whose response may be faster than the sampling. */
struct dynamics_lag {
    double time_s; /* time constant; NaN: not known */
    /* The samples do not determine the time constant: the search failed, its interval
     * contains zero, or too few samples lie within the response to a change of the effort.
     * Two are needed for both delay and duration, one if the delay is known. */
    bool untold;
};

struct dynamics_check {
    struct dynamics_lag lag[MODEL_AXES_MAX];
    bool simulated; /* false: the model could not be simulated, and axis is not valid */
    /* Share of the efforts' variance that the model computes from the measured motion
     * (unmodelled_term.h); NaN unless the model sticks. */
    double effort_r2;
    struct residual_summary
        effort_residual; /* likewise, of the efforts in motion; n 0: not known */
    /* Root mean square of the force that an axis' effort exerts; NaN if that is the effort
     * itself, which the data summary describes. */
    double force_rms[MODEL_AXES_MAX];
    /* correlation time of the measured velocities, s; NaN: they are constant */
    double motion_s;
    struct dynamics_axis_check axis[MODEL_AXES_MAX];
    struct stability stability; /* consistency of the parameters, part by part */
};

/* Simulates the fit on a set. Returns STATUS_OK, STATUS_E_NOMEM, or the status of
 * output_error_validate() for a fit with a delay. *check is written only on STATUS_OK. */
MUST_USE enum status dynamics_check_run(const struct model *model,
                                        const struct dynamics_fit *fit,
                                        const struct data_set *set,
                                        struct dynamics_check *check);

/* The same for a part that was cut out of a motion. Velocities at its start are fitted,
 * because the noise of its first sample would otherwise count as a fault of the model.
 * Models that stick are excepted: they forget the start at once. */
MUST_USE enum status dynamics_check_part(const struct model *model,
                                         const struct dynamics_fit *fit,
                                         const struct data_set *set,
                                         struct dynamics_check *check);

/* Checks the fit on a held-out set, with the delay that suits it best among those that the
 * rows of both recordings allow. A command that is first
 * seen at a row was given somewhere in the interval before it. Adds a note about the
 * difference. Returns as
 * dynamics_check_run(). */
MUST_USE enum status dynamics_check_held_out(const struct model *model,
                                             struct dynamics_fit *fit,
                                             const struct data_set *set,
                                             struct dynamics_check *check);

/* Returns whether velocities at the start of a recording are fitted. Otherwise a simulation
 * begins at the measured ones, whose noise then decays slowly. */
bool dynamics_check_has_start(const struct dynamics_fit *fit);

/* Computes the same residuals, measured - simulated: [axes] rows of [set->n], out; NaN where
 * there is none. *simulated is false, and residual undefined, if the model cannot be
 * simulated. Returns as dynamics_check_run() does. */
MUST_USE enum status dynamics_check_residuals(const struct model *model,
                                              const struct dynamics_fit *fit,
                                              const struct data_set *set,
                                              double *const *residual, bool *simulated);

#endif
