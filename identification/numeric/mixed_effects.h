/* identification/numeric/mixed_effects.h - least squares with many local unknowns, each with a
 * prior, and a few common ones.
 *
 *     minimise  |e - S s - J c|^2 + sum s_j^2 / prior_j
 *
 * A local unknown overlaps with its neighbours only, so that S'S is a band. Deterministic. Cold
 * path: allocates through GSL.
 */
#ifndef IDENTIFICATION_NUMERIC_MIXED_EFFECTS_H
#define IDENTIFICATION_NUMERIC_MIXED_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "base/errors/status.h"

/* The caller fills the sums; a solution overwrites them. */
struct mixed_effects {
    size_t count, band, common; /* local unknowns, later ones that overlap, common unknowns */
    gsl_matrix *local;        /* [count x band + 1] S'S and 1 / prior: (j, i) is j with j + i */
    gsl_matrix *border;       /* [count x common] S'J */
    gsl_matrix *corner;       /* [common x common] J'J, lower triangle */
    gsl_vector *local_right;  /* [count] S'e */
    gsl_vector *common_right; /* [common] J'e */
};

/* Sets all sums to zero. Returns STATUS_OK or STATUS_E_NOMEM; call mixed_effects_free() either
 * way. count > 0, common > 0. */
MUST_USE enum status mixed_effects_init(struct mixed_effects *m, size_t count, size_t band,
                                        size_t common);
void mixed_effects_free(struct mixed_effects *m);

/* Solves: local [count] with variances [count] (per unit of residual variance), and common
 * [common], out. growth [common x common], out: by how much the covariance of the common
 * unknowns is larger than for known local ones. A column without information stays 0. Returns
 * false if numbers overflow. */
bool mixed_effects_solve(struct mixed_effects *m, double *local, double *variance,
                         double *common, gsl_matrix *growth);

#endif
