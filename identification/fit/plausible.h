/* identification/fit/plausible.h - values that look like another unit's.
 *
 * Ranges are wide, from a toy to a ship: what lies outside was rarely measured, and often taken
 * for another unit (docs/model/identification.md, "Verdict"). Pure.
 */
#ifndef IDENTIFICATION_FIT_PLAUSIBLE_H
#define IDENTIFICATION_FIT_PLAUSIBLE_H

#include <stddef.h>

#include "identification/data/linear_model.h"
#include "identification/fit/estimate.h"

/* Whether a value lies outside; the reason, MARGINAL at best, names the unit that would bring
 * it back, if there is one. NaN lies inside. */
bool plausible_judge(struct estimate *e, const struct plausible_range *range, double value,
                     const char *unit);

/* Add a reason of this kind, and the advice that goes with all of them. */
void plausible_doubt(struct estimate *e, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
