/* identification/travel/travel_time.h - travel times of moves: fit of the travel-time model.
 *
 * Model (docs/model/travel_time.md, eq. 1):
 *
 *     lap = t0 + [rotation != 0] (ta + |rotation| / w)
 *              + [displacement != 0] (tr + |displacement| / v)
 *
 * with beta = (t0, ta, tr, 1/w, 1/v), in which it is linear. Cold path: allocates through GSL
 * while it runs and frees all of it; no clock, no log.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_TIME_H
#define IDENTIFICATION_TRAVEL_TRAVEL_TIME_H

#include <stddef.h>

#include "base/errors/status.h"
#include "identification/travel/travel_fit.h"

/* Fits n moves. For a machine that only turns, or only drives, the other column is ignored.
 * Too few or one-sided data are an answer (STATUS_OK, FAIL or MARGINAL with
 * reasons, and the identifiable part), not an error.
 *
 * Returns STATUS_E_NOMEM or STATUS_E_MATH with *fit unchanged, else STATUS_OK. */
MUST_USE enum status travel_time_fit(const struct travel_move *moves, size_t n,
                                     enum travel_motion motion, enum travel_method method,
                                     struct travel_fit *fit);

/* Returns the lap that the model predicts; NaN if the data did not determine it (a term is
 * missing and no combination replaces it). */
double travel_time_predict(const struct travel_fit *fit, double rotation_rad,
                           double displacement_m);

#endif
