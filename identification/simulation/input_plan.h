/* identification/simulation/input_plan.h - commands for the next recording, chosen so that a
 * model's parameters become as certain as the limits allow.
 *
 * Segment by segment, the best of random candidates is appended (docs/model/identification.md,
 * "Next input"). Each is simulated with the estimate, with copies of which one unknown is
 * perturbed, and with draws of the estimate. A candidate counts only if all of these, and the
 * stop after it, stay within the limits. Deterministic: the caller seeds the random numbers.
 * Pure: no I/O, no clock, no allocation.
 */
#ifndef IDENTIFICATION_SIMULATION_INPUT_PLAN_H
#define IDENTIFICATION_SIMULATION_INPUT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/numbers/random.h"
#include "base/text/names.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/fit/dynamics_fit.h"

enum input_criterion {
    INPUT_PLAN_MISSION, /* mean square error of the positions on a mission */
    INPUT_PLAN_ALL,     /* determinant of the covariance of all unknowns */
    INPUT_CRITERIA
};

extern const struct names input_criterion_names; /* "mission", "all" */

enum {
    INPUT_PLAN_CANDIDATES = 96,
    INPUT_PLAN_DRAWS = 8,
    INPUT_PLAN_UNKNOWNS_MAX = DYNAMICS_P_MAX + 1,
    INPUT_PLAN_SEGMENT_MAX = 64 /* samples */
};

/* Motion of one set of parameters. */
struct input_state {
    double nu[MODEL_AXES_MAX], pose[MODEL_AXES_MAX];
};

/* A square matrix of the unknowns; only the first `unknown_count` rows and columns count. */
struct input_matrix {
    double at[INPUT_PLAN_UNKNOWNS_MAX][INPUT_PLAN_UNKNOWNS_MAX];
};

/* The caller fills the first part, and may let some members be chosen by input_plan_time(). */
struct input_plan {
    struct model model;           /* a copy, of which the dry friction may be smoother */
    double theta[DYNAMICS_P_MAX]; /* parameters, then biases */
    bool with_biases;
    size_t unknown_count;
    /* Index of each unknown in theta; parameters and biases together: the delay. */
    size_t unknown[INPUT_PLAN_UNKNOWNS_MAX];
    double
        se[INPUT_PLAN_UNKNOWNS_MAX]; /* errors of the unknowns, for the size of differences */
    double weight[MODEL_AXES_MAX]; /* information of a sample of each velocity: 1 / variance */
    double effort_low[MODEL_AXES_MAX], effort_high[MODEL_AXES_MAX]; /* low <= 0 <= high */
    double effort_sum; /* largest sum of the efforts of all axes, as shares of their ranges */
    double slew_per_s; /* largest change of an effort, in shares of its range; 0: any */
    double nu_max[MODEL_AXES_MAX], pose_max[MODEL_AXES_MAX]; /* largest sizes; 0: any */
    /* Errors of velocities and pose, from the covariance to first order, that must stay within
     * the limits in addition to the draws; 0: none. A plan that is driven as a whole needs
     * them, because nobody corrects it on the way. */
    double reach;
    enum input_criterion criterion;
    struct input_matrix mission; /* for MISSION: weight of each error */
    double dt_s;                 /* of a sample of the plan */
    size_t steps;                /* of integration in a sample */
    size_t segment;              /* samples that are chosen together */
    size_t stop;                 /* samples after which the robot stands without efforts */

    /* State of the plan: what has been appended. */
    struct input_matrix information; /* of all recordings and of the plan */
    struct input_matrix covariance;  /* before the plan */
    size_t draw_count;
    double drawn[INPUT_PLAN_DRAWS][DYNAMICS_P_MAX];
    struct input_state here, copies[INPUT_PLAN_UNKNOWNS_MAX], draws[INPUT_PLAN_DRAWS];
    double effort[MODEL_AXES_MAX]; /* the last one */
};

/* Chooses steps, segment and stop for samples of dt_s, and smoothes dry friction that would
 * need much shorter steps. response_s: the slowest time constant of the motion. */
void input_plan_time(struct input_plan *plan, double dt_s, double response_s);

/* Draws INPUT_PLAN_DRAWS robots from the covariance of the unknowns, with errors INPUT_SPREAD
 * times as large; the delay is not drawn. Sets the information to the inverse of the
 * covariance. Returns false if that has none. */
MUST_USE bool input_plan_draw(struct input_plan *plan, const struct input_matrix *covariance,
                              struct random_source *random);

/* Simulates efforts [count x axes] and adds their information. With `mission`, the products of
 * the sensitivities of all positions are added there, too; NULL: not wanted. Returns false if
 * the motion diverged. */
bool input_plan_append(struct input_plan *plan, const double *efforts, size_t count,
                       struct input_matrix *mission);

/* Sets all motions to rest at pose zero, and the last effort to zero. */
void input_plan_rest(struct input_plan *plan);

/* The criterion after efforts [plan->segment x axes]: less is better. HUGE_VAL: they, or the
 * stop after them, leave the limits. */
double input_plan_cost(const struct input_plan *plan, const double *efforts);

/* Chooses and appends the next segment, efforts [plan->segment x axes], out: zero if no
 * candidate stays within the limits. Returns how many did. */
size_t input_plan_choose(struct input_plan *plan, struct random_source *random,
                         double *efforts);

/* Efforts of the stop, [plan->stop x axes], out: zero as soon as the slew allows. */
void input_plan_stop(const struct input_plan *plan, double *efforts);

/* Inverts a positive definite matrix of the unknowns, in place. Returns false for another one.
 */
MUST_USE bool input_matrix_invert(struct input_matrix *matrix, size_t count);

#endif
