/* identification/data/trajectory.h - what a model does under recorded efforts, and how that
 * depends on its parameters.
 *
 *     nu' = f(theta, nu(t), tau(t - delay) - bias),   nu(t_0) = nu_0
 *                                                    (docs/model/output_error.md, eq. 1)
 *
 * Classical Runge-Kutta from sample to sample; efforts are held from their row's time to the
 * next row's, both later by the delay, and a step never runs across such an edge, so that the
 * velocities are smooth in the delay however large it is. Where the dynamics depend on the
 * pose, it is the recorded one, straight from sample to sample. The sensitivities are the
 * derivatives of these very steps, carried along (eq. 2), not differences. Pure: no I/O, no
 * clock, no allocation.
 */
#ifndef IDENTIFICATION_DATA_TRAJECTORY_H
#define IDENTIFICATION_DATA_TRAJECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"

/* Velocities at the start, parameters, constant efforts, delay. */
enum { TRAJECTORY_COLUMNS_MAX = 2 * MODEL_AXES_MAX + MODEL_PARAMETERS_MAX + 1 };

/* How to integrate. Borrowed by a walk. */
struct trajectory_rules {
    const struct model *model;
    const struct data_set *set; /* of its numbers times and efforts are used, finite */
    /* [runs] Began at rest: before the first row's efforts nothing acted. NULL: none did, and
     * before the first row its efforts act. */
    const bool *at_rest;
    bool with_biases;
    bool sensitive;               /* sensitivities are wanted */
    bool fixed;                   /* but none to the parameters */
    double step_s;                /* > 0, the longest step */
    double limit[MODEL_AXES_MAX]; /* a velocity beyond it has run away; may be INFINITY */
};

/* Number of columns of the sensitivities: axes (+ parameters) (+ axes, the biases) + 1. */
size_t trajectory_columns(const struct trajectory_rules *rules);

/* Where a walk along a run is. Plain data. */
struct trajectory {
    const struct trajectory_rules *rules;
    const double *theta; /* parameters, then biases */
    double delay_s;      /* finite, of any sign */
    size_t from, end;    /* samples of the run */
    size_t at;           /* the sample of nu and by */
    double t_s;    /* the time of nu and by: on the way to the next sample, later than at */
    size_t effort; /* the row of tau that acts */
    bool silent;   /* it does not yet */
    double nu[MODEL_AXES_MAX];
    double force[MODEL_AXES_MAX]; /* efforts beside the recorded ones; zero at the beginning */
    /* [axis_count x columns] by rows: d(nu) / d(nu_0, theta, biases, delay). Zero when not
     * wanted. */
    double by[MODEL_AXES_MAX * TRAJECTORY_COLUMNS_MAX];
};

/* Stand at the first sample of a run. What is passed is borrowed while the walk lasts. */
void trajectory_begin(struct trajectory *walk, const struct trajectory_rules *rules, size_t run,
                      const double *theta, double delay_s, const double *nu_0);

/* On to the next sample, which there must be (at + 1 < end). False when the velocities ran
 * away: the walk is over then. */
MUST_USE bool trajectory_next(struct trajectory *walk);

/* Sensitivities are from here on those to the present velocities and to what acts later. */
void trajectory_linearise(struct trajectory *walk);

/* The longest step for which Runge-Kutta follows the set closely: half the time constant of the
 * fastest motion at the measured velocities, and not above the sample time. > 0. */
double trajectory_step_s(const struct model *model, const double *theta,
                         const struct data_set *set);

#endif
