/* identification/dynamics/missing_term.h - what the efforts hold that a model of one axis does
 * not.
 *
 * For models that stick (docs/model/joint.md, section 6). Pure: no I/O, no clock, no
 * allocation.
 */
#ifndef IDENTIFICATION_DYNAMICS_MISSING_TERM_H
#define IDENTIFICATION_DYNAMICS_MISSING_TERM_H

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics_fit.h"

/* Shares of what the model leaves of the efforts that go with something it does not have. */
struct missing_term {
    double effort_r2; /* of the efforts, smoothed over some 80 ms; NaN: could not be computed */
    double load_ratio;  /* friction by the size of the effort */
    double drag_ratio;  /* friction by the square of the velocity */
    double place_ratio; /* the position; 0 where it was not recorded */
};

/* Of a model of one axis. */
void missing_term_find(const struct model *model, const struct dynamics_fit *fit,
                       const struct data_set *set, struct missing_term *missing);

/* Add to the verdict what was found. */
void missing_term_judge(struct dynamics_fit *fit, const struct model *model,
                        const struct missing_term *missing);

#endif
