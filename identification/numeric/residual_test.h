/* identification/numeric/residual_test.h - what is left of a measured velocity after a
 * prediction.
 *
 * How large it is, and whether it is white: a model that explains a recording leaves nothing
 * that could have been foretold (docs/model/output_error.md, eq. 8 - 10). Pure: no I/O, no
 * clock, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_RESIDUAL_TEST_H
#define IDENTIFICATION_NUMERIC_RESIDUAL_TEST_H

#include <stdbool.h>
#include <stddef.h>

enum { LAG_PRODUCTS_MAX = 32 };

struct lag_series {
    const double *values;
    double mean;
};

/* sums[l] = sum over k of (x_k - x_mean) (y_(k - l) - y_mean), piece by piece, so that what is
 * multiplied lies in the nearest memory. Adds to sums [lags + 1] those of first <= k - l and k
 * < end. lags <= LAG_PRODUCTS_MAX. A value that is NaN counts as the mean. */
void lag_products_add(const struct lag_series *x, const struct lag_series *y, size_t first,
                      size_t end, size_t lags, double *sums);

enum { RESIDUAL_LAGS = 20 };

struct residual_summary {
    size_t n;           /* residuals that are numbers; 0: all the rest is NaN, white false */
    double mean;        /* of measured - predicted */
    double rmse, mae;   /* unit of the velocity */
    double r2;          /* 1 - SSE / sum of squares about the mean; NaN: it did not change */
    double fit_percent; /* 100 (1 - |e| / |y - mean|); NaN likewise */
    double correlation; /* of one residual with the next */
    double runs_z;      /* Wald-Wolfowitz test of signs: standard normal when white */
    double ljung_box;   /* of RESIDUAL_LAGS lags */
    double ljung_box_p; /* chance of as much or more when white */
    bool white;         /* neither test objects at 0.2 % */
};

/* Summarise. residual and measured are [start[run_count]]; run r is start[r] .. start[r + 1] -
 * 1 and neighbours of two runs are none. Residuals that are NaN are left out. */
void residual_summarise(const double *residual, const double *measured, const size_t *start,
                        size_t run_count, struct residual_summary *summary);

/* How much residuals hang together, whatever their number: root of the sum of squares of the
 * correlations over RESIDUAL_LAGS lags, less what chance gives. Of very many residuals tests
 * object to a hundredth, which moves no estimate. NaN where ljung_box is. */
double residual_memory(const struct residual_summary *summary);

/* Whether that is below a tenth: a trace of what the model lacks, no more. */
bool residual_has_trace(const struct residual_summary *summary);

#endif
