/* identification/dynamics/dynamics_compare.h - a fit held against the parameters in use.
 *
 * Two questions: does the recording contradict the present values, in standard errors; and does
 * it matter, in how differently both sets simulate the recording (docs/model/identification.md,
 * section 5). Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_COMPARE_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_COMPARE_H

#include <stdbool.h>

#include "identification/data/data_set.h"
#include "identification/dynamics_fit.h"

/* The parameters in use, in the order of the fit. */
struct dynamics_current {
    double value[DYNAMICS_P_MAX]; /* NaN: not given, the fit's is taken to simulate */
    double se[DYNAMICS_P_MAX];    /* 0: taken for exact */
    double delay_s;               /* NaN: not given, likewise */
};

struct dynamics_comparison {
    /* (fit - current) / sqrt(se^2 + se_current^2); NaN: one of them is not known. The recording
     * contradicts a value beyond as many errors as the fit's printed interval reaches: one
     * without an error of its own, when it lies outside that. */
    double z[DYNAMICS_P_MAX];
    double delay_z;
    bool contradicted[DYNAMICS_P_MAX], delay_contradicted;
    /* All that was given together: chi squared where it holds, with errors as wide. */
    double statistic, df, p;
    bool contradicts; /* p below 5 % */
    bool simulated;   /* both sets could be; else what follows is not valid */
    /* Root mean square over the recording, per axis: between the two simulations, and of
     * measured less simulated by the fit and by the current set; from the same start each. */
    double effect_rmse[MODEL_AXES_MAX];
    double fit_rmse[MODEL_AXES_MAX], current_rmse[MODEL_AXES_MAX];
};

/* An empty set: nothing given. */
void dynamics_current_start(struct dynamics_current *current);

/* Returns STATUS_OK, or STATUS_E_NOMEM with *out untouched. */
MUST_USE enum status dynamics_compare(const struct model *model, const struct dynamics_fit *fit,
                                      const struct data_set *set,
                                      const struct dynamics_current *current,
                                      struct dynamics_comparison *out);

/* Say so, if the recording contradicts what is in use: a note, for the fit is none the worse.
 */
void dynamics_compare_judge(struct dynamics_fit *fit, const struct model *model,
                            const struct dynamics_current *current,
                            const struct dynamics_comparison *comparison);

#endif
