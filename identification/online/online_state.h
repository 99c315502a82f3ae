/* identification/online/online_state.h - what the online filter holds, and its settings: shared
 * by the filter, its Kalman update and its test for drift. Plain data without pointers. Pure.
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

/* What became of a sample. */
enum online_gate {
    ONLINE_USED,         /* velocities and parameters learnt from it */
    ONLINE_NOT_EXCITED,  /* the motion shows no parameter: velocities only */
    ONLINE_WAITING,      /* there are no start values yet */
    ONLINE_INCOMPLETE,   /* velocities missing, not finite, or of another number of axes */
    ONLINE_NO_EFFORT,    /* it tells no effort: what follows cannot be predicted */
    ONLINE_DUPLICATE,    /* the time or number of the one before */
    ONLINE_OUT_OF_ORDER, /* older than the one before */
    ONLINE_STALE,        /* it was under way for too long */
    ONLINE_GAP,          /* too long after the one before, or after none: velocities anew */
    ONLINE_SATURATED,    /* a velocity stands still at the end of its range */
    ONLINE_OUTLIER,      /* too far from what was predicted */
    ONLINE_GATE_COUNT
};

struct online_params {
    bool biases;             /* follow a constant effort per axis, too */
    bool adapt;              /* noise and disturbance are learnt from the innovations */
    double walk_ratio;       /* >= 0: parameters wander by this share in 1000 s */
    double gate_sd;          /* > 0: innovations beyond are outliers */
    double gap_s;            /* > 0 */
    double excitation_s;     /* > 0: how far back motion counts */
    double excitation_ratio; /* > 0: a parameter learns while that motion alone would tell it
                                this well, as a share of its value */
    double drift_ratio;      /* > 0: a change by this share matters */
};

struct online_sample {
    int64_t t_us;   /* the robot's clock */
    int64_t lab_us; /* of arrival */
    size_t nu_count, tau_count, pose_count;
    double nu[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX]; /* acts from t_us on */
    double pose[MODEL_AXES_MAX];
};

/* Where the filter begins. */
struct online_start {
    double theta[DYNAMICS_P_MAX];    /* parameters, then biases */
    double se[DYNAMICS_P_MAX];       /* > 0 */
    double noise_sd[MODEL_AXES_MAX]; /* of measured velocities; > 0 */
    double walk_sd[MODEL_AXES_MAX];  /* what disturbances do to a velocity in 1 s; > 0 */
};

/* A change that was found. */
struct online_drift {
    size_t parameter;
    int64_t since_us, found_us; /* lab time */
    double before, after;
    double before_se, after_se;
    double change_ratio; /* after / before - 1 */
    double z;            /* the change in standard errors */
};

struct online_filter {
    bool running;        /* it was given a start */
    bool placed;         /* nu is that of t_us, and the effort since is known */
    bool opened;         /* a change is suspected and being looked at */
    uint8_t n, p, poses; /* axes; parameters and biases; entries of the pose */
    uint8_t suspect;
    uint8_t outliers_in_a_row;
    int64_t t_us, lab_us; /* of the last sample taken in */
    int64_t suspect_us;   /* lab time at which the change seems to have begun */
    double opened_s;      /* for how long it has been looked at */
    uint32_t opened_used, opened_outliers; /* samples since */
    uint64_t gate[ONLINE_GATE_COUNT];
    uint64_t starts;   /* times it was given a start */
    uint64_t openings; /* changes suspected */
    uint64_t drifts;   /* of them confirmed */
    double learnt_s;   /* time in which it learnt, since the start */
    double nu[MODEL_AXES_MAX], tau[MODEL_AXES_MAX], pose[MODEL_AXES_MAX];
    double low[MODEL_AXES_MAX], high[MODEL_AXES_MAX], measured[MODEL_AXES_MAX];
    double theta[DYNAMICS_P_MAX];
    double scale[DYNAMICS_P_MAX]; /* what counts as a whole parameter */
    double covariance[ONLINE_STATES_MAX][ONLINE_STATES_MAX];
    double noise_var[MODEL_AXES_MAX], noise_var_start[MODEL_AXES_MAX];
    double walk_var[MODEL_AXES_MAX], walk_var_start[MODEL_AXES_MAX];
    double whitened[MODEL_AXES_MAX];    /* the last innovation, of unit variance */
    double nis[MODEL_AXES_MAX];         /* mean of its square over the last samples; 1 */
    double correlation[MODEL_AXES_MAX]; /* with the one before, over the last samples; 0 */
    double sensitivity[MODEL_AXES_MAX][DYNAMICS_P_MAX]; /* of nu to the parameters */
    double information[DYNAMICS_P_MAX];                 /* of the last excitation_s */
    bool excited[DYNAMICS_P_MAX];
    double reference[DYNAMICS_P_MAX], reference_se[DYNAMICS_P_MAX];
    double offset[MODEL_AXES_MAX];       /* nu, less what the reference predicts */
    double sum[DYNAMICS_P_MAX][2];       /* log likelihood ratio of a rise, a fall; >= 0 */
    int64_t since_us[DYNAMICS_P_MAX][2]; /* where it left zero */
    struct online_drift last;            /* valid when drifts > 0 */
};

struct online_params online_params_defaults(void);

extern const struct names online_gate_names;
const char *online_gate_name(enum online_gate gate); /* "used" … */

/* Hold drift against these values from now on. se may be 0. */
void online_filter_refer(struct online_filter *f, const double *theta, const double *se);

/* 1 sigma of entry i of theta; NaN when not running. */
double online_filter_se(const struct online_filter *f, size_t i);

#endif
