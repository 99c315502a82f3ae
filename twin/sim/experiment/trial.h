/* twin/sim/experiment/trial.h - one simulated run of a model-following experiment.
 *
 * A reference robot moves under given efforts. A second robot, the plant, must move alike:
 * driven by the follower, which knows only estimated parameters of the plant, or in open loop.
 * Random draws are repeatable. docs/model/following.md. Pure: no I/O, no clock; memory belongs
 * to the caller.
 */
#ifndef TWIN_SIM_EXPERIMENT_TRIAL_H
#define TWIN_SIM_EXPERIMENT_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "identification/data/linear_model.h"
#include "twin/following/fidelity.h"
#include "twin/following/follower.h"
#include "twin/following/shadow.h"

enum { TRIAL_STATES_MAX = 2 * MODEL_AXES_MAX, TRIAL_IN_FLIGHT_MAX = 2048 };

enum trial_drive {
    TRIAL_FOLLOW,  /* by the follower */
    TRIAL_EFFORTS, /* open loop: the efforts of the reference */
    TRIAL_COMMANDS /* open loop: the same commands to its own actuators */
};

enum trial_source {
    TRIAL_MODEL, /* the reference is known exactly, and its future for a period */
    TRIAL_SHADOW /* by telemetry: noisy, sampled, late */
};

/* Efforts over time, on an even grid, each held until the next. */
struct trial_input {
    size_t n;                /* > 0; the last one is held for ever */
    double step_s;           /* > 0 */
    const double *reference; /* [n][axes] by rows: for the reference robot */
    const double *plant;     /* [n][axes]: for the plant under the same commands */
};

struct trial_params {
    const struct model *model;              /* of both robots */
    double reference[MODEL_PARAMETERS_MAX]; /* true parameters of the reference robot */
    double plant[MODEL_PARAMETERS_MAX];     /* true parameters of the plant */
    enum trial_drive drive;
    enum trial_source source;
    struct follower_params follower; /* estimates of the plant; period_s of control */
    struct shadow_params shadow;     /* estimates of the reference */
    struct trial_input input;
    double start[MODEL_AXES_MAX]; /* initial velocities of the plant; the reference starts at
                                     rest */
    double inertial_n[2]; /* force on the plant with a constant direction; three axes only */
    double noise_sd[MODEL_AXES_MAX]; /* noise of the measured velocities of the reference */
    bool against_measured;      /* errors are against the noisy velocities, not the true ones */
    double sample_s, latency_s; /* of telemetry; multiples of input.step_s */
    double duration_s;          /* > 0 */
    double record_s;            /* > 0: interval of error samples */
    uint64_t seed;
};

struct trial_point {
    double t_s;
    size_t states; /* velocities, then pose */
    double reference[TRIAL_STATES_MAX], actual[TRIAL_STATES_MAX];
    struct follower_output output;
};

/* Telemetry in transit. */
struct trial_sample {
    int64_t t_us;
    double nu[MODEL_AXES_MAX], tau[MODEL_AXES_MAX];
};

struct trial_result {
    struct tracking state[TRIAL_STATES_MAX]; /* velocities, then pose */
    /* Ratio of d_hat to the true force, both in body axes, by least squares from a fifth of the
     * duration on; NaN: no force acts. */
    double found_ratio[MODEL_AXES_MAX];
    double unmatched_rms[MODEL_AXES_MAX];
    double saturated_ratio; /* share of control periods with a limited effort */
    bool diverged;          /* the plant's motion is not finite */
};

/* Checks the parameters. STATUS_E_RANGE with err: what is invalid. */
MUST_USE enum status trial_check(const struct trial_params *p, struct err *err);

/* Runs it after trial_check() has passed. point, optional, is called at every record. flight:
 * [TRIAL_IN_FLIGHT_MAX] room for telemetry in transit, used by TRIAL_SHADOW only. */
void trial_run(const struct trial_params *p, struct trial_sample *flight,
               void (*point)(void *context, const struct trial_point *point), void *context,
               struct trial_result *result);

#endif
