/* identification/numeric/qr_accumulator.h - R of the QR decomposition of a tall matrix, row
 * after row.
 *
 * Blocks of rows go on top of what is there by Householder reflections: the matrix itself is
 * never held. A block whose columns stand well apart is first condensed to its own triangle by
 * the Cholesky factor of its products, which costs a third; one whose columns are nearly
 * parallel is reflected row by row, so that no digit is lost
 * (docs/model/identification_theory.md, "Equations"). Deterministic. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_QR_ACCUMULATOR_H
#define IDENTIFICATION_NUMERIC_QR_ACCUMULATOR_H

#include <stddef.h>

#include "identification/numeric/svd.h"

enum { QR_BLOCK = 128 };

/* About 40 kB. */
struct qr_accumulator {
    size_t columns;                                     /* 1 .. NUMERIC_COLUMNS_MAX */
    size_t waiting;                                     /* rows in block */
    double r[NUMERIC_COLUMNS_MAX][NUMERIC_COLUMNS_MAX]; /* upper */
    double block[NUMERIC_COLUMNS_MAX][QR_BLOCK + 4];    /* by columns */
};

void qr_start(struct qr_accumulator *t, size_t columns);
void qr_add(struct qr_accumulator *t, const double *row); /* [columns] */
/* n rows at a time, column by column. */
void qr_add_columns(struct qr_accumulator *t, const double *const *column, size_t n);
/* Work off the rows that wait: r is right after this only. */
void qr_flush(struct qr_accumulator *t);

/* Lengths of the first p columns of the matrix, [p]. */
void qr_lengths(const struct qr_accumulator *t, size_t p, double *length);

/* What svd_find() makes of R's first p columns, divided by these lengths. */
MUST_USE enum status qr_decompose(const struct qr_accumulator *t, size_t p,
                                  const double *length, double rank_ratio, struct svd *svd);

/* |R x|^2, which is the sum of squares of (matrix x); x is [columns]. */
double qr_squares(const struct qr_accumulator *t, const double *x);

#endif
