/* identification/travel/profile_time.h - times of moves with a commanded speed and
 * acceleration, such as those of an arm.
 *
 * Model (docs/model/arm_pair.md, eq. 1), for each class of moves:
 *
 *     lap = t0 + T(sv v, sa a),   T = 1/v + v/a, or 2 / sqrt(a) where v^2 > a
 *
 * v in 1/s and a in 1/s^2 are the commanded speed and acceleration divided by the size of the
 * move (radians of the joint with the largest angle, or metres of the tool's path). Each class
 * has three unknowns: t0, and the ratios sv and sa of the real to the commanded speed and
 * acceleration. Cold path: allocates through GSL while it runs and frees all of it; no clock,
 * no log.
 */
#ifndef IDENTIFICATION_TRAVEL_PROFILE_TIME_H
#define IDENTIFICATION_TRAVEL_PROFILE_TIME_H

#include "identification/travel/profile_fit.h"

/* Fits n moves. Too few moves are an answer, with reasons, not an error. Returns
 * STATUS_E_NOMEM or STATUS_E_MATH with *fit unchanged, else STATUS_OK. */
MUST_USE enum status profile_time_fit(const struct profile_move *moves, size_t n,
                                      enum travel_method method, struct profile_fit *fit);

#endif
