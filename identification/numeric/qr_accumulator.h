/* identification/numeric/qr_accumulator.h - R of the QR decomposition of a tall matrix, row
 * after row.
 *
 * Blocks of rows are merged into the triangle by Householder reflections, so that the matrix
 * itself is never stored. If the columns of a block are well separated, the block is first
 * condensed to its triangle by the Cholesky factor of its products, which costs a third. If
 * they are nearly parallel, the block is reflected row by row, so that no digit is lost
 * (docs/model/identification_theory.md, "Equations"). Deterministic. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_QR_ACCUMULATOR_H
#define IDENTIFICATION_NUMERIC_QR_ACCUMULATOR_H

#include <stddef.h>

#include "identification/numeric/svd.h"

enum { QR_BLOCK = 128 };

/* Size: about 40 kB. */
struct qr_accumulator {
    size_t columns;                                     /* 1 .. NUMERIC_COLUMNS_MAX */
    size_t waiting;                                     /* number of rows in block */
    double r[NUMERIC_COLUMNS_MAX][NUMERIC_COLUMNS_MAX]; /* upper triangle */
    /* rows that are not yet merged, by columns */
    double block[NUMERIC_COLUMNS_MAX][QR_BLOCK + 4];
};

void qr_start(struct qr_accumulator *t, size_t columns);
void qr_add(struct qr_accumulator *t, const double *row); /* [columns] */
/* Adds n rows that are given by columns. */
void qr_add_columns(struct qr_accumulator *t, const double *const *column, size_t n);
/* Merges the waiting rows. r is valid only after this call. */
void qr_flush(struct qr_accumulator *t);

/* Computes the lengths of the first p columns of the matrix, [p]. */
void qr_lengths(const struct qr_accumulator *t, size_t p, double *length);

/* Applies svd_find() to the first p columns of R, divided by these lengths. */
MUST_USE enum status qr_decompose(const struct qr_accumulator *t, size_t p,
                                  const double *length, double rank_ratio, struct svd *svd);

/* Solves for the first p columns, scaled to length one; column p is the right side. x [p]. */
MUST_USE enum status qr_solve(const struct qr_accumulator *t, size_t p, double rank_ratio,
                              struct svd *svd, double *x);

/* Returns |R x|^2, which is the sum of squares of (matrix x); x is [columns]. */
double qr_squares(const struct qr_accumulator *t, const double *x);

#endif
