#include "identification/numeric/lag_products.h"

#include <math.h>

#include "identification/numeric/dot.h"

enum { PIECE = 1024 };

static void centre_values(const struct lag_series *series, size_t from, size_t n, double *to)
{
    for (size_t i = 0; i < n; i++) {
        const double value = series->values[from + i];
        to[i] = isnan(value) ? 0.0 : value - series->mean;
    }
}

void lag_products_add(const struct lag_series *x, const struct lag_series *y, size_t first,
                      size_t end, size_t lags, double *sums)
{
    double here[PIECE];
    double before[LAG_PRODUCTS_MAX + PIECE] = {0.0};
    for (size_t k = first; k < end; k += PIECE) {
        const size_t n = end - k < PIECE ? end - k : PIECE;
        for (size_t i = 0; i < lags && k > first; i++) {
            before[i] = before[PIECE + i];
        }
        centre_values(x, k, n, here);
        centre_values(y, k, n, before + lags);
        for (size_t l = 0; l <= lags; l++) {
            sums[l] += dot_product(here, before + lags - l, n);
        }
    }
}
