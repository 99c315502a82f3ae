/* identification/fit/plausible.h - detection of values in a wrong unit.
 *
 * Ranges are wide, from a toy to a ship. A value outside was rarely measured so, and often has
 * another unit (docs/model/identification.md, "Verdict"). Pure.
 */
#ifndef IDENTIFICATION_FIT_PLAUSIBLE_H
#define IDENTIFICATION_FIT_PLAUSIBLE_H

#include <stddef.h>

#include "identification/data/linear_model.h"
#include "identification/fit/estimate.h"

/* Returns whether a value lies outside its range. The reason, MARGINAL at best, names the
 * unit that would bring it back, if there is one. NaN lies inside. */
bool plausible_judge(struct estimate *e, const struct plausible_range *range, double value,
                     const char *unit);

/* Adds a reason of this kind, with the advice that belongs to all of them. */
void plausible_doubt(struct estimate *e, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
