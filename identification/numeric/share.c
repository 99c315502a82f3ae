#include "identification/numeric/share.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

struct share share_find(double k, double n, double confidence)
{
    if (!(n > 0.0)) {
        return (struct share){NAN, NAN, NAN};
    }
    const double z = gsl_cdf_ugaussian_Pinv(0.5 + confidence / 2.0);
    const double p = k / n;
    const double d = 1.0 + z * z / n;
    const double middle = p + z * z / 2.0 / n;
    const double half = z / d * sqrt(p * (1.0 - p) / n + z * z / 4.0 / n / n);
    return (struct share){p, middle / d - half, middle / d + half};
}

/* The distance of an end, made of the distances of the ends of both shares. */
static double combine_ends(double a, double b, double correlation)
{
    return sqrt(fmax(0.0, a * a - 2.0 * correlation * a * b + b * b));
}

static struct share find_difference(struct share a, struct share b, double correlation)
{
    const double d = b.value - a.value;
    return (struct share){d, d - combine_ends(b.value - b.lo, a.hi - a.value, correlation),
                          d + combine_ends(b.hi - b.value, a.value - a.lo, correlation)};
}

struct share share_difference(size_t k_a, size_t n_a, size_t k_b, size_t n_b, double confidence)
{
    return find_difference(share_find((double)k_a, (double)n_a, confidence),
                           share_find((double)k_b, (double)n_b, confidence), 0.0);
}

struct share share_paired_difference(const struct share_pairs *pairs, double confidence)
{
    const double a = (double)pairs->both;
    const double b = (double)pairs->only_a;
    const double c = (double)pairs->only_b;
    const double d = (double)pairs->neither;
    const double n = a + b + c + d;
    const double margins = (a + b) * (c + d) * (a + c) * (b + d);
    double cross = a * d - b * c;
    if (cross > 0.0) {
        cross = fmax(cross - n / 2.0, 0.0); /* Newcombe's correction for continuity */
    }
    return find_difference(share_find(a + b, n, confidence), share_find(a + c, n, confidence),
                           margins > 0.0 ? cross / sqrt(margins) : 0.0);
}

double share_paired_p(const struct share_pairs *pairs)
{
    const size_t n = pairs->only_a + pairs->only_b;
    const size_t least = pairs->only_a < pairs->only_b ? pairs->only_a : pairs->only_b;
    return n == 0 ? 1.0
                  : fmin(1.0, 2.0 * gsl_cdf_binomial_P((unsigned)least, 0.5, (unsigned)n));
}
