/* identification/simulation/free_parameters.h - parameters, biases and delay in the coordinates
 * of a search.
 *
 * It stores which are free, which move by their logarithms, and their bounds. Private to the
 * nonlinear estimators. Pure: no I/O, no clock, no allocation.
 */
#ifndef IDENTIFICATION_SIMULATION_FREE_PARAMETERS_H
#define IDENTIFICATION_SIMULATION_FREE_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/data/trajectory.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/numeric/damped_search.h"
#include "identification/numeric/residual_test.h"

struct search_options {
    bool with_biases;
    bool fixed[DYNAMICS_P_MAX];                          /* keeps its starting value */
    double lower[DYNAMICS_P_MAX], upper[DYNAMICS_P_MAX]; /* bounds; may be infinite */
    /* the run begins at rest, and its initial velocity is not fitted */
    bool at_rest[DATA_RUNS_MAX];
    bool fit_delay;
    double delay_s;                  /* starting value, or known value */
    double delay_s_min, delay_s_max; /* bounds of a fitted delay: min <= start <= max */
    double step_s;                   /* longest integration step; 0: chosen */
    size_t iterations_max;
    struct step_budget
        *budget; /* a search ends with its best point when it is spent; NULL: none */
    /* Called before every iteration, and every few thousand samples within one. False stops
     * the fit; within an iteration, only values and stop are then filled. NULL: not called. */
    bool (*go_on)(void *context, size_t iteration);
    void *context;
};

/* Details of a search that are not in the fit. */
struct search_report {
    /* residuals of simulated velocities, or of one-step predictions */
    struct residual_summary axis[MODEL_AXES_MAX];
    bool white;  /* all axes are white */
    bool uneven; /* channels: the noise grows with the velocity, so that errors are robust */
    double log_likelihood;
    bool at_bound[DYNAMICS_P_MAX];
    bool delay_at_bound;
};

/* Sets bounds from the signs of the parameters, without biases and delay. */
void search_defaults(const struct model *model, struct search_options *options);

/* Noise of the measured velocities, and of unmeasured forces. */
struct prediction_noise {
    double velocity_sd[MODEL_AXES_MAX]; /* noise of the measurement; > 0 */
    double force_sd[MODEL_AXES_MAX];    /* >= 0, unit of the effort */
    double force_time_s;                /* correlation time of a force, > 0 */
};

enum { FREE_PARAMETERS_MAX = DYNAMICS_P_MAX + 1 };

struct free_parameters {
    const struct model *model;
    const struct search_options *options;
    size_t p; /* number of parameters and biases */
    size_t g; /* p + 1: the last is the delay */
    bool free[FREE_PARAMETERS_MAX];
    size_t iteration; /* iteration of the search, for go_on */
    size_t walked;    /* samples of this pass since the last call of go_on */
    bool ended;       /* go_on returned false: every walk ends with STATUS_E_STALE */
};

struct free_values {
    double theta[DYNAMICS_P_MAX];
    double delay_s;
};

/* Checks the input of a fit. Returns STATUS_E_ARG, STATUS_E_EMPTY, STATUS_E_RANGE as
 * documented there. */
MUST_USE enum status free_parameters_check(const struct model *model,
                                           const struct data_set *set, const double *start,
                                           const struct search_options *options);

void free_parameters_init(struct free_parameters *free_parameters, const struct model *model,
                          const struct search_options *options);

/* Counts a sample of a pass and returns whether to continue. Calls options->go_on every few
 * thousand samples, so that a search over a long recording can be stopped soon. */
bool free_parameters_go_on(struct free_parameters *free_parameters);

/* Sets the starting point: inside the bounds, and positive where physically required. */
void free_parameters_start(const struct free_parameters *free_parameters, const double *start,
                           struct free_values *values);

/* A step from a point of the search. */
struct free_step {
    double by[FREE_PARAMETERS_MAX]; /* in the units of the unknowns, before shortening */
    double ratio;  /* share of the step that is used, so that no logarithm changes too much */
    double length; /* length in standard errors */
    struct free_values to;
};

/* Computes the damped step from a triangle whose rows [g] lie `stride` apart. Unknowns that
 * would cross a bound stay. */
void free_parameters_step(const struct free_parameters *free_parameters,
                          const struct free_values *at, const double *r, size_t stride,
                          double lambda, struct free_step *step);

/* Called before an iteration: returns whether the search ends. */
bool free_parameters_is_over(struct free_parameters *free_parameters, size_t iteration,
                             enum search_stop *stop);

enum dynamics_stop free_parameters_stop(enum search_stop stop);

/* Returns the time before which the samples of a run are not used, because their efforts may
 * be unknown. */
double free_parameters_settled_s(const struct free_parameters *free_parameters,
                                 const struct data_set *set, size_t run);

/* Returns the velocity of an axis beyond which a simulation has diverged. *largest: largest
 * measured velocity. */
double free_parameters_limit(const struct data_set *set, size_t axis, double *largest);

/* Returns the integration step: as requested, or as the motion requires. */
double free_parameters_step_s(const struct free_parameters *free_parameters,
                              const struct data_set *set, const struct free_values *at);

/* Computes the time constants of all axes at typical velocities, s; HUGE_VAL: without drag an
 * axis integrates. */
void free_parameters_responses(const struct model *model, const double *theta,
                               const struct data_set *set, double *response_s);

/* Returns the number of samples over which residuals are autocorrelated. */
size_t free_parameters_lags(const struct free_parameters *free_parameters,
                            const struct search_report *report, size_t counted, size_t most);

/* Reports the parameters that stand at a bound. */
void free_parameters_report(const struct free_parameters *free_parameters,
                            const struct free_values *at, struct search_report *report);

/* Adds the common part of such a search's verdict. words: name of the residuals
 * ("residuals"), and texts for residuals that are not white, or nearly white. */
void free_parameters_judge(const struct free_parameters *free_parameters,
                           const struct free_values *at, const struct search_report *report,
                           const struct data_set *set, const char *const words[3],
                           struct dynamics_fit *fit);

/* Fills a fit that has no result: diverged or cancelled. */
void free_parameters_give_up(const struct free_parameters *free_parameters,
                             const struct free_values *at, enum dynamics_stop stop,
                             struct dynamics_fit *fit);

#endif
