/* twin/pair/parameter_laps.h - compares an arm's laps with given terms, and finds the
 * correction that makes a simulator's laps equal to the real arm's.
 *
 * If few moves are short, t0 and the acceleration compensate each other in a fit: each is
 * uncertain, but the laps that they give together are not. So laps are compared instead of
 * terms, and of all corrections that equalise the laps the smallest one is used
 * (docs/model/parameters.md). Terms of one class are those of a set: t0_s and two ratios.
 * Allocates through GSL during a call only.
 */
#ifndef TWIN_PAIR_PARAMETER_LAPS_H
#define TWIN_PAIR_PARAMETER_LAPS_H

#include "base/errors/status.h"
#include "identification/travel/profile_fit.h"
#include "twin/pair/parameter_adjust.h"

/* The moves [n] of a law's fit, of any class. */
struct laps_fitted {
    const struct profile_move *moves;
    size_t n;
    const struct profile_fit *fit;
};

/* Returns the terms of a law. They give its laps, even if the moves cannot separate the
 * terms. */
void parameter_laps_terms(const struct profile_law *law, double terms[PROFILE_TERMS]);

/* Are the laps of this class those of the given terms, which are based on `others` moves? The
 * difference must exceed a lap's own spread, and chance. */
enum laps_match parameter_laps_match(const struct laps_fitted *laps, enum profile_class kind,
                                     const double terms[PROFILE_TERMS], size_t others);

/* If a class is completely known, from `value`, and in force completely or not at all, replaces
 * out's change by the smallest one that makes the virtual arm's laps equal to the real arm's.
 * STATUS_E_NOMEM, STATUS_E_MATH: out is unchanged. */
MUST_USE enum status parameter_laps_adjust(const struct laps_fitted *real,
                                           const struct parameter_force *force,
                                           const struct parameter_virtual *virtual,
                                           const double value[PROFILE_P],
                                           struct parameter_sent *out);

#endif
