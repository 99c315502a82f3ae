/* identification/simulation.h - what a model makes of recorded efforts. Pure. */
#ifndef IDENTIFICATION_SIMULATION_H
#define IDENTIFICATION_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data_set.h"
#include "identification/linear_model.h"
#include "twin/base/status.h"

/* Velocities at the samples of every run, each run from its own first sample, or from rest; nu
 * is [axes][set->n], out. theta: the model's parameters, then bias_count constant efforts that
 * the model adds. False when the parameters are not physical or the motion runs away; nu then
 * holds no result. */
bool simulation_run(const struct model *model, const double *theta, size_t bias_count,
                    const struct data_set *set, bool from_rest, double *const *nu);

/* The same from sample to sample: each one from the measured one before it. */
bool simulation_one_step(const struct model *model, const double *theta, size_t bias_count,
                         const struct data_set *set, double *const *nu);

/* How computed velocities compare with measured ones, one axis; the first sample of each run,
 * where both begin, does not count. */
struct simulation_score {
    size_t n;
    double rmse, mae;
    double r2;          /* centred; NaN when the measured one is constant */
    double fit_percent; /* 100 (1 - |error| / |measured - mean|); NaN as r2 */
};

struct simulation_score simulation_compare(const struct data_set *set, size_t axis,
                                           const double *computed);

/* What is left of one axis: is it noise? Lags up to RESIDUAL_LAGS samples. */
enum { RESIDUAL_LAGS = 20 };

struct residual_report {
    size_t n;
    double mean, sd;
    double lag1;                    /* autocorrelation of neighbours */
    double whiteness_p;             /* Ljung-Box: how likely so much correlation is in noise */
    double runs_z;                  /* runs above and below the median, in standard errors */
    double input_correlation;       /* largest with an earlier effort, of any axis */
    double input_correlation_bound; /* what 99 % of noise stays below, all lags together */
    size_t outliers;                /* beyond 4 robust standard deviations */
};

/* Returns STATUS_E_NOMEM or STATUS_OK. */
MUST_USE enum status simulation_residuals(const struct data_set *set, size_t axis,
                                          const double *computed,
                                          struct residual_report *report);

#endif
