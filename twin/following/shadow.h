/* twin/following/shadow.h - the target of a simulated robot, from the telemetry of a real one.
 *
 * Telemetry is noisy, sampled and late. The model identified for the real robot runs with the
 * efforts that it reports. Each sample corrects it, and it predicts over the latency up to now
 * (docs/model/following.md):
 *
 *   nu^ at the sample's time += g (nu measured - nu^),   then nu' = f(nu, tau) until now
 *
 * g is the gain of a Kalman filter. If the model's motion is not finite it restarts at the last
 * sample, which is counted. For comparison there are: the raw samples, their filtered
 * differences, an alpha-beta filter. Without samples the target is held, then ramped down to a
 * stop; when samples return it blends over to them without a jump. Plain data without pointers
 * except to the model. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_FOLLOWING_SHADOW_H
#define TWIN_FOLLOWING_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "identification/data/linear_model.h"
#include "twin/following/follower.h"

enum shadow_method {
    SHADOW_MODEL,      /* observer by the identified model, predicted over the latency */
    SHADOW_EFFORTS,    /* the model under the reported efforts only, never corrected */
    SHADOW_RAW,        /* the last sample, acceleration zero */
    SHADOW_DIFFERENCE, /* the last sample, acceleration from filtered differences */
    SHADOW_ALPHA_BETA, /* position-velocity filter per axis, predicted over the latency */
    SHADOW_RAMP,       /* as SHADOW_MODEL, with efforts extrapolated, but not through zero */
    SHADOW_METHOD_COUNT
};

struct shadow_params {
    enum shadow_method method;
    const struct model *model; /* of the real robot; borrowed; NULL: the method has no model */
    double theta[MODEL_PARAMETERS_MAX];
    bool unknown; /* theta is unknown: the last sample is used as it is */
    size_t axes;
    double noise_sd[MODEL_AXES_MAX]; /* > 0, sd of a sample */
    double drift_per_s;   /* > 0: model's variance per second over a sample's; default 0.2 */
    double latency_s_max; /* > 0: larger ages of samples are cut to this; default 1 */
    double stale_s;       /* > 0: time without samples until the target is held; default 0.5 */
    double hold_s;        /* >= 0: further time until it is ramped down; default 0.5 */
    double ramp_s;        /* > 0: duration of the ramp to a stop; default 2 */
    double blend_s;       /* >= 0: time constant of blending at resumption; default 0.5 */
};

/* Outcomes of a sample. */
enum shadow_gate {
    SHADOW_ACCEPTED,
    SHADOW_DUPLICATE, /* same time as the previous one */
    SHADOW_OLD,       /* older than the previous one */
    SHADOW_NOT_FINITE,
    SHADOW_CLAMPED, /* accepted, its time cut to between arrival - latency_s_max and arrival */
    SHADOW_GATE_COUNT
};

enum shadow_state {
    SHADOW_IDLE,
    SHADOW_TRACKING,
    SHADOW_HOLDING,
    SHADOW_STOPPING,
    SHADOW_STOPPED
};

struct shadow { /* All zero: no sample yet. */
    enum shadow_state state;
    int64_t arrived_us;             /* arrival of the last accepted sample */
    int64_t at_us;                  /* time of the last accepted sample */
    int64_t ahead_us;               /* time of `ahead` */
    double nu[MODEL_AXES_MAX];      /* estimate at at_us */
    double nu_dot[MODEL_AXES_MAX];  /* for differences, alpha-beta */
    double pose[MODEL_AXES_MAX];    /* at at_us: measured, else integrated */
    double tau[MODEL_AXES_MAX];     /* effort of the last sample: acts from at_us */
    double tau_dot[MODEL_AXES_MAX]; /* per second, reported or from the last samples */
    double tau_was[MODEL_AXES_MAX]; /* per second, from the previous sample to the last one */
    double raw[MODEL_AXES_MAX];     /* the last sample */
    double ahead[MODEL_AXES_MAX];   /* estimate at ahead_us */
    double ahead_pose[MODEL_AXES_MAX];
    bool restart;                  /* the next sample begins another motion */
    double variance;               /* variance of the estimate, in units of the samples' */
    double target[MODEL_AXES_MAX]; /* last returned target */
    double from[MODEL_AXES_MAX];   /* target at the begin of holding */
    double offset[MODEL_AXES_MAX]; /* decaying jump at resumption */
    int64_t since_us;              /* begin of the state */
    int64_t target_us;
    double latency_s; /* latency of the last sample */
    uint64_t count[SHADOW_GATE_COUNT];
    uint64_t resets; /* times that the model's motion was not finite and the last sample
                        replaced it */
};

void shadow_params_default(struct shadow_params *p);

/* The robot has restarted, so its estimated motion is invalid. The target continues without a
 * jump. */
void shadow_restart(struct shadow *s);

/* Adds a sample of the real robot: measured at t_us (lab time), received at arrival_us. nu, tau
 * [axes]; pose, all of the model's entries, or NULL. */
enum shadow_gate shadow_sample(struct shadow *s, const struct shadow_params *p, int64_t t_us,
                               int64_t arrival_us, const double *nu, const double *tau,
                               const double *pose);

/* Sets the rate of change of the last sample's efforts, per second [axes], if the robot reports
 * it; it replaces the estimate from three samples. Values that are not finite are ignored. An
 * effort that came to zero at this rate stays there. */
void shadow_set_rate(struct shadow *s, const struct shadow_params *p, const double *tau_dot);

/* Computes the pose at t_us, not before its last sample: pose, out, model_pose_count()
 * numbers. */
void shadow_pose(const struct shadow *s, const struct shadow_params *p, int64_t t_us,
                 double pose[MODEL_AXES_MAX]);

/* Computes the target for a control period from now_us, which must not decrease. False before
 * the first sample: *target is then a standstill. */
bool shadow_target(struct shadow *s, const struct shadow_params *p, int64_t now_us,
                   double period_s, struct follower_target *target);

ENUM_NAMES_DECLARED(shadow_method);
ENUM_NAMES_DECLARED(shadow_gate);

#endif
