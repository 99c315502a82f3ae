/* identification/numeric/agreement.h - test whether several estimates of one number agree.
 *
 * Welch's test (Biometrika 38, 1951) is used when the errors are estimated from few samples.
 * The spread beyond the errors follows DerSimonian and Laird (Control. Clin. Trials 7, 1986).
 * Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_AGREEMENT_H
#define IDENTIFICATION_NUMERIC_AGREEMENT_H

#include <stddef.h>

/* One estimate with its error. */
struct estimate_of_one {
    double value, se; /* the estimate and its standard error, se > 0 */
    double freedom;   /* degrees of freedom behind se, > 0; HUGE_VAL: se is known */
};

struct agreement {
    double statistic, df; /* chi squared, if the estimates agree and their errors are known */
    double p; /* probability of this statistic or a larger one, if the estimates agree */
    double between_sd; /* standard deviation between the estimates beyond their errors; 0: the
                          errors explain it */
    double mean_variance; /* variance that between_sd adds to the mean weighted by 1 / se^2 */
};

/* each [n], n >= 2. */
void agreement_find(const struct estimate_of_one *each, size_t n, struct agreement *out);

#endif
