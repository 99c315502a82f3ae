/* identification/data/trajectory.h - simulated motion under recorded efforts, with its
 * derivatives.
 *
 *     nu' = f(theta, nu(t), tau(t - delay) - bias),   nu(t_0) = nu_0
 *                                                    (docs/model/output_error.md, eq. 1)
 *
 * Classical Runge-Kutta integrates from sample to sample. Each effort is held from its row's
 * time to the next row's, both shifted by the delay. No step crosses such an edge, so that
 * velocities are smooth in the delay. Dynamics that depend on the pose use the recorded pose.
 * The sensitivities are the exact derivatives of these steps (eq. 2), not finite differences.
 * Pure: no I/O, no clock, no allocation.
 */
#ifndef IDENTIFICATION_DATA_TRAJECTORY_H
#define IDENTIFICATION_DATA_TRAJECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"

/* Columns: initial velocities, parameters, constant efforts, delay. */
enum { TRAJECTORY_COLUMNS_MAX = 2 * MODEL_AXES_MAX + MODEL_PARAMETERS_MAX + 1 };

/* Integration steps of all simulations of one call, times axes and sensitivities. The limit
 * depends on the input alone, so that it gives the same result on every machine. */
struct step_budget {
    uint64_t used, limit;
};

/* Returns whether no step is left; false without a budget. */
bool step_budget_is_spent(const struct step_budget *budget);

/* Rules of the integration. A walk borrows them. */
struct trajectory_rules {
    const struct model *model;
    const struct data_set *set; /* only its times and efforts are used; they must be finite */
    /* [runs] The run began at rest: no effort acted before the first row's. NULL: no run
     * did; before the first row, its efforts act. */
    const bool *at_rest;
    bool with_biases;
    bool sensitive;               /* compute sensitivities */
    bool fixed;                   /* without those to the parameters */
    double step_s;                /* > 0, the longest step */
    struct step_budget *budget;   /* a walk ends as diverged when it is spent; NULL: no limit */
    double limit[MODEL_AXES_MAX]; /* velocities beyond it have diverged; may be INFINITY */
};

/* Returns the number of sensitivity columns: axes (+ parameters) (+ axes, the biases) + 1. */
size_t trajectory_columns(const struct trajectory_rules *rules);

/* State of a simulation along a run. Plain data. */
struct trajectory {
    const struct trajectory_rules *rules;
    const double *theta; /* parameters, then biases */
    double delay_s;      /* finite, of any sign */
    size_t from, end;    /* samples of the run */
    size_t at;           /* last sample that was passed */
    double t_s;          /* time of nu and by, between sample `at` and the next */
    /* Times of the efforts, their first one and end in this run, and the one that acts. */
    const double *effort_t_s;
    size_t effort_from, effort_end, effort;
    bool silent; /* no effort acts yet */
    double nu[MODEL_AXES_MAX];
    double force[MODEL_AXES_MAX]; /* additional forces; zero at the beginning */
    /* [axis_count x columns] by rows: d(nu) / d(nu_0, theta, biases, delay). Zero if not
     * wanted. */
    double by[MODEL_AXES_MAX * TRAJECTORY_COLUMNS_MAX];
};

/* Returns effort `at` of an axis, and the time at which the one after it begins to act. */
double trajectory_effort(const struct trajectory *walk, size_t at, size_t axis);
double trajectory_edge_s(const struct trajectory *walk, size_t at);

/* Starts at the first sample of a run. The arguments are borrowed until the end of the walk. */
void trajectory_begin(struct trajectory *walk, const struct trajectory_rules *rules, size_t run,
                      const double *theta, double delay_s, const double *nu_0);

/* Moves to the next sample; at + 1 < end must hold. Returns false if the velocities
 * diverged, which ends the walk. */
MUST_USE bool trajectory_next(struct trajectory *walk);

/* Resets the sensitivities: from here on they refer to the present velocities and to later
 * efforts. */
void trajectory_linearise(struct trajectory *walk);

/* Returns the longest step (> 0) for which Runge-Kutta is accurate: half the time constant
 * of the fastest motion at the measured velocities, and at most the sample time. */
double trajectory_step_s(const struct model *model, const double *theta,
                         const struct data_set *set);

#endif
