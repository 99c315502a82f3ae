/* identification/numeric/svd.h - SVD of a small square matrix: rank, null space, pseudo
 * inverse.
 *
 * Pure. GSL computes it and allocates only if its Jacobi rotations do not converge.
 */
#ifndef IDENTIFICATION_NUMERIC_SVD_H
#define IDENTIFICATION_NUMERIC_SVD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"

/* Maximum number of free parameters of a fit, plus the right side; and a row of a segment of
 * odometry (odometry_scale.c). */
enum { NUMERIC_COLUMNS_MAX = 37 };

enum { SVD_ENTRIES_MAX = NUMERIC_COLUMNS_MAX * NUMERIC_COLUMNS_MAX };

/* All members but the inverse belong to the matrix with scaled rows and columns. */
struct svd {
    size_t p, rank;
    double condition;          /* infinite if the rank is short */
    double v[SVD_ENTRIES_MAX]; /* [p x p] right singular vectors by columns, null ones last */
    double s[NUMERIC_COLUMNS_MAX];   /* singular values, falling */
    double inverse[SVD_ENTRIES_MAX]; /* [p x p] pseudo inverse of the unscaled matrix */
};

/* Divides the rows of m [p x p] by left (NULL: not divided) and its columns by right before
 * the decomposition. An entry with scale zero counts as zero. Singular values up to
 * rank_ratio times the largest count as zero. Returns STATUS_E_MATH if numbers are not
 * finite, with *out undefined. */
MUST_USE enum status svd_find(const double *m, size_t p, const double *left,
                              const double *right, double rank_ratio, struct svd *out);

/* Computes x [p] = inverse rhs [p]. */
void svd_solve(const struct svd *svd, const double *rhs, double *x);

/* Computes to = a b, or a b', for square matrices [p x p] by rows. */
void square_multiply(const double *a, const double *b, bool transposed, size_t p, double *to);

/* Computes to = c m c', the covariance after a linear map c. */
void square_sandwich(const double *c, const double *m, size_t p, double *to);

/* Returns c' m c; rows of m lie `stride` apart. */
double square_form(const double *c, const double *m, size_t stride, size_t p);

#endif
