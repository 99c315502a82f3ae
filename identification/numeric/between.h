/* identification/numeric/between.h - one number from several recordings: its mean, its spread
 * between recordings, the range of another recording, and a recording that is odd.
 *
 * y_i = m + b_i + e_i with b ~ N(0, sd^2) and known errors e_i ~ N(0, se_i^2) of the single
 * fits. The spread is that of the restricted likelihood (REML), the error of the mean that of
 * Hartung and Knapp (Stat. Med. 20, 2001), but not below the plain one. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_BETWEEN_H
#define IDENTIFICATION_NUMERIC_BETWEEN_H

#include <stddef.h>

enum { BETWEEN_MAX = 64, BETWEEN_MIN = 3 };

struct between {
    size_t n;
    double value, se, lo, hi;              /* mean of all recordings, 95 % interval */
    double sd_between, sd_moments;         /* REML; moments (DerSimonian and Laird), a check */
    double q, p;                           /* Cochran's Q, chi squared of n - 1 if they agree */
    double another_lo, another_hi;         /* true value of another recording */
    double another_fit_lo, another_fit_hi; /* its fitted value, with the median error */
    size_t odd;   /* index of the recording that does not belong to the others; n: none */
    double odd_p; /* of the oddest, times n; NaN: too few recordings to say */
};

/* value, se: [n], se > 0, BETWEEN_MIN <= n <= BETWEEN_MAX. */
void between_find(const double *value, const double *se, size_t n, struct between *out);

#endif
