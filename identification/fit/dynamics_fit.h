/* identification/fit/dynamics_fit.h - result of every estimator of dynamics.
 *
 * It combines estimate, error bars and verdict (docs/model/identification.md). Plain data.
 */
#ifndef IDENTIFICATION_FIT_DYNAMICS_FIT_H
#define IDENTIFICATION_FIT_DYNAMICS_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "base/text/names.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/fit/estimate.h"
#include "identification/numeric/svd.h"

enum dynamics_method {
    DYNAMICS_OLS_CENTRAL,
    DYNAMICS_OLS_SG,
    DYNAMICS_WEAK,
    DYNAMICS_WEAK_IV,
    DYNAMICS_OUTPUT_ERROR,
    DYNAMICS_PEM,
    DYNAMICS_METHOD_COUNT
};

/* Reason why an iteration ended. */
enum dynamics_stop {
    DYNAMICS_STOP_DIRECT,    /* there was no iteration */
    DYNAMICS_STOP_CONVERGED, /* the last step was small relative to the standard errors */
    DYNAMICS_STOP_STALLED,   /* no step reduced the cost */
    DYNAMICS_STOP_LIMIT,     /* the limit of iterations was reached */
    DYNAMICS_STOP_DIVERGED,  /* the model could not be simulated */
    DYNAMICS_STOP_CANCELLED,
    DYNAMICS_STOP_STILL /* nothing moves: no search began, and no value is known */
};

enum {
    /* Parameters of the model, then one constant effort per axis if requested. */
    DYNAMICS_P_MAX = MODEL_PARAMETERS_MAX + MODEL_AXES_MAX
};
_Static_assert((int)DYNAMICS_P_MAX < (int)NUMERIC_COLUMNS_MAX, "and the right side of a row");
_Static_assert((int)DYNAMICS_P_MAX < (int)ESTIMATE_P_MAX, "and the delay, in an estimate");

struct dynamics_fit {
    /* Parameters of the model, then biases. Its rank is that of p entries, plus one with a
     * fitted delay. */
    struct estimate estimate;
    enum dynamics_method method;
    enum dynamics_stop stop;
    size_t n;          /* number of samples used */
    size_t rows;       /* number of equations or residuals */
    size_t bias_count; /* 0 or the model's axes: constant efforts added to Phi theta */
    size_t iterations;
    double se_hac[DYNAMICS_P_MAX]; /* robust to autocorrelation; NaN: not computed */
    /* share of the samples over which the covariance allows for autocorrelation; 0:
     * independent */
    double hac_share;
    char null_words[ESTIMATE_NULLS_MAX][ESTIMATE_TEXT_MAX]; /* nulls with common names */
    double residual_sd[MODEL_AXES_MAX]; /* per axis: of the equations (N, N m), or of nu */
    double window_s;                    /* length of a linear method's window; NaN: none */
    double delay_s;                     /* delay of nu after tau; NaN: not estimated */
    /* Standard error of the delay, and its covariance with theta, robust if the covariance
     * is. NaN: not estimated. */
    double delay_se_s, delay_covariance[DYNAMICS_P_MAX];
    double delay_phase_s[2]; /* widens its interval below and above: struct data_set, phase_s */
    /* pem: white noise of each measured velocity; unmeasured forces per axis, and their
     * correlation time. NaN: not estimated. */
    double velocity_sd[MODEL_AXES_MAX], force_sd[MODEL_AXES_MAX], force_time_s;
    /* pem: number of independent values that determined the noise; NaN: unknown. */
    double noise_freedom;
    double ridge;                    /* ridge that shrinks estimates towards zero; 0: none */
    bool robust;                     /* outliers were replaced */
    size_t outliers[MODEL_AXES_MAX]; /* number per axis; 0 unless robust */
    double initial[DATA_RUNS_MAX][MODEL_AXES_MAX]; /* nu at the start of each run */
    /* Linear fits: root mean square of the parameter's column, and the share of it that no
     * other column can replace (1: all, 0: nothing). NaN: not computed. */
    double regressor_rms[DYNAMICS_P_MAX], independence_ratio[DYNAMICS_P_MAX];
};

ENUM_NAMES_DECLARED(dynamics_method); /* "ols_central" … */
ENUM_NAMES_DECLARED(dynamics_stop);   /* "converged" … */

/* dynamics_parameter_name(): "surge_mass_kg", or "tau_u_n_bias" for a bias.
 * dynamics_parameter_words(): "surge mass", or "constant surge force" for a bias. Both write
 * to text and return it. */
const char *dynamics_parameter_words(const struct model *model, size_t i, char *text,
                                     size_t text_bytes);

/* Both names: "surge mass (surge_mass_kg)". */
const char *dynamics_parameter_both(const struct model *model, size_t i, char *text,
                                    size_t text_bytes);

const char *dynamics_parameter_name(const struct model *model, size_t i, char *text,
                                    size_t text_bytes);

/* Sets everything to unknown: NaN, no identifiable parameter, and PASS until a reason lowers
 * it. p = parameters of the model (+ its axes if with_biases). */
void dynamics_fit_start(struct dynamics_fit *fit, const struct model *model,
                        enum dynamics_method method, bool with_biases);

/* Reports columns that contain no information: no motion, no effort. */
void dynamics_judge_columns(struct dynamics_fit *fit, const struct model *model,
                            const struct data_set *set);

/* Computes se, lo, hi and identifiable from value, covariance and rows. Then adds the common
 * part of every verdict: rank, condition, error bars, signs, and advice for the next
 * recording. set may be NULL. */
void dynamics_judge(struct dynamics_fit *fit, const struct model *model,
                    const struct data_set *set);

/* Returns the covariance of two entries; an index >= p means the delay. */
double dynamics_covariance(const struct dynamics_fit *fit, size_t a, size_t b);

/* A quantity that follows from the parameters (struct model_derived). */
struct dynamics_derived {
    double value, se; /* NaN if a required parameter is unknown */
    double lo, hi;    /* 95 % interval */
};

/* Computes derived quantity i of the model, < derived_count. Its error follows from the
 * fit's covariance by the gradient, linear in the parameters' errors. Biases do not enter. */
void dynamics_derive(const struct dynamics_fit *fit, const struct model *model, size_t i,
                     struct dynamics_derived *derived);

/* Computes the response of an axis to its effort about a speed, with the others at rest: the
 * gain in steady speed per unit of effort, and the time constant (63 % of the change).
 * Nonlinear friction enters with its slope there. NaN if there is no steady speed. Intervals
 * follow by the gradient, as above. */
void dynamics_derive_response(const struct dynamics_fit *fit, const struct model *model,
                              size_t axis, double speed, struct dynamics_derived *gain,
                              struct dynamics_derived *time_s);

/* Computes the delay with its interval, as for parameters, and wider by the time between rows
 * in which commands changed. NaN if it was not estimated. */
void dynamics_derive_delay(const struct dynamics_fit *fit, struct dynamics_derived *derived);

/* Computes the sum of derived quantity i and the delay, if that quantity is a time and a
 * delay was found. Data determine this total lag better than its parts. Returns false if
 * there is no such sum. */
bool dynamics_derive_with_delay(const struct dynamics_fit *fit, const struct model *model,
                                size_t i, struct dynamics_derived *derived);

#endif
