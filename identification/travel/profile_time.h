/* identification/travel/profile_time.h - how long moves take that were commanded with a speed
 * and an acceleration, as those of an arm.
 *
 * Model (docs/model/arm_pair.md, eq. 1), for each class of move by itself:
 *
 *     lap = t0 + T(sv v, sa a),   T = 1/v + v/a, or 2 / sqrt(a) where v^2 > a
 *
 * with v in 1/s and a in 1/s^2, the commanded speed and acceleration over the size of the move
 * (radians of the joint that turns furthest, metres of the tool's way). Three unknowns a class:
 * t0, and by which ratio speed and acceleration differ from the commanded ones. Cold path:
 * allocates through GSL while it runs, keeps nothing, has no clock and no log.
 */
#ifndef IDENTIFICATION_TRAVEL_PROFILE_TIME_H
#define IDENTIFICATION_TRAVEL_PROFILE_TIME_H

#include "identification/travel/profile_fit.h"

/* Fit n moves; too few are an answer, with reasons, and not an error. Returns STATUS_E_NOMEM or
 * STATUS_E_MATH with *fit untouched, else STATUS_OK. */
MUST_USE enum status profile_time_fit(const struct profile_move *moves, size_t n,
                                      enum travel_method method, struct profile_fit *fit);

#endif
