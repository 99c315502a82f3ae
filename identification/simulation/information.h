/* identification/simulation/information.h - covariance, rank and null directions of a nonlinear
 * fit.
 *
 * They come from the triangle of the whitened sensitivities. Unknowns are parameters, biases
 * and delay. Private to the nonlinear estimators. Pure.
 */
#ifndef IDENTIFICATION_SIMULATION_INFORMATION_H
#define IDENTIFICATION_SIMULATION_INFORMATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/data/linear_model.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/fit/null_space.h"
#include "identification/numeric/hac_covariance.h"
#include "identification/numeric/svd.h"
#include "identification/simulation/free_parameters.h"

struct information {
    size_t g;                           /* number of unknowns */
    size_t count;                       /* number of free unknowns */
    size_t index[FREE_PARAMETERS_MAX];  /* indices of the free unknowns */
    bool open[FREE_PARAMETERS_MAX];     /* the unknown occurs in a null direction */
    double length[FREE_PARAMETERS_MAX]; /* lengths of the free columns */
    struct null_space nulls;            /* null space of the free columns */
    struct svd svd;                     /* of the free ones */
    double covariance[FREE_PARAMETERS_MAX *
                      FREE_PARAMETERS_MAX]; /* [g x g] of R'R; zero where not free */
    double robust[FREE_PARAMETERS_MAX *
                  FREE_PARAMETERS_MAX]; /* likewise, by information_sandwich() */
};

/* Computes all from the upper triangle of sensitivities, whose rows [g] lie `stride` apart.
 * Returns STATUS_E_MATH if it is not finite. */
MUST_USE enum status information_find(struct information *information,
                                      const struct free_parameters *free_parameters,
                                      const double *r, size_t stride);

/* Computes errors that are valid for autocorrelated scores: robust = C S C, with S the
 * covariance of the scores ("sandwich"). */
void information_sandwich(struct information *information, const struct hac_covariance *scores);

/* Writes values, errors, rank, condition, null directions and combinations to the fit.
 * Covariances are multiplied by factor. The robust covariance is used unless residuals are
 * white. */
void information_report(const struct information *information,
                        const struct free_parameters *free_parameters,
                        const struct free_values *at, double factor, bool white,
                        struct dynamics_fit *fit);

#endif
