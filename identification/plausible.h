/* identification/plausible.h - values that look like another unit's.
 *
 * Ranges are wide, from a toy to a ship: what lies outside was rarely measured, and often taken
 * for another unit (docs/model/identification.md, section 8, has their sources). Pure.
 */
#ifndef IDENTIFICATION_PLAUSIBLE_H
#define IDENTIFICATION_PLAUSIBLE_H

#include <stddef.h>

#include "identification/estimate.h"

/* What may have been taken for another unit; any of them together. */
enum plausible_unit {
    PLAUSIBLE_TIME = 1,
    PLAUSIBLE_ANGLE = 2,
    PLAUSIBLE_LENGTH = 4,
    PLAUSIBLE_FORCE = 8
};

struct plausible_range {
    const char *name; /* of a parameter or a derived quantity; NULL ends a list */
    double lo, hi;    /* both 0: any, but not near a factor of these units or its inverse */
    unsigned below, above; /* enum plausible_unit that a value comes from that lies there */
    double root;           /* it goes with that root of what is in another unit; 0: with it */
};

/* Whether a value lies outside; the reason, MARGINAL at best, names the unit that would bring
 * it back, if there is one. NaN lies inside. */
bool plausible_judge(struct estimate *e, const struct plausible_range *range, double value,
                     const char *unit);

/* Add a reason of this kind, and the advice that goes with all of them. */
void plausible_doubt(struct estimate *e, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
