#include "identification/numeric/between.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>

#include "identification/numeric/numeric_thresholds.def"

enum { GRID = 81, NARROWED = 60 };

/* Recordings, of which one may be left out. */
struct sample {
    const double *value, *se;
    size_t n, without; /* without = n: all of them */
};

/* Sums at an assumed variance between recordings. */
struct pooled {
    double weight, weight2, mean, q, log_variance;
    size_t n;
};

static struct pooled pool_sample(const struct sample *s, double variance)
{
    struct pooled p = {.n = 0};
    for (size_t i = 0; i < s->n; i++) {
        if (i != s->without) {
            const double all = s->se[i] * s->se[i] + variance;
            p.n++;
            p.weight += 1.0 / all;
            p.weight2 += 1.0 / (all * all);
            p.mean += s->value[i] / all;
            p.log_variance += log(all);
        }
    }
    p.mean /= p.weight;
    for (size_t i = 0; i < s->n; i++) {
        if (i != s->without) {
            const double off = s->value[i] - p.mean;
            p.q += off * off / (s->se[i] * s->se[i] + variance);
        }
    }
    return p;
}

/* -2 log restricted likelihood. */
static double measure_cost(const struct sample *s, double variance)
{
    const struct pooled p = pool_sample(s, variance);
    return p.log_variance + log(p.weight) + p.q;
}

static double sample_variance(const struct sample *s)
{
    double mean = 0.0;
    double squares = 0.0;
    double n = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        if (i != s->without) {
            const double off = s->value[i] - mean;
            mean += off / ++n;
            squares += off * (s->value[i] - mean);
        }
    }
    return squares / (n - 1.0);
}

/* Finds the minimum of the cost in lo .. hi by golden sections. */
static double narrow_variance(const struct sample *s, double lo, double hi)
{
    const double golden = 0.5 * (sqrt(5.0) - 1.0);
    for (int step = 0; step < NARROWED; step++) {
        const double left = hi - golden * (hi - lo);
        const double right = lo + golden * (hi - lo);
        if (measure_cost(s, left) < measure_cost(s, right)) {
            hi = right;
        } else {
            lo = left;
        }
    }
    return 0.5 * (lo + hi);
}

/* Finds the variance of the largest restricted likelihood: over a logarithmic grid first, since
 * there may be two maxima. */
static double find_variance(const struct sample *s)
{
    const double most = 4.0 * sample_variance(s);
    double grid[GRID + 1] = {0.0};
    double least = measure_cost(s, 0.0);
    size_t at = 0;
    for (size_t k = 1; k <= GRID; k++) {
        grid[k] = most * pow(10.0, 8.0 * (double)(k - 1) / (double)(GRID - 1) - 8.0);
        const double cost = measure_cost(s, grid[k]);
        if (cost < least) {
            least = cost;
            at = k;
        }
    }
    return at == 0 ? 0.0 : narrow_variance(s, grid[at - 1], grid[at < GRID ? at + 1 : at]);
}

/* Finds the recording with the largest residual from the mean of the others. */
static void find_odd(const struct sample *all, struct between *out)
{
    out->odd_p = HUGE_VAL;
    for (size_t i = 0; i < all->n; i++) {
        const struct sample others = {all->value, all->se, all->n, i};
        const double variance = find_variance(&others);
        const struct pooled p = pool_sample(&others, variance);
        const double z = (all->value[i] - p.mean) /
                         sqrt(all->se[i] * all->se[i] + variance + 1.0 / p.weight);
        const double n = (double)all->n;
        const double odd_p = 2.0 * n * gsl_cdf_tdist_Q(fabs(z), n - 2.0);
        if (odd_p < out->odd_p) {
            out->odd_p = odd_p;
            out->odd = odd_p < ODD_P ? i : all->n;
        }
    }
}

static double median_variance(const double *se, size_t n)
{
    double squares[BETWEEN_MAX];
    for (size_t i = 0; i < n; i++) {
        squares[i] = se[i] * se[i];
    }
    return gsl_stats_median(squares, 1, n);
}

void between_find(const double *value, const double *se, size_t n, struct between *out)
{
    assert(n >= BETWEEN_MIN && n <= BETWEEN_MAX);
    const struct sample all = {value, se, n, n};
    const double df = (double)(n - 1);
    const double variance = find_variance(&all);
    const struct pooled same = pool_sample(&all, 0.0);
    const struct pooled p = pool_sample(&all, variance);
    const double moments = (same.q - df) / (same.weight - same.weight2 / same.weight);
    const double of_mean = fmax(1.0, p.q / df) / p.weight;
    const double reach = gsl_cdf_tdist_Pinv(0.975, df);
    const double another = reach * sqrt(variance + of_mean);
    const double fitted = reach * sqrt(variance + of_mean + median_variance(se, n));
    *out = (struct between){.n = n,
                            .value = p.mean,
                            .se = sqrt(of_mean),
                            .lo = p.mean - reach * sqrt(of_mean),
                            .hi = p.mean + reach * sqrt(of_mean),
                            .sd_between = sqrt(variance),
                            .sd_moments = sqrt(fmax(moments, 0.0)),
                            .q = same.q,
                            .p = gsl_cdf_chisq_Q(same.q, df),
                            .another_lo = p.mean - another,
                            .another_hi = p.mean + another,
                            .another_fit_lo = p.mean - fitted,
                            .another_fit_hi = p.mean + fitted,
                            .odd = n,
                            .odd_p = NAN};
    if (n >= ODD_MIN) {
        find_odd(&all, out);
    }
}
