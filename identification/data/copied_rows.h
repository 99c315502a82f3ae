/* identification/data/copied_rows.h - rows that repeat earlier ones to the bit.
 *
 * Noise never repeats, so such rows were pasted, or read twice, and add nothing that is known.
 * Values on a coarse grid do repeat by chance: a block counts only if chance does not explain
 * it (docs/model/identification.md, "Columns"). Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DATA_COPIED_ROWS_H
#define IDENTIFICATION_DATA_COPIED_ROWS_H

#include <stddef.h>

#include "base/errors/status.h"

/* A measured column. Values that are not finite are allowed. */
struct copied_column {
    const double *x;    /* [n] */
    double sd, quantum; /* of its noise; step of its values, 0: none known */
};

struct copied_rows {
    size_t total; /* rows that repeat earlier ones */
    size_t from, to,
        rows; /* the longest block: rows from `to` on repeat those from `from` on */
};

/* Returns the step in which values come: the known one, or that of their decimals. */
double copied_step(double quantum, double range);

/* Finds blocks of COPIED_MIN rows and more that are equal in all columns. STATUS_E_NOMEM. Cost
 * O(n log n). */
MUST_USE enum status copied_rows_find(const struct copied_column *columns, size_t count,
                                      size_t n, struct copied_rows *out);

#endif
