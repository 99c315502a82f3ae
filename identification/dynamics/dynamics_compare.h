/* identification/dynamics/dynamics_compare.h - a fit held against the parameters in use.
 *
 * Two questions: does the recording contradict the present values, in standard errors; and does
 * it matter, in how differently both sets simulate the recording (docs/model/identification.md,
 * "Comparison"). Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_COMPARE_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_COMPARE_H

#include <stdbool.h>

#include "identification/data/data_set.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/fit/reference.h"

struct dynamics_comparison {
    /* Of the parameters, and behind them, at the fit's p, of the delay. */
    struct reference_comparison values;
    bool simulated; /* both sets could be; else what follows is not valid */
    /* Root mean square over the recording, per axis: between the two simulations, and of
     * measured less simulated by the fit and by the current set; from the same start each. */
    double effect_rmse[MODEL_AXES_MAX];
    double fit_rmse[MODEL_AXES_MAX], reference_rmse[MODEL_AXES_MAX];
};

/* What is not given is taken from the fit to simulate. Returns STATUS_OK, or STATUS_E_NOMEM
 * with *out untouched. */
MUST_USE enum status dynamics_compare(const struct model *model, const struct dynamics_fit *fit,
                                      const struct data_set *set,
                                      const struct reference_values *current,
                                      struct dynamics_comparison *out);

/* Say so, if the recording contradicts what is in use: a note, for the fit is none the worse.
 */
void dynamics_compare_judge(struct dynamics_fit *fit, const struct model *model,
                            const struct reference_values *current,
                            const struct dynamics_comparison *comparison);

#endif
