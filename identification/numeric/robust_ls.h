/* identification/numeric/robust_ls.h - linear least squares with few columns, plain or robust.
 *
 *     minimise  sum_i rho((y_i - x_i . beta) / s)        (docs/model/travel_time.md, eq. 3 - 6)
 *
 * Householder QR reduces the design to its triangle block by block, so that the normal
 * equations are never formed. Rank and null directions are the singular values and vectors of
 * the triangle, with columns scaled to unit length. If the rank is short, beta is one of many
 * solutions. Only functions c . beta with robust_ls_estimable() are then meaningful.
 * Deterministic. Cold path: allocates through GSL while it runs and frees all of it.
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
    ROBUST_LS_HUBER, /* tuning constant 1.345: 95 % efficiency for Gaussian noise */
    ROBUST_LS_TUKEY, /* biweight, 4.685; starts from a majority of close rows */
};

/* Plain least squares, the start of every method. beta has the minimum norm in scaled
 * columns. */
struct robust_ls_plain {
    double beta[ROBUST_LS_P_MAX];
    double norm[ROBUST_LS_P_MAX]; /* lengths of the columns; 0: empty */
    struct svd svd;               /* SVD of the triangle with columns of length one */
};

struct robust_ls_problem {
    const double *x; /* [n x p] by rows, finite */
    const double *y; /* [n] finite */
    size_t n;        /* >= 1 */
    size_t p;        /* 1 .. ROBUST_LS_P_MAX */
    double floor;    /* > 0, unit of y: smaller residuals count as this size */
    /* solution of robust_ls_solve(); NULL: not yet computed */
    const struct robust_ls_plain *plain;
};

struct robust_ls_fit {
    size_t n, p;
    size_t rank;
    /* HUBER if TUKEY rejected a whole group of rows, OLS if n == rank. */
    enum robust_ls_method method;
    double beta[ROBUST_LS_P_MAX];
    /* For estimable functions var(c . beta) = c' covariance c. NaN if n == rank. */
    double covariance[ROBUST_LS_P_MAX][ROBUST_LS_P_MAX];
    /* I - (projection on the row space), for columns scaled by column_norm. */
    double null_projection[ROBUST_LS_P_MAX][ROBUST_LS_P_MAX];
    double column_norm[ROBUST_LS_P_MAX]; /* 0: the column is empty */
    double condition; /* largest over smallest singular value that counts; NaN at rank 0 */
    double sd; /* scale of the residuals: root of RSS / (n - rank), or the robust scale */
    size_t iterations;
    bool converged;
};

/* Fits. `residual` (optional) and `weight` (optional, 0..1) are [n], out.
 *
 * Returns STATUS_E_ARG if a size is out of range, STATUS_E_NOMEM, STATUS_E_MATH if numbers
 * overflow or the decomposition fails. Outputs are written only on STATUS_OK, except
 * residual and weight. Cost O(n p^2) per iteration, 1 (OLS) to about 110 iterations. */
MUST_USE enum status robust_ls_run(const struct robust_ls_problem *problem,
                                   enum robust_ls_method method, double *residual,
                                   double *weight, struct robust_ls_fit *fit);

/* Computes the plain solution that robust_ls_run() needs, to share it among several runs of
 * one problem. Returns the same statuses. */
MUST_USE enum status robust_ls_solve(const struct robust_ls_problem *problem,
                                     struct robust_ls_plain *plain);

/* Returns whether the data determine c . beta; c is [p]. */
bool robust_ls_estimable(const struct robust_ls_fit *fit, const double *c);

/* Return c . beta and its standard error. */
double robust_ls_value(const struct robust_ls_fit *fit, const double *c);
double robust_ls_se(const struct robust_ls_fit *fit, const double *c);

#endif
