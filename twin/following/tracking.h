/* twin/following/tracking.h - how closely one motion follows another, state by state.
 *
 * Root mean square and mean absolute error, and R2 = 1 - sum e^2 / sum (y - mean y)^2 with y
 * the motion that is followed. All samples weigh alike. Plain data. Pure.
 */
#ifndef TWIN_FOLLOWING_TRACKING_H
#define TWIN_FOLLOWING_TRACKING_H

#include <stddef.h>
#include <stdint.h>

struct tracking { /* all zero: nothing was seen */
    uint64_t n;
    double square, absolute, largest; /* of the error: sums, and the largest magnitude */
    double mean, spread;              /* of the reference: mean, sum of squares about it */
};

/* One sample. Values that are not finite are passed over. */
void tracking_add(struct tracking *t, double reference, double actual);

/* NaN before the first sample; R2 also where the reference does not move. */
double tracking_rmse(const struct tracking *t);
double tracking_mae(const struct tracking *t);
double tracking_r2(const struct tracking *t);

#endif
