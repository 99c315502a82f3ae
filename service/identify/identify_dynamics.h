/* service/identify/identify_dynamics.h - fits a model of motion to recordings. */
#ifndef SERVICE_IDENTIFY_IDENTIFY_DYNAMICS_H
#define SERVICE_IDENTIFY_IDENTIFY_DYNAMICS_H

#include <stdint.h>
#include <stdio.h>

#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_compare.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_sensitivity.h"
#include "identification/dynamics/input_interpolation.h"
#include "identification/dynamics/variant_choice.h"
#include "identification/fit/column_check.h"
#include "identification/simulation/input_plan.h"
#include "service/identify/dynamics_rows.h"
#include "service/identify/identify.h"

/* Commands for the next recording. */
struct identify_next {
    bool made;
    double seconds;
    double before[INPUT_PLAN_UNKNOWNS_MAX],
        after[INPUT_PLAN_UNKNOWNS_MAX]; /* standard errors */
    double feasible_share;              /* of the candidates */
    /* of velocities, efforts and pose; 0: none */
    double limits[3 * MODEL_AXES_MAX + 1];
    struct input_plan plan;
};

/* A fit and its checks. */
struct identify_result {
    struct identify_head head;
    const struct model_row *kind;
    struct model_row chosen;        /* for a model with variants: target of kind */
    struct model tuned;             /* for a variant of fitted width: target of chosen */
    double turn_over_velocity;      /* of the chosen variant; 0: no choice */
    struct variant_choice variants; /* variants by a constant of a model's file */
    const char *asked;              /* method as requested */
    const char *plot;               /* file to draw to; NULL: none */
    enum input_interpolation asked_hold;
    struct dynamics_options options;
    struct step_budget steps; /* of all simulations; its limit grows from stage to stage */
    struct interpolation_choice hold;
    struct effort_cause cause;
    struct effort_lag lag;      /* that the efforts have */
    struct input_phases phases; /* of efforts within rows */
    struct dynamics_fit fit;
    struct identify_data own, held_out; /* held_out.files NULL: nothing held out */
    struct column_check columns;        /* of own */
    bool refused;                       /* the columns contradict each other: there is no fit */
    struct dynamics_sensitivity sensitivity;
    struct dynamics_comparison comparison; /* with the parameters in use, if given */
    struct identify_next_options next_options;
    struct identify_next next;
};

void identify_result_free(void *result); /* Free what the result points to. */

/* Plot measured and simulated velocities to a file. STATUS_E_NOMEM; as gnuplot_draw(). */
MUST_USE enum status identify_dynamics_plot(const struct identify_result *result,
                                            const char *path, struct err *err);

/* Write measured and simulated velocities and the efforts of all recordings as "curves". */
void identify_dynamics_curves(struct json_writer *w, const struct identify_result *result);

/* Commands for the next recording (identify_next.c). The options are checked before anything is
 * read: STATUS_E_ARG; STATUS_E_IO: the file exists. */
MUST_USE enum status identify_next_check(const struct model_row *row,
                                         const struct identify_request *request,
                                         struct err *err);

/* Plan and write the file, if one is wanted. STATUS_E_MATH: there is nothing to plan with;
 * STATUS_E_IO, STATUS_E_PARSE and others of a mission that cannot be read. */
MUST_USE enum status identify_next_make(struct identify_result *result, struct err *err);

/* Write the member "next" if there is a plan. */
void identify_next_write(struct json_writer *w, const struct identify_result *result);

#endif
