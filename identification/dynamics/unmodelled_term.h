/* identification/dynamics/unmodelled_term.h - what the efforts hold that a model of one axis
 * does not.
 *
 * For models that stick (docs/model/joint.md). Pure: no I/O, no clock.
 */
#ifndef IDENTIFICATION_DYNAMICS_UNMODELLED_TERM_H
#define IDENTIFICATION_DYNAMICS_UNMODELLED_TERM_H

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics/dynamics_options.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/numeric/residual_test.h"

/* What one more term, of friction or of a load, would be, and what it would make of the fit. */
struct unmodelled_friction {
    const struct model *model; /* that has it; NULL: there is none, or it could not be fitted */
    size_t at;                 /* its parameter there */
    double value, se;
    bool there;       /* beyond what chance makes of it */
    double effort_r2; /* of the model with it, as that of struct unmodelled_term */
    size_t moved;     /* the parameter of the fit that moves furthest without it */
    double shift;     /* by so much: of the value with it */
    double reach;     /* and in half widths of the fit's own interval */
    double size;      /* the largest effort that it asks for, by the root mean square of them */
};

/* Shares of what the model leaves of the efforts that go with something it does not have. */
struct unmodelled_term {
    double effort_r2; /* of the efforts, smoothed over some 80 ms; NaN: could not be computed */
    double load_ratio;  /* friction by the size of the effort */
    double drag_ratio;  /* friction by the square of the velocity */
    double place_ratio; /* the position; 0 where it was not recorded */
    /* What the model leaves of the efforts while it moves, so smoothed: n, mean, rmse,
     * correlation of one with the next; else NaN. n 0: could not be computed. */
    struct residual_summary residual;
    struct unmodelled_friction friction[MODEL_EXTENDED_MAX];
};

/* Of a model of one axis. */
void unmodelled_term_find(const struct model *model, const struct dynamics_fit *fit,
                          const struct data_set *set, struct unmodelled_term *missing);

/* Fit each of model->richer beside the model, both by weak forms, with efforts as late as the
 * fit has them. Wald's test, of all terms together wrong once in a hundred recordings that have
 * none of them. Returns STATUS_OK or STATUS_E_NOMEM. Cold path: allocates. */
MUST_USE enum status unmodelled_term_try(const struct model *model,
                                         const struct dynamics_fit *fit,
                                         const struct data_set *set,
                                         const struct dynamics_options *options,
                                         struct unmodelled_term *missing);

/* Add to the verdict what was found. */
void unmodelled_term_judge(struct dynamics_fit *fit, const struct model *model,
                           const struct unmodelled_term *missing);

#endif
