#include "identification/numeric/residual_test.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "identification/numeric/dot.h"
#include "identification/numeric/numeric_thresholds.def"

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

/* Sums over the residuals that are numbers. */
struct sums {
    size_t n;
    double e, ee, ae, y, yy;
};

/* A missing value adds zero instead of being skipped: an unpredictable branch costs more. */
static struct sums add_up(const double *residual, const double *measured, size_t count)
{
    struct sums s = {.n = 0};
    for (size_t k = 0; k < count; k++) {
        const bool there = !isnan(residual[k]);
        const double e = there ? residual[k] : 0.0;
        s.n += there;
        s.e += e;
        s.ee += e * e;
        s.ae += fabs(e);
        s.y += there ? measured[k] : 0.0;
    }
    const double centre = s.y / (double)s.n;
    for (size_t k = 0; k < count; k++) {
        const double y = isnan(residual[k]) ? 0.0 : measured[k] - centre;
        s.yy += y * y;
    }
    return s;
}

/* Compares the number of stretches of equal sign with that expected by chance. */
static double count_runs_z(const double *residual, const size_t *start, size_t run_count)
{
    size_t seen[2] = {0}; /* number of residuals >= 0, and < 0 */
    size_t stretches = 0;
    size_t joints = 0; /* number of runs with residuals, less one */
    for (size_t r = 0; r < run_count; r++) {
        size_t k = start[r];
        while (k < start[r + 1] && isnan(residual[k])) {
            k++;
        }
        if (k == start[r + 1]) {
            continue;
        }
        joints += stretches > 0 ? 1 : 0;
        stretches++;
        for (bool last = residual[k] < 0.0; k < start[r + 1]; k++) {
            const bool there = !isnan(residual[k]);
            const bool below = there ? residual[k] < 0.0 : last;
            seen[below] += there;
            stretches += below != last;
            last = below;
        }
    }
    const double n = (double)(seen[0] + seen[1]);
    const double both = 2.0 * (double)seen[0] * (double)seen[1];
    /* Each further run begins a new stretch. By chance, some of these would have joined the
     * previous one. */
    const double expected = both / n + 1.0 + (double)joints * (1.0 - both / (n * n));
    const double variance = both * (both - n) / (n * n * (n - 1.0));
    return ((double)stretches - expected) / sqrt(variance);
}

void residual_summarise(const double *residual, const double *measured, const size_t *start,
                        size_t run_count, struct residual_summary *summary)
{
    const size_t count = start[run_count] - start[0];
    const struct sums s = add_up(residual + start[0], measured + start[0], count);
    const double n = (double)s.n;
    *summary = (struct residual_summary){.n = s.n};
    summary->mean = s.e / n;
    summary->rmse = sqrt(s.ee / n);
    summary->mae = s.ae / n;
    summary->r2 = s.yy > 0.0 ? 1.0 - s.ee / s.yy : nan("");
    summary->fit_percent = s.yy > 0.0 ? 100.0 * (1.0 - sqrt(s.ee / s.yy)) : nan("");
    const struct lag_series series = {residual, 0.0};
    double products[RESIDUAL_LAGS + 1] = {0.0};
    for (size_t r = 0; r < run_count; r++) {
        lag_products_add(&series, &series, start[r], start[r + 1], RESIDUAL_LAGS, products);
    }
    for (size_t lag = 1; lag <= RESIDUAL_LAGS; lag++) {
        const double rho = products[lag] / s.ee;
        summary->correlation = lag == 1 ? rho : summary->correlation;
        summary->ljung_box += n * (n + 2.0) * rho * rho / (n - (double)lag);
    }
    if (!(n > 2.0 * RESIDUAL_LAGS) || !(s.ee > 0.0)) {
        summary->ljung_box = NAN;
        summary->correlation = s.ee > 0.0 ? summary->correlation : nan("");
    }
    /* NaN would fail the range check of GSL. */
    summary->ljung_box_p = isnan(summary->ljung_box)
                               ? nan("")
                               : gsl_cdf_chisq_Q(summary->ljung_box, RESIDUAL_LAGS);
    summary->runs_z = count_runs_z(residual, start, run_count);
    summary->white =
        summary->ljung_box_p >= LJUNG_BOX_P_MIN && fabs(summary->runs_z) <= RUNS_Z_MAX;
}

double residual_memory(const struct residual_summary *summary)
{
    const double n = (double)summary->n;
    const double more = summary->ljung_box - RESIDUAL_LAGS;
    return !(n > 0.0) || isnan(more) ? (double)NAN : sqrt(fmax(0.0, more) / n);
}

bool residual_has_trace(const struct residual_summary *summary)
{
    return residual_memory(summary) < TRACE;
}
