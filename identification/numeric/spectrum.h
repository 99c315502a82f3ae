/* identification/numeric/spectrum.h - pseudo inverse and rank of a small square matrix. */
#ifndef IDENTIFICATION_NUMERIC_SPECTRUM_H
#define IDENTIFICATION_NUMERIC_SPECTRUM_H

#include <stddef.h>

#include "base/status.h"
#include "identification/dynamics_fit.h"

/* Of the matrix with rows and columns scaled. */
struct spectrum {
    size_t p, rank;
    double condition;                          /* inf when the rank is short */
    double v[DYNAMICS_P_MAX * DYNAMICS_P_MAX]; /* [p x p] right singular vectors by columns */
    double s[DYNAMICS_P_MAX];                  /* singular values, falling */
    double inverse[DYNAMICS_P_MAX * DYNAMICS_P_MAX]; /* [p x p] of the matrix itself */
};

/* Rows of m [p x p] are divided by left (NULL: by nothing) and columns by right first; where
 * one of these is zero the matrix counts as empty. Returns STATUS_E_MATH when numbers are not
 * finite, with *out undefined. */
MUST_USE enum status spectrum_find(const double *m, size_t p, const double *left,
                                   const double *right, struct spectrum *out);

#endif
