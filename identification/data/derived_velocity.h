/* identification/data/derived_velocity.h - velocity from recorded positions.
 *
 * It is the slope of a cubic through neighbouring samples. The window is the widest one that
 * changes the velocity by no more than noise explains (docs/model/identification.md, eq. 2a -
 * 2b). Pure: no I/O, no clock, no allocation.
 */
#ifndef IDENTIFICATION_DATA_DERIVED_VELOCITY_H
#define IDENTIFICATION_DATA_DERIVED_VELOCITY_H

#include <stddef.h>

#include "base/errors/status.h"
#include "identification/numeric/local_polynomial.h"

/* Positions on an even grid. */
struct derived_runs {
    const double *position; /* [start[count]] */
    const size_t *start;    /* [count + 1] run r is start[r] .. start[r + 1] - 1 */
    size_t count;
    double dt_s;
    double noise_sd; /* noise of a position, >= 0 */
};

struct derived_velocity {
    size_t half; /* number of samples before and after */
    double slope[LOCAL_POLYNOMIAL_MAX];
    double noise_sd; /* noise of the velocity; not white, because neighbours share samples */
};

/* Chooses the window, with at most half_max samples before and after (>= 2). Returns
 * STATUS_E_MATH as local_polynomial() does. */
MUST_USE enum status derived_velocity_choose(const struct derived_runs *runs, size_t half_max,
                                             struct derived_velocity *derived);

/* Returns the velocity at sample k, which must have `half` samples on either side in its
 * run. */
double derived_velocity_at(const struct derived_runs *runs,
                           const struct derived_velocity *derived, size_t k);

#endif
