/* twin/dynamics/pair_dynamics.h - the dynamics of a pair's robots, identified while they run.
 *
 *     telemetry --gates--> filter, sample by sample --drift--> alarm
 *         \--> window --(time, drift, request)--> frozen copy --> fit --checks--> candidate
 *
 * Per side: a filter (identification/online/online_filter.h), a bounded window of samples, at
 * most one batch fit under way, and the last one's result. Starting a fit freezes a copy of the
 * window here and emits EFFECT_FIT; its end is an event. docs/model/online.md.
 *
 * struct pair_dynamics is plain data without pointers; the samples stand behind it in the same
 * block. Only pairs whose lab file asks for it have one. Pure but for GSL's allocations in the
 * fits that replay computes.
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

enum { DYNAMICS_EFFORTS_MAX = 32 /* efforts remembered */ };

enum fit_cause { FIT_BY_START, FIT_BY_TIME, FIT_BY_DRIFT, FIT_BY_REQUEST, FIT_CAUSE_COUNT };

struct dynamics_counts {
    uint64_t started, done, failed, cancelled;
    uint64_t lost;     /* not ended in time */
    uint64_t stray;    /* ends of fits that nobody waited for */
    uint64_t declined; /* asked for while one was under way, or with too few samples */
    uint64_t thinned;  /* samples that the window passed over because they came so densely */
    uint64_t cut;      /* times the window began anew */
    uint64_t waited;   /* samples at which the first fit was due but the robot hardly driven */
};

/* What is wrong with samples that no model learns from. */
enum dynamics_misfit {
    DYNAMICS_FITS,
    DYNAMICS_NU_COUNT,
    DYNAMICS_NU_SIDEWAYS,
    DYNAMICS_NO_TAU,
    DYNAMICS_TAU_COUNT,
    DYNAMICS_TAU_SIDEWAYS,
    DYNAMICS_NO_POSE
};

/* Whether telemetry is of the model's shape. */
struct dynamics_shape {
    uint32_t received; /* samples since the robot started, up to as many as are remembered */
    double miss_ratio; /* of the last ones: they did not fit */
    bool wrong;        /* so many that nothing can be learnt, and an alarm said so */
    uint8_t misfit;    /* enum dynamics_misfit of the last one that did not */
    uint8_t count;     /* numbers that it told */
    double sideways;   /* the one that should be zero */
};

struct dynamics_side {
    bool followed;
    bool has_pose; /* every sample of the window told its pose */
    bool fitted;   /* result is valid */
    struct online_filter filter;
    struct dynamics_shape shape;
    uint32_t out_of_order_in_a_row;
    uint32_t first, count;             /* ring of the window */
    int64_t sampled_us;                /* the robot's clock at the last sample, window or not */
    int64_t stored_us;                 /* and at the last one kept */
    uint32_t periods;                  /* so many told period_us */
    double period_us;                  /* mean time between samples */
    double held[MODEL_AXES_MAX];       /* effort since the last sample */
    double effort_sum[MODEL_AXES_MAX]; /* times microseconds, since the last one kept */
    bool thinning;                     /* samples were passed over since */
    int64_t pushed_us;     /* the robot's clock when its effort last changed; LAB_TIME_NONE */
    int64_t driven_us;     /* and when it first did, since it was left alone; likewise */
    bool waits;            /* the first fit, until the robot has been driven for a while */
    uint32_t effort_count; /* ever; ring of efforts, for robots that answer late */
    int64_t effort_us[DYNAMICS_EFFORTS_MAX];
    double effort[DYNAMICS_EFFORTS_MAX][MODEL_AXES_MAX];
    /* The fit under way. */
    bool running;
    bool drift_waits; /* the next one is due because of a drift */
    uint8_t cause;    /* enum fit_cause */
    uint32_t job;     /* its number; the last one's when none is running */
    uint32_t frozen;
    bool frozen_has_pose;
    int64_t began_us, give_up_us; /* lab time */
    char by[24];
    int64_t next_fit_us; /* lab time; LAB_TIME_MAX: when asked */
    int64_t fitted_us;   /* lab time of result */
    uint8_t result_cause;
    uint32_t result_job;
    uint32_t result_version; /* of the set that came of it; 0: none */
    struct dynamics_result result;
    /* Drift: what fits are held against, and what was told. */
    struct dynamics_reference reference;
    int64_t reference_us; /* lab time of its last sample */
    int64_t compared_us;  /* lab time at which the last fit held against it began */
    int64_t drifted_us;   /* lab time at which the last change was told; LAB_TIME_NONE */
    int64_t changed_us;   /* and since when it was so; samples before are of another robot */
    int64_t suspected_us; /* the last sample of a fit in which more than one seemed to change */
    uint32_t other_job;   /* the fit under way when the robot was made another one; 0 */
    signed char moved[DYNAMICS_DIRECTIONS]; /* what it was; 0 once a fit has it all */
    uint64_t drifts;
    struct online_drift drift; /* the last one; and what stands for a parameter */
    struct dynamics_counts counts;
    int64_t published_us;
};

struct pair_dynamics {
    uint32_t model;   /* model_at() */
    uint64_t version; /* changes with every sample and job */
    struct dynamics_side side[SIDE_COUNT];
    struct parameter_book sets; /* of the model */
};

/* Bytes of a pair's block: struct pair_dynamics, then samples. 0 when nothing is followed. */
size_t pair_dynamics_bytes(const struct pair_dynamics_params *p);

/* d: pair_dynamics_bytes(p) bytes, aligned. */
void pair_dynamics_init(struct pair_dynamics *d, const struct pair_dynamics_params *p);

const struct model *pair_dynamics_model(const struct pair_dynamics *d);

/* The frozen window of the fit under way on this side, borrowed from d's block until that fit
 * ends. n is 0 when none is. */
void pair_dynamics_task(const struct pair_dynamics *d, const struct pair_dynamics_params *p,
                        enum side side, struct dynamics_task *task);

enum { DYNAMICS_OBSTACLE_MAX = 240 };

/* Why nothing is learnt of this side, and what would be right, into text; "" when nothing
 * stands in the way. */
void pair_dynamics_obstacle(const struct pair_dynamics *d, enum side side,
                            char text[DYNAMICS_OBSTACLE_MAX]);

/* ---- the step ---- */

/* The event is telemetry. */
void pair_dynamics_sample(struct pair_dynamics *d, const struct pair_run *run);
/* This side's robot, or its clock, started anew. */
void pair_dynamics_restarted(struct pair_dynamics *d, enum side side);
/* The event is the end of a fit. */
void pair_dynamics_fitted(struct pair_dynamics *d, const struct pair_run *run);
/* The event asks for a fit. Returns why there is none, NULL when it began. */
const char *pair_dynamics_request(struct pair_dynamics *d, const struct pair_run *run);
/* The set in force has changed: the simulator moves otherwise from now on, and the real robot
 * is held against the set. */
void pair_dynamics_apply_set(struct pair_dynamics *d);
/* When a fit is given up; LAB_TIME_MAX. */
int64_t pair_dynamics_deadline(const struct pair_dynamics *d);
void pair_dynamics_fire(struct pair_dynamics *d, const struct pair_run *run);

extern const struct names fit_cause_names;
const char *fit_cause_name(enum fit_cause cause); /* "start", "time", "drift", "request" */

#endif
