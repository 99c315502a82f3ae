/* identification/numeric/svd.h - singular values of a small square matrix: its rank, what it
 * leaves free, and its pseudo inverse. Pure: GSL's, which allocates only where its rotations
 * do not end.
 */
#ifndef IDENTIFICATION_NUMERIC_SVD_H
#define IDENTIFICATION_NUMERIC_SVD_H

#include <stddef.h>

#include "base/status.h"
#include "identification/numeric/limits.h"

enum { SVD_ENTRIES_MAX = NUMERIC_COLUMNS_MAX * NUMERIC_COLUMNS_MAX };

/* Of the matrix with rows and columns scaled, but for the inverse. */
struct svd {
    size_t p, rank;
    double condition;          /* inf when the rank is short */
    double v[SVD_ENTRIES_MAX]; /* [p x p] right singular vectors by columns, null ones last */
    double s[NUMERIC_COLUMNS_MAX];   /* singular values, falling */
    double inverse[SVD_ENTRIES_MAX]; /* [p x p] pseudo inverse of the matrix itself */
};

/* Rows of m [p x p] are divided by left (NULL: by nothing) and columns by right first; where
 * one of these is zero the matrix counts as empty. Singular values up to rank_ratio of the
 * largest count as zero. Returns STATUS_E_MATH when numbers are not finite, with *out
 * undefined. */
MUST_USE enum status svd_find(const double *m, size_t p, const double *left,
                              const double *right, double rank_ratio, struct svd *out);

#endif
