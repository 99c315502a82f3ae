/* identification/numeric/column_space.h - orthonormal columns that span those of a design, and
 * what more columns would explain beside it.
 *
 *     X = Q R,  Q'Q = I        by Gram and Schmidt, each column twice, so that none of its
 * digits hangs on how alike the columns of X are rss(X) - rss([X Z]) = b' S^-1 b,   S = Z'Z -
 * (Q'Z)'(Q'Z),   b = Z'e,   e = y - Q Q'y
 *
 * Sums over rows are all that a question about Z needs: rows may come and go. Pure.
 */
#ifndef IDENTIFICATION_NUMERIC_COLUMN_SPACE_H
#define IDENTIFICATION_NUMERIC_COLUMN_SPACE_H

#include <stdbool.h>
#include <stddef.h>

enum { COLUMN_SPACE_P_MAX = 8, COLUMN_SPACE_ADDED_MAX = 6 };

/* A column is within the span of others when this share of it is left. */
#define COLUMN_SPACE_TOLERANCE 1e-6

struct column_space {
    size_t n, p, rank;
    double *q; /* [rank][n] by columns; room for p of them */
    double turn[COLUMN_SPACE_P_MAX][COLUMN_SPACE_P_MAX]; /* [p][rank]: Q = X turn */
};

/* x [n x p] by rows, of which those with use[i] zero count as zero (use NULL: all count); q:
 * room for [p][n]. */
void column_space_find(const double *x, const double *use, size_t n, size_t p, double *q,
                       struct column_space *space);

/* residual [n] -= its part within the span. */
void column_space_remove(const struct column_space *space, double *residual);

/* Of a positive definite m [p x p], its upper half by rows of COLUMN_SPACE_P_MAX: m x = b, in
 * place; false, with both lost, where as far as digits tell m is none. */
bool column_space_cholesky(double m[][COLUMN_SPACE_P_MAX], double *b, size_t p);

/* Sums over the rows of Z. */
struct column_space_added {
    size_t count; /* columns of Z, <= COLUMN_SPACE_ADDED_MAX */
    double qz[COLUMN_SPACE_ADDED_MAX][COLUMN_SPACE_P_MAX];     /* Q'Z */
    double zz[COLUMN_SPACE_ADDED_MAX][COLUMN_SPACE_ADDED_MAX]; /* Z'Z, j <= k */
    double ze[COLUMN_SPACE_ADDED_MAX];                         /* Z'e */
};

/* Row i of Z, z [count]; e: what the design leaves of that row. */
void column_space_add_row(const struct column_space *space, size_t i, const double *z, double e,
                          struct column_space_added *added);

/* How much less the design leaves with these columns: a sum of squares. *rank: how many of them
 * are none of the design's. coefficient [count], optional: theirs, 0 where the rows do not
 * determine them. */
double column_space_gain(const struct column_space *space,
                         const struct column_space_added *added, size_t *rank,
                         double *coefficient);

#endif
