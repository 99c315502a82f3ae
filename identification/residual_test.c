#include "identification/residual_test.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "identification/lag_products.h"

/* 0.2 % each, so that six tests of three axes blame a perfect fit once in a hundred. What a
 * model lacks shows far below that. */
static const double RUNS_Z_MAX = 3.0902; /* of the standard normal, two-sided */
static const double LJUNG_BOX_P_MIN = 0.002;

/* Residuals that hang together by less than this have a trace of what is missing, no more. */
static const double TRACE = 0.1;

/* Sums over what is there. */
struct sums {
    double n, e, ee, ae, y, yy;
};

static struct sums add_up(const double *residual, const double *measured, size_t count)
{
    struct sums s = {.n = 0.0};
    for (size_t k = 0; k < count; k++) {
        if (!isnan(residual[k])) {
            s.n += 1.0;
            s.e += residual[k];
            s.ee += residual[k] * residual[k];
            s.ae += fabs(residual[k]);
            s.y += measured[k];
        }
    }
    const double centre = s.y / s.n;
    for (size_t k = 0; k < count; k++) {
        if (!isnan(residual[k])) {
            s.yy += (measured[k] - centre) * (measured[k] - centre);
        }
    }
    return s;
}

/* Number of stretches of equal sign against what chance would give. */
static double count_runs_z(const double *residual, const size_t *start, size_t run_count)
{
    double above = 0.0;
    double below = 0.0;
    double stretches = 0.0;
    double pieces = 0.0;
    for (size_t r = 0; r < run_count; r++) {
        int last = 0;
        for (size_t k = start[r]; k < start[r + 1]; k++) {
            if (isnan(residual[k])) {
                continue;
            }
            const int sign = residual[k] < 0.0 ? -1 : 1;
            above += sign > 0 ? 1.0 : 0.0;
            below += sign < 0 ? 1.0 : 0.0;
            pieces += last == 0 ? 1.0 : 0.0;
            stretches += sign != last ? 1.0 : 0.0;
            last = sign;
        }
    }
    const double n = above + below;
    const double both = 2.0 * above * below;
    /* Each further run begins a stretch that chance would have joined to the one before. */
    const double expected = both / n + 1.0 + (pieces - 1.0) * (1.0 - both / (n * n));
    const double variance = both * (both - n) / (n * n * (n - 1.0));
    return (stretches - expected) / sqrt(variance);
}

void residual_summarise(const double *residual, const double *measured, const size_t *start,
                        size_t run_count, struct residual_summary *summary)
{
    const size_t count = start[run_count] - start[0];
    const struct sums s = add_up(residual + start[0], measured + start[0], count);
    *summary = (struct residual_summary){.n = (size_t)s.n};
    summary->mean = s.e / s.n;
    summary->rmse = sqrt(s.ee / s.n);
    summary->mae = s.ae / s.n;
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
        summary->ljung_box += s.n * (s.n + 2.0) * rho * rho / (s.n - (double)lag);
    }
    if (!(s.n > 2.0 * RESIDUAL_LAGS) || !(s.ee > 0.0)) {
        summary->ljung_box = NAN;
        summary->correlation = s.ee > 0.0 ? summary->correlation : nan("");
    }
    /* NaN would set off the library's range check. */
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
