/* twin/following/shadow.h - what a simulated robot shall follow, from the telemetry of a real
 * one.
 *
 * Telemetry is noisy, comes in steps and comes late. The model identified for the real robot,
 * driven by the efforts it reports, is corrected by each sample and runs ahead over the
 * latency up to now (docs/model/following.md):
 *
 *     nu^ at the sample's time += g (nu measured - nu^),   then nu' = f(nu, tau) until now
 *
 * g is that of a Kalman filter. A motion that the model makes no number of begins anew at the
 * last sample, and is counted. For comparison: the raw samples, their filtered differences, an
 * alpha-beta filter. When samples stop coming the target is held, then ramped down to a stop;
 * when they come again it goes over to them without a jump. Plain data without pointers but to
 * the model. Pure: no I/O, no clock, no allocation.
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
    SHADOW_EFFORTS,    /* the model under the reported efforts alone, never corrected */
    SHADOW_RAW,        /* the last sample, acceleration zero */
    SHADOW_DIFFERENCE, /* the last sample, acceleration from filtered differences */
    SHADOW_ALPHA_BETA, /* position-velocity filter of each axis, predicted over the latency */
    SHADOW_RAMP, /* as SHADOW_MODEL, efforts carried on as they change, not through zero */
    SHADOW_METHOD_COUNT
};

struct shadow_params {
    enum shadow_method method;
    const struct model *model; /* of the real robot; borrowed; NULL: method is not by model */
    double theta[MODEL_PARAMETERS_MAX];
    bool unknown; /* theta is: nothing runs by it, the last sample is taken as it is */
    size_t axes;
    double noise_sd[MODEL_AXES_MAX]; /* > 0, of a sample */
    double drift_per_s;   /* > 0: model's variance per second over that of a sample; 0.2 */
    double latency_s_max; /* > 0: a sample older than this counts as so old; 1 */
    double stale_s;       /* > 0: no sample for so long: the target is held; 0.5 */
    double hold_s;        /* >= 0: and for so long again, then ramped down; 0.5 */
    double ramp_s;        /* > 0: to a stop; 2 */
    double blend_s;       /* >= 0: time constant of coming back; 0.5 */
};

/* What becomes of a sample. */
enum shadow_gate {
    SHADOW_ACCEPTED,
    SHADOW_DUPLICATE, /* same time as the one before */
    SHADOW_OLD,       /* overtaken by a later one */
    SHADOW_NOT_FINITE,
    SHADOW_CLAMPED, /* taken, at a time moved to between arrival - latency_s_max and arrival */
    SHADOW_GATE_COUNT
};

enum shadow_state {
    SHADOW_IDLE,
    SHADOW_TRACKING,
    SHADOW_HOLDING,
    SHADOW_STOPPING,
    SHADOW_STOPPED
};

struct shadow { /* all zero: nothing has come */
    enum shadow_state state;
    int64_t arrived_us;             /* of the last sample taken */
    int64_t at_us;                  /* time of the last sample taken */
    int64_t ahead_us;               /* time of `ahead` */
    double nu[MODEL_AXES_MAX];      /* estimate at at_us */
    double nu_dot[MODEL_AXES_MAX];  /* differences, alpha-beta */
    double pose[MODEL_AXES_MAX];    /* at at_us: as measured, else integrated */
    double tau[MODEL_AXES_MAX];     /* reported with the last sample: acts from at_us */
    double tau_dot[MODEL_AXES_MAX]; /* per second, told or by the last samples */
    double tau_was[MODEL_AXES_MAX]; /* per second, from the sample before to the last one */
    double raw[MODEL_AXES_MAX];     /* the last sample */
    double ahead[MODEL_AXES_MAX];   /* estimate at ahead_us */
    double ahead_pose[MODEL_AXES_MAX];
    bool restart;                  /* the next sample is the first of another motion */
    double variance;               /* of the estimate, in units of the samples' */
    double target[MODEL_AXES_MAX]; /* handed out last */
    double from[MODEL_AXES_MAX];   /* the target when it began to be held */
    double offset[MODEL_AXES_MAX]; /* fades: of coming back */
    int64_t since_us;              /* of the state */
    int64_t target_us;
    double latency_s; /* of the last sample */
    uint64_t count[SHADOW_GATE_COUNT];
    uint64_t
        resets; /* times the model's motion was no number: the last sample took its place */
};

void shadow_params_default(struct shadow_params *p);

/* The robot began anew: what was known of its motion is nothing to go by. The target goes on
 * from where it is. */
void shadow_restart(struct shadow *s);

/* A sample of the real robot: measured at t_us (lab time), here at arrival_us. nu, tau [axes];
 * pose, all of the model's entries, or NULL. */
enum shadow_gate shadow_sample(struct shadow *s, const struct shadow_params *p, int64_t t_us,
                               int64_t arrival_us, const double *nu, const double *tau,
                               const double *pose);

/* How fast the efforts of the last sample taken change, per second [axes], where the robot
 * tells it: in place of what the last three samples agree upon. What is no number is passed
 * over; an effort that came to zero at this rate stays there. */
void shadow_set_rate(struct shadow *s, const struct shadow_params *p, const double *tau_dot);

/* Where it was, or is, at t_us, which is not before its last sample: pose, out, as
 * model_pose_count(). */
void shadow_pose(const struct shadow *s, const struct shadow_params *p, int64_t t_us,
                 double pose[MODEL_AXES_MAX]);

/* The target for a control period that begins at now_us, which does not run back. False when
 * nothing has come yet: *target is a standstill. */
bool shadow_target(struct shadow *s, const struct shadow_params *p, int64_t now_us,
                   double period_s, struct follower_target *target);

extern const struct names shadow_method_names;
const char *shadow_method_name(enum shadow_method method);
extern const struct names shadow_gate_names;
const char *shadow_gate_name(enum shadow_gate gate);

#endif
