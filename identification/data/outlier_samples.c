#include "identification/data/outlier_samples.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "identification/data/data_thresholds.def"

enum { REACH = 3 };

static double middle_of(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Three estimates of a sample from pairs of neighbours: the value of the line through each
 * pair. At the ends of a run, both neighbours lie on one side. */
static void ask_pairs(const double *y, size_t n, size_t k, double pair[REACH])
{
    for (size_t i = 0; i < REACH; i++) {
        const size_t d = i + 1;
        pair[i] = k < REACH        ? 2.0 * y[k + d] - y[k + 2 * d]
                  : k + REACH >= n ? 2.0 * y[k - d] - y[k - 2 * d]
                                   : 0.5 * (y[k - d] + y[k + d]);
    }
}

/* Replaces outliers in one run and axis; returns their number. */
static size_t replace_outliers(const double *y, size_t n, double noise_sd, double *to)
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
            outliers[a] += replace_outliers(set->nu[a] + first, set->run_start[r + 1] - first,
                                            set->noise_sd[a], to + first);
        }
        clean->nu[a] = to;
    }
    *memory = own;
    return STATUS_OK;
}

/* Robust standard deviation of residuals about zero; 0 if there are none. */
static double spread_of(const double *residual, size_t n, double *scratch)
{
    size_t known = 0;
    for (size_t k = 0; k < n; k++) {
        if (isfinite(residual[k])) {
            scratch[known++] = fabs(residual[k]);
        }
    }
    return known > 0 ? 1.4826 * gsl_stats_median(scratch, 1, known) : 0.0;
}

/* Tukey's biweight; u is the residual over the limit. */
static double weigh_biweight(double u)
{
    const double w = fabs(u) < 1.0 ? 1.0 - u * u : 0.0;
    return w * w;
}

/* Derivative of u times the biweight of u. */
static double biweight_slope(double u)
{
    return fabs(u) < 1.0 ? (1.0 - u * u) * (1.0 - 5.0 * u * u) : 0.0;
}

/* Processes one axis; returns the number of residuals beyond the limit. */
static size_t weigh_axis(const double *measured, const double *residual, size_t n, double most,
                         double *to)
{
    double slopes = 0.0;
    double known = 0.0;
    size_t far = 0;
    for (size_t k = 0; k < n; k++) {
        if (isfinite(residual[k])) {
            known += 1.0;
            slopes += biweight_slope(residual[k] / most);
            far += fabs(residual[k]) >= most ? 1 : 0;
        }
    }
    for (size_t k = 0; k < n; k++) {
        if (isfinite(residual[k])) {
            const double counted = residual[k] * weigh_biweight(residual[k] / most);
            to[k] = measured[k] - residual[k] + counted * known / slopes;
        }
    }
    return far;
}

void outlier_samples_refine(const struct data_set *set, double *const *residual,
                            double *scratch, gsl_vector *memory,
                            size_t outliers[MODEL_AXES_MAX])
{
    for (size_t a = 0; a < set->axes; a++) {
        const double spread = spread_of(residual[a], set->n, scratch);
        if (spread > 0.0 && spread <= EXPLAINED * set->noise_sd[a]) {
            outliers[a] = weigh_axis(set->nu[a], residual[a], set->n, SPREADS * spread,
                                     memory->data + a * set->n);
        }
    }
}
