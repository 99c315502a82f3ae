/* identification/simulation/free_parameters.h - parameters, biases and delay as a search sees
 * them: which are free, which move in their logarithms, and where bounds stop them.
 *
 * Private to the nonlinear estimators. Pure: no I/O, no clock, no allocation.
 */
#ifndef IDENTIFICATION_SIMULATION_FREE_PARAMETERS_H
#define IDENTIFICATION_SIMULATION_FREE_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/numeric/damped_search.h"
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
    size_t evaluations; /* simulations, or passes of the filter */
};

/* Bounds from the signs of the parameters, no biases, no delay. */
void search_defaults(const struct model *model, struct search_options *options);

/* Of measured velocities and of forces that nobody measured. */
struct prediction_noise {
    double velocity_sd[MODEL_AXES_MAX]; /* of the measurement; > 0 */
    double force_sd[MODEL_AXES_MAX];    /* >= 0, unit of the effort */
    double force_time_s;                /* > 0, for which a force lasts */
};

enum { FREE_PARAMETERS_MAX = DYNAMICS_P_MAX + 1 };

struct free_parameters {
    const struct model *model;
    const struct search_options *options;
    size_t p; /* parameters and biases */
    size_t g; /* p + 1: the last is the delay */
    bool free[FREE_PARAMETERS_MAX];
    size_t iteration; /* of the search, for go_on */
    size_t walked;    /* samples of this pass since it was asked last */
    bool ended;       /* it said no: every walk ends with STATUS_E_STALE */
};

struct free_values {
    double theta[DYNAMICS_P_MAX];
    double delay_s;
};

/* What a fit promises to refuse: STATUS_E_ARG, STATUS_E_EMPTY, STATUS_E_RANGE. */
MUST_USE enum status free_parameters_check(const struct model *model,
                                           const struct data_set *set, const double *start,
                                           const struct search_options *options);

void free_parameters_init(struct free_parameters *free_parameters, const struct model *model,
                          const struct search_options *options);

/* One more sample of a pass: may it go on? Asks options->go_on every few thousand of them, so
 * that a search over a long recording ends soon. */
bool free_parameters_go_on(struct free_parameters *free_parameters);

/* Where a search begins: inside the bounds, and positive where nothing else makes sense. */
void free_parameters_start(const struct free_parameters *free_parameters, const double *start,
                           struct free_values *values);

/* Where a step from somewhere leads. */
struct free_step {
    double by[FREE_PARAMETERS_MAX]; /* in the unknowns' own units, were it not shortened */
    double ratio;                   /* of it that is taken: no logarithm moves too far */
    double length;                  /* in standard errors */
    struct free_values to;
};

/* The damped step from a triangle, whose rows [g] lie `stride` apart; what it would push
 * through its bound stays. */
void free_parameters_step(const struct free_parameters *free_parameters,
                          const struct free_values *at, const double *r, size_t stride,
                          double lambda, struct free_step *step);

/* Before an iteration: is the search to end here? */
bool free_parameters_is_over(struct free_parameters *free_parameters, size_t iteration,
                             enum search_stop *stop);

enum dynamics_stop free_parameters_stop(enum search_stop stop);

/* The time before which samples of a run take no part: their efforts may be unknown. */
double free_parameters_settled_s(const struct free_parameters *free_parameters,
                                 const struct data_set *set, size_t run);

/* A velocity of an axis beyond this has run away. largest: of those measured. */
double free_parameters_limit(const struct data_set *set, size_t axis, double *largest);

/* The integration step: as asked for, or as the motion wants it. */
double free_parameters_step_s(const struct free_parameters *free_parameters,
                              const struct data_set *set, const struct free_values *at);

/* Over how many samples what is left hangs together. */
size_t free_parameters_lags(const struct free_parameters *free_parameters,
                            const struct search_report *report, size_t counted, size_t most);

/* Which of them stand at a bound, into the report. */
void free_parameters_report(const struct free_parameters *free_parameters,
                            const struct free_values *at, struct search_report *report);

/* What such a search can say about itself. words: what is left of an axis ("residuals"), what
 * it means when that is not white, and when it nearly is. */
void free_parameters_judge(const struct free_parameters *free_parameters,
                           const struct free_values *at, const struct search_report *report,
                           const struct data_set *set, const char *const words[3],
                           struct dynamics_fit *fit);

/* A search that ended with nothing to judge: diverged or cancelled. */
void free_parameters_give_up(const struct free_parameters *free_parameters,
                             const struct free_values *at, enum dynamics_stop stop,
                             struct dynamics_fit *fit);

#endif
