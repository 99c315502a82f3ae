/* identification/numeric/dot.h - dot product with eight independent partial sums.
 *
 * The processor can add them in parallel. Their order is fixed, so that every compiler gives
 * the same bytes, and rounding is smaller than with one sum. Pure.
 */
#ifndef IDENTIFICATION_NUMERIC_DOT_H
#define IDENTIFICATION_NUMERIC_DOT_H

#include <stddef.h>

/* Returns sum x[i] y[i] for i < n. */
static inline double dot_product(const double *x, const double *y, size_t n)
{
    enum { LANES = 8 };
    double s[LANES] = {0.0};
    const size_t whole = n / LANES * LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        s[0] += x[i] * y[i];
        s[1] += x[i + 1] * y[i + 1];
        s[2] += x[i + 2] * y[i + 2];
        s[3] += x[i + 3] * y[i + 3];
        s[4] += x[i + 4] * y[i + 4];
        s[5] += x[i + 5] * y[i + 5];
        s[6] += x[i + 6] * y[i + 6];
        s[7] += x[i + 7] * y[i + 7];
    }
    double rest = 0.0;
    for (size_t i = whole; i < n; i++) {
        rest += x[i] * y[i];
    }
    return rest + ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

#endif
