/* identification/data/column_rate.h - is one column the rate of another?
 *
 * The change of a position over a window equals the integral of its velocity. Their ratio is 1
 * unless units, times or signs differ (docs/model/identification.md, "Columns"). Pure.
 */
#ifndef IDENTIFICATION_DATA_COLUMN_RATE_H
#define IDENTIFICATION_DATA_COLUMN_RATE_H

#include <stdbool.h>
#include <stddef.h>

struct column_rate {
    /* Ratio of the distance that the position moves to that which the velocity says: the
     * geometric mean of both regressions, so that noise in either does not bend it; 0: not
     * computed. */
    double factor;
    double se;
    double correlation; /* of both, in the windows where it is largest */
    size_t window;      /* rows */
};

enum column_rate_verdict {
    COLUMN_RATE_OPEN, /* nothing moves, or there are too few rows */
    COLUMN_RATE_AGREES,
    COLUMN_RATE_NO_RATE, /* the columns do not belong together */
    COLUMN_RATE_FACTOR   /* they do, but for a factor */
};

/* Compares n rows of time, position and velocity, all finite. Across a row that does not lie
 * after the one before, and across gaps, nothing counts. Cost O(n). scratch [2 n]. */
void column_rate_find(const double *t_s, const double *position, const double *velocity,
                      size_t n, double *scratch, struct column_rate *out);

enum column_rate_verdict column_rate_judge(const struct column_rate *rate);

/* Names the units that would explain a factor, or "". */
const char *column_rate_words(double factor);

#endif
