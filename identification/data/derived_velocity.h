/* identification/data/derived_velocity.h - a velocity that nobody recorded, from the positions.
 *
 * The slope of a cubic through neighbouring samples; over as many of them as make it smoother
 * without changing it by more than noise does (docs/model/identification.md, eq. 2a - 2b).
 * Pure: no I/O, no clock, no allocation.
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
    double noise_sd; /* of a position, >= 0 */
};

struct derived_velocity {
    size_t half; /* samples before and after */
    double slope[LOCAL_POLYNOMIAL_MAX];
    double noise_sd; /* of the velocity; neighbours share samples, so it is not white */
};

/* Choose the window, of at most half_max samples before and after (>= 2). Returns STATUS_E_MATH
 * as local_polynomial(). */
MUST_USE enum status derived_velocity_choose(const struct derived_runs *runs, size_t half_max,
                                             struct derived_velocity *derived);

/* Velocity at sample k, which has half samples on either side in its run. */
double derived_velocity_at(const struct derived_runs *runs,
                           const struct derived_velocity *derived, size_t k);

#endif
