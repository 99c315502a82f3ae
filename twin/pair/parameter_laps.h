/* twin/pair/parameter_laps.h - an arm's laps held against other terms, and what makes a
 * simulator's laps the real arm's.
 *
 * Of t0 and the acceleration each makes up for the other where few moves are short: by
 * themselves they are uncertain, what they make of laps is not. So it is laps that are
 * compared, and of all changes that make laps equal the smallest is told
 * (docs/model/parameters.md). Terms of one class as sets have them: t0_s and two ratios.
 * Allocates through GSL while it runs, keeps nothing.
 */
#ifndef TWIN_PAIR_PARAMETER_LAPS_H
#define TWIN_PAIR_PARAMETER_LAPS_H

#include "base/errors/status.h"
#include "identification/travel/profile_fit.h"
#include "twin/pair/parameter_adjust.h"

/* The moves [n] that a law was fitted to, of any class. */
struct laps_fitted {
    const struct profile_move *moves;
    size_t n;
    const struct profile_fit *fit;
};

/* The terms of a law: they make its laps, though the moves may not tell one from another. */
void parameter_laps_terms(const struct profile_law *law, double terms[PROFILE_TERMS]);

/* Are the laps of this class those of such terms, which rest on `others` moves? By more than a
 * lap's own spread, and beyond chance. */
enum laps_match parameter_laps_match(const struct laps_fitted *laps, enum profile_class kind,
                                     const double terms[PROFILE_TERMS], size_t others);

/* Where a class is known as a whole, of `value`, and in force as a whole or not at all, the
 * smallest change of what is told that makes the virtual arm's laps those of the real arm's
 * moves takes the place of out's. STATUS_E_NOMEM, STATUS_E_MATH: out is as it was. */
MUST_USE enum status parameter_laps_adjust(const struct laps_fitted *real,
                                           const struct parameter_force *force,
                                           const struct parameter_virtual *virtual,
                                           const double value[PROFILE_P],
                                           struct parameter_sent *out);

#endif
