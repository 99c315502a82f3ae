/* identification/numeric/robust_ls.h - linear least squares with few columns, plain or robust.
 *
 *     minimise  sum_i rho((y_i - x_i . beta) / s)        (docs/model/travel_time.md, eq. 3 - 6)
 *
 * The design is reduced to its triangle by Householder QR, block after block, so that the
 * normal equations are never formed; rank and null directions come from the singular values of
 * the triangle with columns scaled to unit length. When the rank is short, beta is one solution
 * among many: only functions c . beta for which robust_ls_estimable() holds mean anything.
 * Deterministic. Cold path: allocates through GSL while it runs, keeps nothing.
 */
#ifndef IDENTIFICATION_NUMERIC_ROBUST_LS_H
#define IDENTIFICATION_NUMERIC_ROBUST_LS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/numeric/svd.h"

enum { ROBUST_LS_P_MAX = 8 };

enum robust_ls_method {
    ROBUST_LS_OLS,
    ROBUST_LS_HUBER, /* c = 1.345 */
    ROBUST_LS_TUKEY, /* biweight, c = 4.685; starts from a majority of rows that keep close */
};

/* Plain least squares, from which every method starts; of minimum norm in scaled columns. */
struct robust_ls_plain {
    double beta[ROBUST_LS_P_MAX];
    double norm[ROBUST_LS_P_MAX]; /* of the columns; 0: empty */
    struct svd svd;               /* of the triangle with columns of length one */
};

struct robust_ls_problem {
    const double *x; /* [n x p] by rows, finite */
    const double *y; /* [n] finite */
    size_t n;        /* >= 1 */
    size_t p;        /* 1 .. ROBUST_LS_P_MAX */
    double floor;    /* > 0, unit of y: residuals below it are as good as none */
    const struct robust_ls_plain *plain; /* NULL: nobody has asked for it yet */
};

struct robust_ls_fit {
    size_t n, p;
    size_t rank;
    /* HUBER when TUKEY threw out a whole group of rows, OLS when n == rank. */
    enum robust_ls_method method;
    double beta[ROBUST_LS_P_MAX];
    /* Of estimable functions: var(c . beta) = c' covariance c. NaN when n == rank. */
    double covariance[ROBUST_LS_P_MAX][ROBUST_LS_P_MAX];
    /* I - (projection on the row space), for columns scaled by column_norm. */
    double null_projection[ROBUST_LS_P_MAX][ROBUST_LS_P_MAX];
    double column_norm[ROBUST_LS_P_MAX]; /* 0: the column is empty */
    double condition; /* largest over smallest singular value that counts; NaN at rank 0 */
    double sd;        /* of the residuals: root of RSS / (n - rank), or robust scale */
    size_t iterations;
    bool converged;
};

/* Fit. `residual` (optional) and `weight` (optional, 0..1) are [n], out.
 *
 * Returns STATUS_E_ARG when a length above is broken, STATUS_E_NOMEM, STATUS_E_MATH when the
 * numbers overflow or the decomposition fails; outputs are written only on STATUS_OK, residual
 * and weight excepted. Cost O(n p^2) per iteration, 1 (OLS) to about 110 iterations. */
MUST_USE enum status robust_ls_run(const struct robust_ls_problem *problem,
                                   enum robust_ls_method method, double *residual,
                                   double *weight, struct robust_ls_fit *fit);

/* What robust_ls_run() needs of plain least squares, for several runs of one problem. Returns
 * as that does. */
MUST_USE enum status robust_ls_solve(const struct robust_ls_problem *problem,
                                     struct robust_ls_plain *plain);

/* Whether the data determine c . beta; c is [p]. */
bool robust_ls_estimable(const struct robust_ls_fit *fit, const double *c);

/* c . beta and its standard error. */
double robust_ls_value(const struct robust_ls_fit *fit, const double *c);
double robust_ls_se(const struct robust_ls_fit *fit, const double *c);

#endif
