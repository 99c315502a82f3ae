/* twin/dynamics/dynamics_result.h - a batch fit's frozen window of samples, and its result.
 *
 * Plain data; a result is part of the lab's state.
 */
#ifndef TWIN_DYNAMICS_DYNAMICS_RESULT_H
#define TWIN_DYNAMICS_DYNAMICS_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_change.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/input_interpolation.h"
#include "twin/pair/parameters.h"

struct dynamics_task {
    const struct model *model;
    bool biases;
    bool plausible; /* report values that look like another unit's */
    bool has_pose;  /* the values include the pose; otherwise it is zero */
    uint8_t method; /* enum dynamics_method; DYNAMICS_METHOD_COUNT: auto */
    uint8_t hold;   /* enum input_interpolation */
    size_t n;
    const int64_t *t_us; /* [n] rising, robot's clock */
    const float *values; /* [n][3 axes]: nu, tau, pose */
    /* Called now and then; false stops the fit. May be NULL. */
    bool (*go_on)(void *context, const char *stage);
    void *context;
};

/* The newest samples, measured and as the fit simulates them from the efforts alone. Their
 * spacing is such that eight samples cover the time within which velocities change. */
enum { DYNAMICS_TRACE_MAX = 200 };

struct dynamics_trace {
    uint32_t n;                    /* 0: the fit could not be simulated */
    float t_s[DYNAMICS_TRACE_MAX]; /* s since the first one */
    float measured[MODEL_AXES_MAX][DYNAMICS_TRACE_MAX];
    float simulated[MODEL_AXES_MAX][DYNAMICS_TRACE_MAX]; /* NaN: a new run begins here */
    float effort[MODEL_AXES_MAX][DYNAMICS_TRACE_MAX];
};

struct dynamics_result {
    struct dynamics_fit fit;
    /* Estimates for comparison with other fits: the result's own, or those of pem if the
     * result's residuals are not white. count 0: no fit has reliable errors. */
    struct dynamics_reference honest;
    struct data_summary summary;
    struct interpolation_choice hold;   /* interpolation of the efforts between samples */
    struct effort_cause cause;          /* a lag of the efforts, or a drift */
    struct effort_lag lag;              /* that was fitted */
    struct input_phases phases;         /* of efforts within rows */
    double held_out_r2[MODEL_AXES_MAX]; /* NaN: unknown */
    double run_rmse[MODEL_AXES_MAX]; /* of nu, simulated over its own samples; NaN: unknown */
    struct dynamics_trace trace;
    struct parameter_checks checks;
    int64_t since_us, until_us; /* time of the samples, robot's clock */
    uint64_t data_hash;
};

#endif
