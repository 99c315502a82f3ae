/* twin/dynamics/pair_dynamics.h - identification of a pair's robot dynamics while they run.
 *
 *   telemetry --gates--> filter, sample by sample --drift--> alarm
 *       \--> window --(time, drift, request)--> frozen copy --> fit --checks--> candidate
 *
 * Each side has a filter (identification/online/online_filter.h), a bounded window of samples,
 * at most one running batch fit, and the last result. Starting a fit freezes a copy of the
 * window here and emits EFFECT_FIT; its end is an event. docs/model/online.md.
 *
 * struct pair_dynamics is plain data without pointers; the samples are behind it in the same
 * block. Only pairs whose lab file asks for it have one. Pure, apart from GSL's allocations in
 * the fits that a replay computes.
 */
#ifndef TWIN_DYNAMICS_PAIR_DYNAMICS_H
#define TWIN_DYNAMICS_PAIR_DYNAMICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "identification/dynamics/dynamics_change.h"
#include "identification/online/online_filter.h"
#include "logger/message/event.h"
#include "twin/dynamics/dynamics_task.h"
#include "twin/pair/pair_run.h"

enum { DYNAMICS_EFFORTS_MAX = 32 /* stored efforts */ };

enum fit_cause { FIT_BY_START, FIT_BY_TIME, FIT_BY_DRIFT, FIT_BY_REQUEST, FIT_CAUSE_COUNT };

struct dynamics_counts {
    uint64_t started, done, failed, cancelled;
    uint64_t lost;     /* fits that did not end in time */
    uint64_t stray;    /* unexpected ends of fits */
    uint64_t declined; /* requested during another fit, or with too few samples */
    uint64_t thinned;  /* samples skipped because they came too densely */
    uint64_t cut;      /* restarts of the window */
    uint64_t waited;   /* samples at which the first fit was due, but the robot at rest */
};

/* Reasons why no model can learn from samples. */
enum dynamics_misfit {
    DYNAMICS_FITS,
    DYNAMICS_NU_COUNT,
    DYNAMICS_NU_SIDEWAYS,
    DYNAMICS_NO_TAU,
    DYNAMICS_TAU_COUNT,
    DYNAMICS_TAU_SIDEWAYS,
    DYNAMICS_NO_POSE
};

/* Does telemetry have the model's shape? */
struct dynamics_shape {
    uint32_t received; /* samples since the robot's start, saturating */
    double miss_ratio; /* share of recent samples that did not fit */
    bool wrong;        /* too many misfits to learn; the alarm was raised */
    uint8_t misfit;    /* enum dynamics_misfit of the last misfit */
    uint8_t count;     /* count of numbers in it */
    double sideways;   /* its sideways velocity, which must be zero */
};

struct dynamics_side {
    bool followed;
    bool has_pose; /* every sample of the window has a pose */
    bool fitted;   /* result is valid */
    struct online_filter filter;
    struct dynamics_shape shape;
    uint32_t out_of_order_in_a_row;
    uint32_t first, count;             /* ring of the window */
    int64_t sampled_us;                /* robot's clock at the last sample */
    int64_t stored_us;                 /* and at the last stored one */
    uint32_t periods;                  /* number of samples behind period_us */
    double period_us;                  /* mean time between samples */
    double held[MODEL_AXES_MAX];       /* effort since the last sample */
    double effort_sum[MODEL_AXES_MAX]; /* effort times microseconds, since the last stored
                                          sample */
    bool thinning;                     /* samples were skipped since */
    int64_t pushed_us;     /* robot's clock at the last change of effort; LAB_TIME_NONE */
    int64_t driven_us;     /* and at the first change after a rest; likewise */
    bool waits;            /* the first fit waits until the robot has been driven for a while */
    uint32_t effort_count; /* total count; ring of efforts, for input delays */
    int64_t effort_us[DYNAMICS_EFFORTS_MAX];
    double effort[DYNAMICS_EFFORTS_MAX][MODEL_AXES_MAX];
    /* The running fit. */
    bool running;
    bool drift_waits; /* a fit is due because of a drift */
    uint8_t cause;    /* enum fit_cause */
    uint32_t job;     /* its number, or the last one's if none is running */
    uint32_t frozen;
    bool frozen_has_pose;
    int64_t began_us, give_up_us; /* lab time */
    char by[24];
    int64_t next_fit_us; /* lab time; LAB_TIME_MAX: on request only */
    int64_t fitted_us;   /* lab time of result */
    uint8_t result_cause;
    uint32_t result_job;
    uint32_t result_version; /* version of the set made of it; 0: none */
    struct dynamics_result result;
    /* Drift: the reference for fits, and the reported changes. */
    struct dynamics_reference reference;
    int64_t reference_us; /* lab time of its last sample */
    int64_t compared_us;  /* begin of the last fit compared with it, lab time */
    int64_t drifted_us;   /* lab time of the last reported change; LAB_TIME_NONE */
    int64_t changed_us;   /* and its begin; earlier samples show another robot */
    int64_t suspected_us; /* last sample of a fit with several apparent changes */
    uint32_t other_job;   /* the running fit when the robot changed; 0 */
    signed char moved[DYNAMICS_DIRECTIONS]; /* direction of each reported change; 0 once a fit
                                               includes all of it */
    uint64_t drifts;
    struct online_drift drift; /* the last one; the parameters' values after it */
    struct dynamics_counts counts;
    int64_t published_us;
};

struct pair_dynamics {
    uint32_t model;   /* index for model_at() */
    uint64_t version; /* changes with every sample and job */
    struct dynamics_side side[SIDE_COUNT];
    struct parameter_book sets; /* sets of the model */
};

/* Size of a pair's block: struct pair_dynamics, then samples. 0 if no side is identified. */
size_t pair_dynamics_bytes(const struct pair_dynamics_params *p);

/* d: pair_dynamics_bytes(p) bytes, aligned. */
void pair_dynamics_init(struct pair_dynamics *d, const struct pair_dynamics_params *p);

const struct model *pair_dynamics_model(const struct pair_dynamics *d);

/* Describes the frozen window of this side's running fit, borrowed from d's block until it
 * ends. n is 0 if none is running. */
void pair_dynamics_task(const struct pair_dynamics *d, const struct pair_dynamics_params *p,
                        enum side side, struct dynamics_task *task);

/* Returns the lab time of the oldest sample of the last result; the newest is of began_us. */
int64_t pair_dynamics_since_us(const struct dynamics_side *side);

enum { DYNAMICS_OBSTACLE_MAX = 240 };

/* Explains into text why nothing is learnt of this side, and what would be right; "" if all is
 * well. */
void pair_dynamics_obstacle(const struct pair_dynamics *d, enum side side,
                            char text[DYNAMICS_OBSTACLE_MAX]);

/* ---- the step ---- */

/* Applies telemetry. */
void pair_dynamics_sample(struct pair_dynamics *d, const struct pair_run *run);
/* Call it when this side's robot or its clock has restarted. */
void pair_dynamics_restarted(struct pair_dynamics *d, enum side side);
/* Applies the end of a fit. */
void pair_dynamics_fitted(struct pair_dynamics *d, const struct pair_run *run);
/* Starts a requested fit. Returns the reason if it cannot start, else NULL. */
const char *pair_dynamics_request(struct pair_dynamics *d, const struct pair_run *run);
/* The set in force has changed: the simulator moves differently from now on, and the real robot
 * is compared with the new set. */
void pair_dynamics_apply_set(struct pair_dynamics *d);
/* Returns when a fit is given up; LAB_TIME_MAX: none is running. */
int64_t pair_dynamics_deadline(const struct pair_dynamics *d);
void pair_dynamics_fire(struct pair_dynamics *d, const struct pair_run *run);

ENUM_NAMES_DECLARED(fit_cause); /* "start", "time", "drift", "request" */

#endif
