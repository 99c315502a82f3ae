/* identification/arm/arm_estimate.h - the estimate that a solved linear problem gives. Pure.
 */
#ifndef IDENTIFICATION_ARM_ARM_ESTIMATE_H
#define IDENTIFICATION_ARM_ARM_ESTIMATE_H

#include "identification/fit/estimate.h"
#include "identification/numeric/svd.h"

struct arm_solved {
    const struct svd *svd;
    const double *value, *covariance; /* [p], [p x p] */
    double freedom;                   /* degrees of freedom of the errors */
    double null_share;     /* share of a column in the null space that leaves it undetermined */
    double white_variance; /* of a row, if rows were independent */
};

/* Copies values, errors, rank and condition. Parameters in the null space stay unknown, and so
 * do their covariances. se_white assumes independent rows, for comparison. */
void arm_estimate_fill(struct estimate *e, const struct arm_solved *solved);

#endif
