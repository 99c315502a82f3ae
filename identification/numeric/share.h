/* identification/numeric/share.h - shares of commands and their differences, with intervals.
 *
 * A single share has Wilson's interval. Differences have Newcombe's, made of Wilson's (Stat.
 * Med. 17, 1998, pages 857 and 873, method 10 of each). Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_SHARE_H
#define IDENTIFICATION_NUMERIC_SHARE_H

#include <stddef.h>

struct share {
    double value, lo, hi; /* NaN: of nothing */
};

/* Finds k / n; a tie may count as one half. confidence: 0.95. */
struct share share_find(double k, double n, double confidence);

/* Finds b - a of two independent shares. */
struct share share_difference(size_t k_a, size_t n_a, size_t k_b, size_t n_b,
                              double confidence);

/* Two answers to each of the same questions, by how many were yes. */
struct share_pairs {
    size_t both, only_a, only_b, neither;
};

/* Finds b - a of such answers, and the exact probability that chance alone divides the answers
 * that differ as unevenly (McNemar). */
struct share share_paired_difference(const struct share_pairs *pairs, double confidence);
double share_paired_p(const struct share_pairs *pairs);

#endif
