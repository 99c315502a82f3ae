/* identification/numeric/svd.h - singular values of a small square matrix: its rank, what it
 * leaves free, and its pseudo inverse. Pure: GSL's, which allocates only where its rotations
 * do not end.
 */
#ifndef IDENTIFICATION_NUMERIC_SVD_H
#define IDENTIFICATION_NUMERIC_SVD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"

/* Unknowns of a fit, and the right side. */
enum { NUMERIC_COLUMNS_MAX = 30 };

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

/* x [p] = inverse rhs [p]. */
void svd_solve(const struct svd *svd, const double *rhs, double *x);

/* Of small square matrices [p x p], by rows: to = a b, or a b'. */
void square_multiply(const double *a, const double *b, bool transposed, size_t p, double *to);

/* to = c m c', as covariances go through a linear map. */
void square_sandwich(const double *c, const double *m, size_t p, double *to);

/* c' m c, with rows of m that lie `stride` apart. */
double square_form(const double *c, const double *m, size_t stride, size_t p);

#endif
