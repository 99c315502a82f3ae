/* identification/simulation/information.h - what the triangle of whitened sensitivities says
 * about its unknowns: covariance, rank, and what the data leave open.
 *
 * Private to the nonlinear estimators. Unknowns are parameters, biases, delay. Pure.
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
    size_t g;                           /* unknowns */
    size_t count;                       /* of them, free */
    size_t index[FREE_PARAMETERS_MAX];  /* of the free ones */
    bool open[FREE_PARAMETERS_MAX];     /* has a part in a null direction */
    double length[FREE_PARAMETERS_MAX]; /* of the free columns */
    struct null_space nulls;            /* of the free ones */
    struct svd svd;                     /* of the free ones */
    double covariance[FREE_PARAMETERS_MAX *
                      FREE_PARAMETERS_MAX]; /* [g x g] of R'R; zero where not free */
    double robust[FREE_PARAMETERS_MAX *
                  FREE_PARAMETERS_MAX]; /* likewise, by information_sandwich() */
};

/* From the upper triangle of sensitivities, whose rows [g] lie `stride` apart. Returns
 * STATUS_E_MATH when it is not finite. */
MUST_USE enum status information_find(struct information *information,
                                      const struct free_parameters *free_parameters,
                                      const double *r, size_t stride);

/* Errors that hold though scores hang together: robust = C S C, with S their covariance. */
void information_sandwich(struct information *information, const struct hac_covariance *scores);

/* Values, errors, rank, condition, null directions and combinations of the fit: covariances
 * times factor, the robust one unless residuals are white. */
void information_report(const struct information *information,
                        const struct free_parameters *free_parameters,
                        const struct free_values *at, double factor, bool white,
                        struct dynamics_fit *fit);

/* A standard error; NaN where the variance is none. */
double information_se(double variance);

#endif
