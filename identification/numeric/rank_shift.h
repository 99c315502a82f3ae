/* identification/numeric/rank_shift.h - by how much one of two samples is larger, by ranks: a
 * few replies that are seconds late do not decide.
 *
 * Paired samples: the median of Walsh's averages (d_i + d_j) / 2 (Hodges and Lehmann), and the
 * values that Wilcoxon's signed rank test does not reject: by its exact table for few
 * differences, else by the normal law. If neighbouring differences are correlated, the variance
 * is multiplied by the sum of the Bartlett-weighted autocorrelations of the ranks. Independent
 * samples: the median of all differences, and the probability that b is larger (Brunner and
 * Munzel, Biom. J. 42, 2000).
 *
 * Order statistics of the n^2 averages are found by bisection on their value, n operations a
 * step, so they are exact and need no memory of n^2. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_RANK_SHIFT_H
#define IDENTIFICATION_NUMERIC_RANK_SHIFT_H

#include <stddef.h>

struct rank_shift {
    double value, lo, hi; /* infinite: too few values for this confidence */
    double inflation;     /* of the variance, by correlation of neighbours; >= 1 */
    double neighbours;    /* correlation of the ranks of neighbours; 0: not known */
};

/* Memory for n differences, or for the values of one sample. */
struct rank_room {
    double *sorted, *ranks; /* [n] */
    size_t *order;          /* [n] */
};

/* differences: [n] finite, in the order of time, n >= 2. */
void rank_shift_paired(const double *differences, size_t n, double confidence,
                       const struct rank_room *room, struct rank_shift *out);

/* a, b: finite and sorted, two values or more each. Finds b - a. */
void rank_shift_unpaired(const double *a, size_t n_a, const double *b, size_t n_b,
                         double confidence, struct rank_shift *out);

/* The probability that a value of b is larger than one of a; a tie counts as half. */
struct rank_superiority {
    double value, lo, hi;
};

void rank_superiority_find(const double *a, size_t n_a, const double *b, size_t n_b,
                           double confidence, struct rank_superiority *out);

#endif
