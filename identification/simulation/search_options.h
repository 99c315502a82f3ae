/* identification/simulation/search_options.h - what is asked of a fit by simulation or by
 * prediction, and what it tells beyond the estimate. Plain data.
 */
#ifndef IDENTIFICATION_SIMULATION_SEARCH_OPTIONS_H
#define IDENTIFICATION_SIMULATION_SEARCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics_fit.h"
#include "identification/numeric/residual_test.h"

struct search_options {
    bool with_biases;
    bool fixed[DYNAMICS_P_MAX];                          /* stays at its start */
    double lower[DYNAMICS_P_MAX], upper[DYNAMICS_P_MAX]; /* may be infinite */
    bool at_rest[DATA_RUNS_MAX]; /* run begins with no velocity, which is not fitted then */
    bool fit_delay;
    double delay_s;                  /* start, or known value */
    double delay_s_min, delay_s_max; /* when fitted: min <= start <= max */
    double step_s;                   /* longest integration step; 0: chosen */
    size_t iterations_max;
    /* Asked before every iteration, and within one every few thousand samples: false ends the
     * fit where it stands; within one only values and stop are filled. NULL: never asked. */
    bool (*go_on)(void *context, size_t iteration);
    void *context;
};

/* What is known beyond the fit. */
struct search_report {
    struct residual_summary axis[MODEL_AXES_MAX]; /* of simulated velocities, or of one-step
                                                   * predictions */
    bool white;                                   /* on every axis */
    double log_likelihood;
    bool at_bound[DYNAMICS_P_MAX];
    bool delay_at_bound;
    size_t hac_lags;    /* of the robust standard errors */
    size_t evaluations; /* simulations, or passes of the filter */
    double step_s;      /* the integration step used */
};

/* Bounds from the signs of the parameters, no biases, no delay. */
void search_defaults(const struct model *model, struct search_options *options);

/* Of measured velocities and of forces that nobody measured. */
struct prediction_noise {
    double velocity_sd[MODEL_AXES_MAX]; /* of the measurement; > 0 */
    double force_sd[MODEL_AXES_MAX];    /* >= 0, unit of the effort */
    double force_time_s;                /* > 0, for which a force lasts */
};

#endif
