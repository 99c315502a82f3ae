#include "identification/outlier_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REACH = 3 };

/* Of residuals. */
static const double SPREADS = 5.0;
/* A simulation that leaves more than so many noises does not tell which sample is wrong. */
static const double EXPLAINED = 3.0;
static const double NOISES = 5.0;
static const double DEVIATIONS = 4.0;

static double middle_of(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* What three pairs of neighbours say of a sample, each by its mean: where a line through the
 * pair passes. At the ends of a run both neighbours lie on one side. */
static void ask_pairs(const double *y, size_t n, size_t k, double pair[REACH])
{
    for (size_t i = 0; i < REACH; i++) {
        const size_t d = i + 1;
        pair[i] = k < REACH        ? 2.0 * y[k + d] - y[k + 2 * d]
                  : k + REACH >= n ? 2.0 * y[k - d] - y[k - 2 * d]
                                   : 0.5 * (y[k - d] + y[k + d]);
    }
}

/* Of one run and axis; returns how many. */
static size_t replace(const double *y, size_t n, double noise_sd, double *to)
{
    size_t count = 0;
    memcpy(to, y, n * sizeof *to);
    for (size_t k = 0; k < n && n > 2 * REACH; k++) {
        double pair[REACH];
        ask_pairs(y, n, k, pair);
        const double middle = middle_of(pair[0], pair[1], pair[2]);
        const double spread =
            middle_of(fabs(pair[0] - middle), fabs(pair[1] - middle), fabs(pair[2] - middle));
        if (spread + noise_sd > 0.0 &&
            fabs(y[k] - middle) > NOISES * noise_sd + DEVIATIONS * spread) {
            to[k] = middle;
            count++;
        }
    }
    return count;
}

enum status outlier_samples_replace(const struct data_set *set, struct data_set *clean,
                                    gsl_vector **memory, size_t outliers[MODEL_AXES_MAX])
{
    gsl_vector *own = gsl_vector_alloc(set->axes * set->n);
    if (!own) {
        return STATUS_E_NOMEM;
    }
    *clean = *set;
    for (size_t a = 0; a < set->axes; a++) {
        double *to = own->data + a * set->n;
        outliers[a] = 0;
        for (size_t r = 0; r < set->run_count; r++) {
            const size_t first = set->run_start[r];
            outliers[a] += replace(set->nu[a] + first, set->run_start[r + 1] - first,
                                   set->noise_sd[a], to + first);
        }
        clean->nu[a] = to;
    }
    *memory = own;
    return STATUS_OK;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Robust standard deviation of residuals about zero; 0 when there are none. */
static double spread_of(const double *residual, size_t n, double *scratch)
{
    size_t known = 0;
    for (size_t k = 0; k < n; k++) {
        if (isfinite(residual[k])) {
            scratch[known++] = fabs(residual[k]);
        }
    }
    qsort(scratch, known, sizeof *scratch, by_size);
    return known > 0 ? 1.4826 * scratch[known / 2] : 0.0;
}

void outlier_samples_refine(const struct data_set *set, double *const *residual,
                            double *scratch, gsl_vector *memory,
                            size_t outliers[MODEL_AXES_MAX])
{
    for (size_t a = 0; a < set->axes; a++) {
        const double spread = spread_of(residual[a], set->n, scratch);
        double *to = memory->data + a * set->n;
        if (!(spread > 0.0) || !(spread <= EXPLAINED * set->noise_sd[a])) {
            continue;
        }
        outliers[a] = 0;
        for (size_t k = 0; k < set->n; k++) {
            const bool far = fabs(residual[a][k]) > SPREADS * spread;
            if (isfinite(residual[a][k])) {
                to[k] = set->nu[a][k] - (far ? residual[a][k] : 0.0);
                outliers[a] += far ? 1 : 0;
            }
        }
    }
}
