/* twin/dynamics/dynamics_task.h - a batch fit of dynamics on a frozen window of samples, with
 * the checks that decide whether it may become a parameter set.
 *
 * The same call on the worker's thread, in replay, and in the lab where nobody hands it the
 * result: equal windows give equal bytes. docs/model/online.md. Pure but for GSL's
 * allocations.
 */
#ifndef TWIN_DYNAMICS_DYNAMICS_TASK_H
#define TWIN_DYNAMICS_DYNAMICS_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_change.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/input_interpolation.h"
#include "logger/message/event.h"
#include "twin/pair/parameters.h"

struct dynamics_task {
    const struct model *model;
    bool biases;
    bool plausible; /* doubt values that look like another unit's */
    bool has_pose;  /* the values hold it; else it is zero there */
    uint8_t method; /* enum dynamics_method; DYNAMICS_METHOD_COUNT: auto */
    uint8_t hold;   /* enum input_interpolation */
    size_t n;
    const int64_t *t_us; /* [n] rising, the robot's clock */
    const float *values; /* [n][3 axes]: nu, tau, pose */
    /* Asked now and then; false ends the work. NULL: never asked. */
    bool (*go_on)(void *context, const char *stage);
    void *context;
};

/* The newest of the samples, each as it was and as the fit simulates it from the efforts alone:
 * so far apart that eight fall into the time within which velocities change. */
enum { DYNAMICS_TRACE_MAX = 200 };

struct dynamics_trace {
    uint32_t n;                    /* 0: the fit could not be simulated */
    float t_s[DYNAMICS_TRACE_MAX]; /* since the first one */
    float measured[MODEL_AXES_MAX][DYNAMICS_TRACE_MAX];
    float simulated[MODEL_AXES_MAX][DYNAMICS_TRACE_MAX]; /* NaN: a run begins there */
};

/* Plain data: it is part of the lab's state. */
struct dynamics_result {
    struct dynamics_fit fit;
    /* To be held against other fits: that one, or of pem, where it leaves what is not white;
     * count 0: no fit has honest errors. */
    struct dynamics_reference honest;
    struct data_summary summary;
    struct interpolation_choice hold;   /* what its efforts did between samples */
    double held_out_r2[MODEL_AXES_MAX]; /* NaN: not known */
    double run_rmse[MODEL_AXES_MAX]; /* of nu, simulated over its own samples; NaN likewise */
    struct dynamics_trace trace;
    struct parameter_checks checks;
    int64_t since_us, until_us; /* of the samples, the robot's clock */
    uint64_t data_hash;
};

/* STATUS_E_EMPTY, STATUS_E_RANGE, STATUS_E_MATH: these samples cannot be fitted;
 * STATUS_E_NOMEM; STATUS_E_STALE: told not to go on. err says why in words; *out is written on
 * STATUS_OK only.
 */
MUST_USE enum status dynamics_task_run(const struct dynamics_task *task,
                                       struct dynamics_result *out, struct err *err);

/* The same, with its end as what the lab takes in: outcome, detail, and *out as result where it
 * is done. The job stays. */
enum status dynamics_task_end(const struct dynamics_task *task, struct dynamics_result *out,
                              struct event_fit *end, struct err *err);

#endif
