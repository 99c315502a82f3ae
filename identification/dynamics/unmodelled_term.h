/* identification/dynamics/unmodelled_term.h - search for a term that a model of one axis lacks.
 *
 * For models that stick (docs/model/joint.md). It looks for friction or load in the residuals
 * of the efforts. Pure: no I/O, no clock.
 */
#ifndef IDENTIFICATION_DYNAMICS_UNMODELLED_TERM_H
#define IDENTIFICATION_DYNAMICS_UNMODELLED_TERM_H

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics/dynamics_options.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/numeric/residual_test.h"
#include "identification/simulation/effort_residual.h"

/* One additional term of friction or load, and its effect on the fit. */
struct unmodelled_friction {
    /* model with this term; NULL: there is none, or it could not be fitted */
    const struct model *model;
    size_t at; /* index of its parameter in that model */
    double value, se;
    bool there;       /* significant */
    double effort_r2; /* as in struct unmodelled_term, for the model with the term */
    size_t moved;     /* parameter of the fit that moves furthest without the term */
    double shift;     /* its shift, relative to the value with the term */
    double reach;     /* its shift in half widths of the fit's interval */
    double size; /* largest effort of the term, relative to the efforts' root mean square */
};

/* Shares of the efforts' residuals that are correlated with something the model does not
 * have. */
struct unmodelled_term {
    double effort_r2;   /* R2 of the efforts, smoothed over about 80 ms; NaN: not computed */
    double load_ratio;  /* friction in proportion to the size of the effort */
    double drag_ratio;  /* friction in proportion to the square of the velocity */
    double place_ratio; /* dependence on the position; 0 if not recorded */
    /* Residuals of the efforts in motion, with the same smoothing: n, mean, rmse,
     * correlation of neighbours; otherwise NaN. n 0: not computed. */
    struct residual_summary residual;
    struct unmodelled_friction friction[MODEL_EXTENDED_MAX];
    struct effort_residual steady;
};

/* Analyses the residuals of a model of one axis. */
void unmodelled_term_find(const struct model *model, const struct dynamics_fit *fit,
                          const struct data_set *set, struct unmodelled_term *missing);

/* Fits each model of model->extended, by simulation or by weak forms, with the delay of the
 * fit. A Wald test of all terms together fails once in a hundred recordings that have none
 * of them. Returns STATUS_OK or STATUS_E_NOMEM. Cold path: allocates. */
MUST_USE enum status unmodelled_term_try(const struct model *model,
                                         const struct dynamics_fit *fit,
                                         const struct data_set *set,
                                         const struct dynamics_options *options,
                                         struct unmodelled_term *missing);

/* Adds the findings to the verdict. */
void unmodelled_term_judge(struct dynamics_fit *fit, const struct model *model,
                           const struct unmodelled_term *missing);

#endif
