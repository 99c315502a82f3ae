/* identification/dynamics_fit.h - what every estimator of dynamics returns.
 *
 * Estimate, error bars and verdict travel together (docs/model/identification.md). Plain data.
 */
#ifndef IDENTIFICATION_DYNAMICS_FIT_H
#define IDENTIFICATION_DYNAMICS_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/names.h"
#include "base/status.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"

enum dynamics_method {
    DYNAMICS_OLS_CENTRAL,
    DYNAMICS_OLS_SG,
    DYNAMICS_WEAK,
    DYNAMICS_WEAK_IV,
    DYNAMICS_OUTPUT_ERROR,
    DYNAMICS_PEM,
    DYNAMICS_METHOD_COUNT
};

enum dynamics_verdict { DYNAMICS_PASS, DYNAMICS_MARGINAL, DYNAMICS_FAIL };

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
    DYNAMICS_P_MAX = MODEL_PARAMETERS_MAX + MODEL_AXES_MAX,
    DYNAMICS_NULLS_MAX = 4,
    DYNAMICS_COMBINATIONS_MAX = 8,
    DYNAMICS_TEXT_MAX = 200,
    DYNAMICS_TEXTS_MAX = 16
};

/* A sum of parameters that the data determine where they do not determine each. */
struct dynamics_combination {
    char text[DYNAMICS_TEXT_MAX]; /* "hull_kg + 2 load_kg" */
    double value, se;             /* in the unit of the first one */
};

struct dynamics_fit {
    enum dynamics_method method;
    enum dynamics_stop stop;
    size_t n;          /* samples that took part */
    size_t rows;       /* equations, or residuals */
    size_t p;          /* model's parameters, then biases */
    size_t bias_count; /* 0 or the model's axes: constant efforts added to Phi theta */
    size_t iterations;
    double theta[DYNAMICS_P_MAX];  /* NaN when it is part of a null direction */
    double se[DYNAMICS_P_MAX];     /* residuals taken for independent */
    double se_hac[DYNAMICS_P_MAX]; /* robust to autocorrelation; NaN: not computed */
    double lo[DYNAMICS_P_MAX], hi[DYNAMICS_P_MAX]; /* 95 %, of the wider error; NaN as theta */
    double covariance[DYNAMICS_P_MAX][DYNAMICS_P_MAX]; /* the one that lo and hi rest on */
    double hac_share; /* of the samples, over which covariance lets residuals hang together; 0:
                       * they are taken for independent */
    bool identifiable[DYNAMICS_P_MAX]; /* determined, and its error is below half its value */
    size_t rank;                       /* of p, and one more with a fitted delay */
    double condition; /* of the columns scaled to unit length; inf when the rank is short */
    size_t null_count;
    char nulls[DYNAMICS_NULLS_MAX][DYNAMICS_TEXT_MAX];      /* "a, b in the ratio 1 : -0.5" */
    char null_words[DYNAMICS_NULLS_MAX][DYNAMICS_TEXT_MAX]; /* the same as people call them */
    size_t combination_count;
    struct dynamics_combination combinations[DYNAMICS_COMBINATIONS_MAX];
    double residual_sd[MODEL_AXES_MAX]; /* per axis: of the equations (N, N m), or of nu */
    double window_s; /* over which a linear method looks at once; NaN: none */
    double delay_s;  /* nu answers tau so much later; NaN: not estimated */
    /* Of the delay, and with theta, as robust as covariance is. NaN likewise. */
    double delay_se_s, delay_covariance[DYNAMICS_P_MAX];
    /* pem: white noise of each measured velocity, and the forces that nobody measured, per axis
     * and how long they last; NaN: not estimated. */
    double velocity_sd[MODEL_AXES_MAX], force_sd[MODEL_AXES_MAX], force_time_s;
    double ridge;                    /* that estimates were drawn to zero with; 0: none */
    bool robust;                     /* outlying samples were replaced */
    size_t outliers[MODEL_AXES_MAX]; /* of each axis; 0 unless robust */
    double initial[DATA_RUNS_MAX][MODEL_AXES_MAX];    /* nu at the start of each run */
    double initial_se[DATA_RUNS_MAX][MODEL_AXES_MAX]; /* NaN: not estimated */
    /* Linear fits: root mean square of what the parameter multiplies, and how much of that no
     * other column can stand for (1: all of it, 0: nothing). NaN: not computed. */
    double regressor_rms[DYNAMICS_P_MAX], independence_ratio[DYNAMICS_P_MAX];
    enum dynamics_verdict verdict;
    size_t reason_count;
    char reasons[DYNAMICS_TEXTS_MAX][DYNAMICS_TEXT_MAX];       /* the worst first */
    enum dynamics_verdict reason_verdicts[DYNAMICS_TEXTS_MAX]; /* at best, with each of them */
    size_t advice_count;
    char advice[DYNAMICS_TEXTS_MAX][DYNAMICS_TEXT_MAX]; /* "run a zig-zag at two speeds" */
};

extern const struct names dynamics_method_names;
const char *dynamics_method_name(enum dynamics_method method); /* "ols_central" … */
extern const struct names dynamics_verdict_names;
const char *dynamics_verdict_name(enum dynamics_verdict verdict); /* "PASS" … */
extern const struct names dynamics_stop_names;
const char *dynamics_stop_name(enum dynamics_stop stop); /* "converged" … */

/* Name of entry i of theta: the parameter's, or that of a bias: "tau_u_n_bias". */
/* "surge mass", "constant surge force" for a bias; what people call entry i of theta. */
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

/* Add a reason or advice, cut to its length; dropped when the list says so already. A reason
 * goes after those that are as bad, and out of a full list goes the last one, so that what
 * makes the verdict is always told; advice is dropped when its list is full. */
void dynamics_reason(struct dynamics_fit *fit, enum dynamics_verdict at_best,
                     const char *format, ...) PRINTF_LIKE(3, 4);
/* The same at the head of the list, for what explains the others. */
void dynamics_reason_first(struct dynamics_fit *fit, enum dynamics_verdict at_best,
                           const char *format, ...) PRINTF_LIKE(3, 4);
void dynamics_advise(struct dynamics_fit *fit, const char *format, ...) PRINTF_LIKE(2, 3);

/* lo, hi and identifiable from theta, covariance and rows; then what every estimator's verdict
 * rests on: rank, condition, error bars, signs, and advice what to drive. set may be NULL. */
void dynamics_judge(struct dynamics_fit *fit, const struct model *model,
                    const struct data_set *set);

/* A quantity that follows from the parameters (struct model_derived). */
struct dynamics_derived {
    double value, se; /* NaN when a parameter it needs is not known */
    double lo, hi;    /* 95 % */
};

/* Derived quantity i of the model, < derived_count; error bars by the gradient from the fit's
 * covariance, linear in the parameters' errors. Biases have no part in it. */
void dynamics_derive(const struct dynamics_fit *fit, const struct model *model, size_t i,
                     struct dynamics_derived *derived);

/* The delay, with its interval as those of the parameters; NaN when it was not estimated. */
void dynamics_derive_delay(const struct dynamics_fit *fit, struct dynamics_derived *derived);

/* Derived quantity i and the delay together, where it is a time and a delay was found: how late
 * the robot is in all, which data tell better than the lag. False: there is no such sum. */
bool dynamics_derive_late(const struct dynamics_fit *fit, const struct model *model, size_t i,
                          struct dynamics_derived *derived);

#endif
