/* identification/numeric/lag_products.h - sums of products of two series at all lags up to one.
 *
 *     sums[l] = sum over k of (x_k - x_mean) (y_(k - l) - y_mean)
 *
 * Piece by piece, so that what is multiplied lies in the nearest memory. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_LAG_PRODUCTS_H
#define IDENTIFICATION_NUMERIC_LAG_PRODUCTS_H

#include <stddef.h>

enum { LAG_PRODUCTS_MAX = 32 };

struct lag_series {
    const double *values;
    double mean;
};

/* Adds to sums [lags + 1] those of first <= k - l and k < end. lags <= LAG_PRODUCTS_MAX. A
 * value that is NaN counts as the mean. */
void lag_products_add(const struct lag_series *x, const struct lag_series *y, size_t first,
                      size_t end, size_t lags, double *sums);

#endif
