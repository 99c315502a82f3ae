/* identification/dynamics/dynamics_compare.h - comparison of a fit with the parameters in use.
 *
 * It answers two questions. Does the recording contradict the present values, in standard
 * errors? Does it matter: how differently do both sets simulate the recording
 * (docs/model/identification.md, "Comparison")? Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_COMPARE_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_COMPARE_H

#include <stdbool.h>

#include "identification/data/data_set.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/fit/reference.h"

struct dynamics_comparison {
    /* The parameters and, at index p of the fit, the delay. */
    struct reference_comparison values;
    bool simulated; /* both sets could be simulated; otherwise what follows is not valid */
    /* Root mean square over the recording, per axis: difference of the two simulations, and
     * residuals of the fit and of the reference, each from the same start. */
    double effect_rmse[MODEL_AXES_MAX];
    double fit_rmse[MODEL_AXES_MAX], reference_rmse[MODEL_AXES_MAX];
};

/* Compares. Values that the reference lacks come from the fit. Returns STATUS_OK, or
 * STATUS_E_NOMEM with *out unchanged. */
MUST_USE enum status dynamics_compare(const struct model *model, const struct dynamics_fit *fit,
                                      const struct data_set *set,
                                      const struct reference_values *current,
                                      struct dynamics_comparison *out);

/* Adds a note if the recording contradicts the parameters in use. The verdict of the fit
 * does not change. */
void dynamics_compare_judge(struct dynamics_fit *fit, const struct model *model,
                            const struct reference_values *current,
                            const struct dynamics_comparison *comparison);

#endif
