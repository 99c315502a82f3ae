/* identification/simulation/information.h - what a triangle of whitened sensitivities says
 * about its unknowns: covariance, rank, and what the data leave open.
 *
 * Private to the nonlinear estimators. Unknowns are parameters, biases, delay. Pure but for
 * GSL's allocations.
 */
#ifndef IDENTIFICATION_SIMULATION_INFORMATION_H
#define IDENTIFICATION_SIMULATION_INFORMATION_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "base/status.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics_fit.h"
#include "identification/null_space.h"

enum { INFORMATION_MAX = NULL_SPACE_MAX };

struct information {
    size_t g;                      /* unknowns */
    size_t count;                  /* of them, free */
    size_t rank;                   /* of their columns */
    size_t index[INFORMATION_MAX]; /* of the free ones */
    bool open[INFORMATION_MAX];    /* has a part in a null direction */
    double length[INFORMATION_MAX];
    struct null_space nulls;             /* of the free ones */
    gsl_matrix *v;                       /* [count x count] right singular vectors */
    gsl_vector *s;                       /* [count] singular values, descending */
    gsl_matrix *covariance;              /* [g x g] inverse of R'R; zero where not free */
    gsl_matrix *u, *reflector, *columns; /* scratch */
};

/* False when memory ran out; information_free() in any case. */
bool information_alloc(struct information *information, size_t g, const bool *free);

void information_free(struct information *information);

/* From the upper left [g x g] of a triangle whose columns of unknowns that are not free are
 * zero. Returns STATUS_E_MATH or STATUS_E_NOMEM when a decomposition fails. */
MUST_USE enum status information_take(struct information *information,
                                      const gsl_matrix *triangle);

/* rank, condition, null directions and combinations of the fit. value [g] and covariance
 * [g x g]: of the unknowns. */
void information_describe(const struct information *information, const struct model *model,
                          const double *value, const gsl_matrix *covariance,
                          struct dynamics_fit *fit);

#endif
