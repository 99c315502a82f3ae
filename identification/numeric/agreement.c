#include "identification/numeric/agreement.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

/* Weighted mean and Cochran's Q with weights 1 / se^2, then two corrections: Welch's factor
 * and the F distribution allow for errors that are themselves estimated from few samples.
 * The excess of Q over its n - 1 degrees gives the variance between the estimates
 * (DerSimonian and Laird). The estimates are assumed to be independent and normal. */
void agreement_find(const struct estimate_of_one *each, size_t n, struct agreement *out)
{
    double w = 0.0;
    double w2 = 0.0;
    double mean = 0.0;
    double q = 0.0;
    double lambda = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double weight = 1.0 / (each[i].se * each[i].se);
        w += weight;
        w2 += weight * weight;
        mean += weight * each[i].value;
    }
    mean /= w;
    for (size_t i = 0; i < n; i++) {
        const double share = 1.0 / (each[i].se * each[i].se) / w;
        q += w * share * (each[i].value - mean) * (each[i].value - mean);
        lambda += (1.0 - share) * (1.0 - share) / each[i].freedom;
    }
    const double df = (double)(n - 1);
    const double square = (double)(n * n - 1);
    /* Welch: uncertain errors inflate the statistic and lengthen its tail. */
    const double f = q / df / (1.0 + 2.0 * (double)(n - 2) / square * lambda);
    out->df = df;
    out->statistic = f * df;
    out->p = lambda > 0.0 ? gsl_cdf_fdist_Q(f, df, square / (3.0 * lambda))
                          : gsl_cdf_chisq_Q(out->statistic, df);
    const double variance = (q - df) / (w - w2 / w);
    out->between_sd = variance > 0.0 ? sqrt(variance) : 0.0;
    out->mean_variance = out->between_sd * out->between_sd * w2 / (w * w);
}
