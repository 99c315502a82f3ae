/* identification/numeric/residual_test.h - size and whiteness of the residuals of a prediction.
 *
 * If a model explains a recording, its residuals are white: no part of them can be predicted
 * from earlier ones (docs/model/output_error.md, eq. 8 - 10). Pure: no I/O, no clock, no
 * allocation.
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

/* Adds the lagged products sums[l] = sum over k of (x_k - x_mean) (y_(k - l) - y_mean), for
 * first <= k - l and k < end. The work is done in pieces that fit into the cache. sums is
 * [lags + 1], lags <= LAG_PRODUCTS_MAX. A NaN counts as the mean. */
void lag_products_add(const struct lag_series *x, const struct lag_series *y, size_t first,
                      size_t end, size_t lags, double *sums);

enum { RESIDUAL_LAGS = 20 };

struct residual_summary {
    size_t n;    /* number of residuals that are numbers; 0: all else is NaN, white false */
    double mean; /* mean of measured - predicted */
    double rmse, mae; /* in the unit of the velocity */
    double r2; /* 1 - SSE / sum of squares about the mean; NaN: the velocity is constant */
    double fit_percent; /* 100 (1 - |e| / |y - mean|); NaN: the velocity is constant */
    double correlation; /* correlation of neighbouring residuals */
    double runs_z;      /* Wald-Wolfowitz test of signs: standard normal if white */
    double ljung_box;   /* statistic over RESIDUAL_LAGS lags */
    double ljung_box_p; /* probability of this statistic or a larger one, if white */
    bool white;         /* neither test rejects at 0.2 % */
};

/* Computes the summary. residual and measured are [start[run_count]]. Run r covers start[r]
 * .. start[r + 1] - 1, and samples of two runs are not neighbours. Residuals that are NaN
 * are left out. */
void residual_summarise(const double *residual, const double *measured, const size_t *start,
                        size_t run_count, struct residual_summary *summary);

/* Returns how strongly residuals are autocorrelated, independent of their number: the root
 * of the summed squares of the correlations over RESIDUAL_LAGS lags, less the amount
 * expected by chance. With very many residuals the tests reject correlations of a hundredth,
 * which affect no estimate. NaN if ljung_box is NaN. */
double residual_memory(const struct residual_summary *summary);

/* Returns whether residual_memory() is below a tenth: only a trace of an unmodelled term. */
bool residual_has_trace(const struct residual_summary *summary);

#endif
