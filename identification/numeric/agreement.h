/* identification/numeric/agreement.h - whether several estimates of one number agree.
 *
 * Welch's test (Biometrika 38, 1951) where their errors are known from few samples, and how
 * much they differ beyond their errors (DerSimonian and Laird, Control. Clin. Trials 7, 1986).
 * Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_AGREEMENT_H
#define IDENTIFICATION_NUMERIC_AGREEMENT_H

#include <stddef.h>

/* One of them. */
struct estimate_of_one {
    double value, se; /* se > 0 */
    double freedom;   /* degrees of it that se rests on, > 0; HUGE_VAL: se is known */
};

struct agreement {
    double statistic, df; /* chi squared when they agree and their errors are known */
    double p;             /* chance of as much or more then */
    double between_sd;    /* from one to the next beyond their errors; 0: they explain it */
    double mean_variance; /* that this adds to a mean which weighs them by their errors */
};

/* n >= 2 of them. */
void agreement_find(const struct estimate_of_one *each, size_t n, struct agreement *out);

#endif
