/* identification/online/online_state.h - state and settings of the online filter. The filter,
 * its Kalman update and its drift test share them. Plain data without pointers. Pure.
 */
#ifndef IDENTIFICATION_ONLINE_ONLINE_STATE_H
#define IDENTIFICATION_ONLINE_ONLINE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "identification/data/linear_model.h"
#include "identification/fit/dynamics_fit.h"

enum { ONLINE_STATES_MAX = MODEL_AXES_MAX + DYNAMICS_P_MAX };

/* Fate of a sample. */
enum online_gate {
    ONLINE_USED,         /* velocities and parameters were updated */
    ONLINE_NOT_EXCITED,  /* the motion excites no parameter: only velocities were updated */
    ONLINE_WAITING,      /* there are no start values yet */
    ONLINE_INCOMPLETE,   /* velocities missing, not finite, or a wrong number of axes */
    ONLINE_NO_EFFORT,    /* without an effort: the next sample cannot be predicted */
    ONLINE_DUPLICATE,    /* same time or number as the previous sample */
    ONLINE_OUT_OF_ORDER, /* older than the previous sample */
    ONLINE_STALE,        /* its transport took too long */
    ONLINE_GAP,       /* too long after the previous sample, or the first: velocities restart */
    ONLINE_SATURATED, /* a velocity stays at the end of its range */
    ONLINE_OUTLIER,   /* too far from the prediction */
    ONLINE_GATE_COUNT
};

struct online_params {
    bool biases; /* also estimate a constant effort per axis */
    bool adapt;  /* adapt noise and disturbance to the innovations */
    /* >= 0: random walk of parameters in 1000 s, as a share of their value */
    double walk_ratio;
    double gate_sd;      /* > 0: innovations beyond are outliers */
    double gap_s;        /* > 0 */
    double excitation_s; /* > 0: length of the past motion that counts */
    /* > 0: a parameter is updated if that motion alone determines it this well, relative to
     * its value */
    double excitation_ratio;
    double drift_ratio; /* > 0: a relative change of this size matters */
};

struct online_sample {
    int64_t t_us;   /* robot time */
    int64_t lab_us; /* lab time of arrival */
    size_t nu_count, tau_count, pose_count;
    double nu[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX]; /* acts from t_us on */
    double pose[MODEL_AXES_MAX];
};

/* Start values of the filter. */
struct online_start {
    double theta[DYNAMICS_P_MAX];    /* parameters, then biases */
    double se[DYNAMICS_P_MAX];       /* > 0 */
    double noise_sd[MODEL_AXES_MAX]; /* noise of measured velocities; > 0 */
    double walk_sd[MODEL_AXES_MAX];  /* effect of disturbances on a velocity in 1 s; > 0 */
};

/* A detected change. */
struct online_drift {
    size_t parameter;
    int64_t since_us, found_us; /* lab time */
    double before, after;
    double before_se, after_se;
    double change_ratio; /* after / before - 1 */
    double z;            /* change in standard errors */
};

struct online_filter {
    bool running;        /* start values exist */
    bool placed;         /* nu is that of t_us, and the effort since then is known */
    bool opened;         /* a suspected change is being examined */
    uint8_t n, p, poses; /* axes; parameters and biases; pose entries */
    uint8_t suspect;
    uint8_t outliers_in_a_row;
    int64_t t_us, lab_us;                  /* last sample used */
    int64_t suspect_us;                    /* lab time at which the suspected change began */
    double opened_s;                       /* duration of the examination so far, s */
    uint32_t opened_used, opened_outliers; /* number of samples since then */
    uint64_t gate[ONLINE_GATE_COUNT];
    uint64_t starts;   /* number of starts */
    uint64_t openings; /* number of suspected changes */
    uint64_t drifts;   /* number of confirmed changes */
    double learnt_s;   /* time with updates since the start, s */
    double nu[MODEL_AXES_MAX], tau[MODEL_AXES_MAX], pose[MODEL_AXES_MAX];
    double low[MODEL_AXES_MAX], high[MODEL_AXES_MAX], measured[MODEL_AXES_MAX];
    double theta[DYNAMICS_P_MAX];
    double scale[DYNAMICS_P_MAX]; /* size that counts as a whole parameter */
    double covariance[ONLINE_STATES_MAX][ONLINE_STATES_MAX];
    double noise_var[MODEL_AXES_MAX], noise_var_start[MODEL_AXES_MAX];
    double walk_var[MODEL_AXES_MAX], walk_var_start[MODEL_AXES_MAX];
    double whitened[MODEL_AXES_MAX]; /* last innovation, scaled to unit variance */
    /* mean square of `whitened` over the last samples; expected 1 */
    double nis[MODEL_AXES_MAX];
    double correlation[MODEL_AXES_MAX]; /* mean product with the previous one; expected 0 */
    double sensitivity[MODEL_AXES_MAX][DYNAMICS_P_MAX]; /* derivative of nu by the parameters */
    double information[DYNAMICS_P_MAX];                 /* over the last excitation_s */
    bool excited[DYNAMICS_P_MAX];
    double reference[DYNAMICS_P_MAX], reference_se[DYNAMICS_P_MAX];
    double offset[MODEL_AXES_MAX];       /* nu minus the prediction by the reference */
    double sum[DYNAMICS_P_MAX][2];       /* log likelihood ratio of a rise, a fall; >= 0 */
    int64_t since_us[DYNAMICS_P_MAX][2]; /* time at which the sum left zero */
    struct online_drift last;            /* valid if drifts > 0 */
};

struct online_params online_params_defaults(void);

ENUM_NAMES_DECLARED(online_gate); /* "used" … */

/* Sets new reference values for the drift test. se may be 0. */
void online_filter_refer(struct online_filter *f, const double *theta, const double *se);

/* Returns the standard error of entry i of theta; NaN if not running. */
double online_filter_se(const struct online_filter *f, size_t i);

#endif
