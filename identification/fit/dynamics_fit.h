/* identification/fit/dynamics_fit.h - what every estimator of dynamics returns.
 *
 * Estimate, error bars and verdict travel together (docs/model/identification.md). Plain data.
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

/* Why an iteration ended. */
enum dynamics_stop {
    DYNAMICS_STOP_DIRECT,    /* nothing was iterated */
    DYNAMICS_STOP_CONVERGED, /* the last step was small against the standard errors */
    DYNAMICS_STOP_STALLED,   /* no step made it better */
    DYNAMICS_STOP_LIMIT,     /* as many iterations as allowed */
    DYNAMICS_STOP_DIVERGED,  /* the model could not be simulated */
    DYNAMICS_STOP_CANCELLED
};

enum {
    /* Parameters of the model, then one constant effort per axis when asked for. */
    DYNAMICS_P_MAX = MODEL_PARAMETERS_MAX + MODEL_AXES_MAX
};
_Static_assert((int)DYNAMICS_P_MAX < (int)NUMERIC_COLUMNS_MAX, "and the right side of a row");
_Static_assert((int)DYNAMICS_P_MAX < (int)ESTIMATE_P_MAX, "and the delay, in an estimate");

struct dynamics_fit {
    /* Of the model's parameters, then biases. Its rank is of p, and one more with a fitted
     * delay. */
    struct estimate estimate;
    enum dynamics_method method;
    enum dynamics_stop stop;
    size_t n;          /* samples that took part */
    size_t rows;       /* equations, or residuals */
    size_t bias_count; /* 0 or the model's axes: constant efforts added to Phi theta */
    size_t iterations;
    double se_hac[DYNAMICS_P_MAX]; /* robust to autocorrelation; NaN: not computed */
    double hac_share; /* of the samples, over which covariance lets residuals hang together; 0:
                       * they are taken for independent */
    char null_words[ESTIMATE_NULLS_MAX][ESTIMATE_TEXT_MAX]; /* nulls as people call them */
    double residual_sd[MODEL_AXES_MAX]; /* per axis: of the equations (N, N m), or of nu */
    double window_s; /* over which a linear method looks at once; NaN: none */
    double delay_s;  /* nu answers tau so much later; NaN: not estimated */
    /* Of the delay, and with theta, as robust as covariance is. NaN likewise. */
    double delay_se_s, delay_covariance[DYNAMICS_P_MAX];
    /* pem: white noise of each measured velocity, and the forces that nobody measured, per axis
     * and how long they last; NaN: not estimated. */
    double velocity_sd[MODEL_AXES_MAX], force_sd[MODEL_AXES_MAX], force_time_s;
    /* pem: as if so many independent values had told how large that noise is; NaN: not known.
     */
    double noise_freedom;
    double ridge;                    /* that estimates were drawn to zero with; 0: none */
    bool robust;                     /* outlying samples were replaced */
    size_t outliers[MODEL_AXES_MAX]; /* of each axis; 0 unless robust */
    double initial[DATA_RUNS_MAX][MODEL_AXES_MAX];    /* nu at the start of each run */
    double initial_se[DATA_RUNS_MAX][MODEL_AXES_MAX]; /* NaN: not estimated */
    /* Linear fits: root mean square of what the parameter multiplies, and how much of that no
     * other column can stand for (1: all of it, 0: nothing). NaN: not computed. */
    double regressor_rms[DYNAMICS_P_MAX], independence_ratio[DYNAMICS_P_MAX];
};

extern const struct names dynamics_method_names;
const char *dynamics_method_name(enum dynamics_method method); /* "ols_central" … */
extern const struct names dynamics_stop_names;
const char *dynamics_stop_name(enum dynamics_stop stop); /* "converged" … */

/* Name of entry i: the parameter's, or that of a bias: "tau_u_n_bias". */
/* "surge mass", "constant surge force" for a bias; what people call entry i. */
const char *dynamics_parameter_words(const struct model *model, size_t i, char *text,
                                     size_t text_bytes);

/* Both: "surge mass (surge_mass_kg)". */
const char *dynamics_parameter_both(const struct model *model, size_t i, char *text,
                                    size_t text_bytes);

const char *dynamics_parameter_name(const struct model *model, size_t i, char *text,
                                    size_t text_bytes);

/* A fit with everything unknown: NaN, no identifiable parameter, PASS until a reason says
 * otherwise. p = parameters of the model (+ its axes when with_biases). */
void dynamics_fit_start(struct dynamics_fit *fit, const struct model *model,
                        enum dynamics_method method, bool with_biases);

/* se, lo, hi and identifiable from value, covariance and rows; then what every estimator's
 * verdict rests on: rank, condition, error bars, signs, and advice what to drive. set may be
 * NULL. */
void dynamics_judge(struct dynamics_fit *fit, const struct model *model,
                    const struct data_set *set);

/* Of the errors of two entries; an index of p and beyond is the delay. */
double dynamics_covariance(const struct dynamics_fit *fit, size_t a, size_t b);

/* A quantity that follows from the parameters (struct model_derived). */
struct dynamics_derived {
    double value, se; /* NaN when a parameter it needs is not known */
    double lo, hi;    /* 95 % */
};

/* Derived quantity i of the model, < derived_count; error bars by the gradient from the fit's
 * covariance, linear in the parameters' errors. Biases have no part in it. */
void dynamics_derive(const struct dynamics_fit *fit, const struct model *model, size_t i,
                     struct dynamics_derived *derived);

/* How an axis answers its effort about a speed, the others at rest: how much faster it gets in
 * the end for each unit of effort more, and its time constant, in which it has gone 63 % of the
 * way. Of friction that is not linear that is the slope there. NaN where nothing brings it to a
 * steady speed. Intervals by the gradient, as above. */
void dynamics_derive_response(const struct dynamics_fit *fit, const struct model *model,
                              size_t axis, double speed, struct dynamics_derived *gain,
                              struct dynamics_derived *time_s);

/* The delay, with its interval as those of the parameters; NaN when it was not estimated. */
void dynamics_derive_delay(const struct dynamics_fit *fit, struct dynamics_derived *derived);

/* Derived quantity i and the delay together, where it is a time and a delay was found: how late
 * the robot is in all, which data tell better than the lag. False: there is no such sum. */
bool dynamics_derive_with_delay(const struct dynamics_fit *fit, const struct model *model,
                                size_t i, struct dynamics_derived *derived);

#endif
