/* identification/numeric/column_space.h - orthonormal basis of a design's column space, and the
 * gain from further columns.
 *
 *     X = Q R,  Q'Q = I                    (Gram and Schmidt, each column twice)
 *     rss(X) - rss([X Z]) = b' S^-1 b
 *     S = Z'Z - (Q'Z)'(Q'Z),  b = Z'e,  e = y - Q Q'y
 *
 * The second pass keeps Q orthonormal even if columns of X are nearly parallel. The gain of Z
 * needs only sums over rows, so rows can be added and removed cheaply. Pure.
 */
#ifndef IDENTIFICATION_NUMERIC_COLUMN_SPACE_H
#define IDENTIFICATION_NUMERIC_COLUMN_SPACE_H

#include <stdbool.h>
#include <stddef.h>

enum { COLUMN_SPACE_P_MAX = 8, COLUMN_SPACE_ADDED_MAX = 6 };

/* A column lies in the space of others if its remaining length is below this ratio. */
#define COLUMN_SPACE_TOLERANCE 1e-6

struct column_space {
    size_t n, p, rank;
    double *q; /* [rank][n] by columns; the memory holds p columns */
    double turn[COLUMN_SPACE_P_MAX][COLUMN_SPACE_P_MAX]; /* [p][rank]: Q = X turn */
};

/* x is [n x p] by rows; rows with use[i] zero count as zero (use NULL: all rows count). q
 * has room for [p][n]. */
void column_space_find(const double *x, const double *use, size_t n, size_t p, double *q,
                       struct column_space *space);

/* Solves m x = b in place for a positive definite m [p x p]. m holds its upper half by rows
 * of COLUMN_SPACE_P_MAX. Returns false, with m and b destroyed, if m is not positive
 * definite to working accuracy. */
bool column_space_cholesky(double m[][COLUMN_SPACE_P_MAX], double *b, size_t p);

/* Sums over the rows of the additional columns Z. */
struct column_space_added {
    size_t count; /* number of columns of Z, <= COLUMN_SPACE_ADDED_MAX */
    double qz[COLUMN_SPACE_ADDED_MAX][COLUMN_SPACE_P_MAX];     /* Q'Z */
    double zz[COLUMN_SPACE_ADDED_MAX][COLUMN_SPACE_ADDED_MAX]; /* Z'Z, j <= k */
    double ze[COLUMN_SPACE_ADDED_MAX];                         /* Z'e */
};

/* Adds row i of Z, z [count]. e is the residual of the design in that row. */
void column_space_add_row(const struct column_space *space, size_t i, const double *z, double e,
                          struct column_space_added *added);

/* Returns by how much the columns Z reduce the residual sum of squares. *rank: number of
 * columns of Z outside the column space. coefficient [count], optional: their coefficients,
 * 0 if the rows do not determine them. */
double column_space_gain(const struct column_space *space,
                         const struct column_space_added *added, size_t *rank,
                         double *coefficient);

#endif
