/* identification/numeric/triangle.h - the triangle of a tall matrix, row after row.
 *
 * Blocks of rows go on top of what is there by Householder reflections: the matrix itself is
 * never held. A block whose columns stand well apart is first condensed to its own triangle by
 * the Cholesky factor of its products, which costs a third; one whose columns are nearly
 * parallel is reflected row by row, so that no digit is lost (docs/model/identification.md,
 * section 3). Deterministic. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_TRIANGLE_H
#define IDENTIFICATION_NUMERIC_TRIANGLE_H

#include <stddef.h>

enum { TRIANGLE_COLUMNS_MAX = 23, TRIANGLE_BLOCK = 128 };

/* About 28 kB. */
struct triangle {
    size_t columns;                                         /* 1 .. TRIANGLE_COLUMNS_MAX */
    size_t waiting;                                         /* rows in block */
    double r[TRIANGLE_COLUMNS_MAX][TRIANGLE_COLUMNS_MAX];   /* upper */
    double block[TRIANGLE_COLUMNS_MAX][TRIANGLE_BLOCK + 4]; /* by columns */
};

void triangle_start(struct triangle *t, size_t columns);
void triangle_add(struct triangle *t, const double *row); /* [columns] */
/* n rows at a time, column by column. */
void triangle_add_columns(struct triangle *t, const double *const *column, size_t n);
/* Work off the rows that wait: r is right after this only. */
void triangle_flush(struct triangle *t);

/* |R x|^2, which is the sum of squares of (matrix x); x is [columns]. */
double triangle_squares(const struct triangle *t, const double *x);

#endif
