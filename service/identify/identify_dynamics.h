/* service/identify/identify_dynamics.h - fitting a model of motion to recordings. */
#ifndef SERVICE_IDENTIFY_IDENTIFY_DYNAMICS_H
#define SERVICE_IDENTIFY_IDENTIFY_DYNAMICS_H

#include <stdint.h>
#include <stdio.h>

#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_compare.h"
#include "identification/dynamics/dynamics_sensitivity.h"
#include "identification/dynamics/input_interpolation.h"
#include "identification/dynamics/variant_choice.h"
#include "service/identify/dynamics_rows.h"
#include "service/identify/identify.h"

/* All that is known of a fit. */
struct identify_result {
    struct identify_head head;
    const struct model_row *kind;
    struct model_row chosen;        /* of a model with variants: what kind points to */
    struct model tuned;             /* of one whose width was found: what chosen points to */
    double turn_over_velocity;      /* of the chosen variant; 0: there was nothing to choose */
    struct variant_choice variants; /* of a constant of a model's file */
    const char *asked;              /* method, as it was asked for */
    const char *plot;               /* file to draw to; NULL: none */
    enum input_interpolation asked_hold;
    struct dynamics_options options;
    struct interpolation_choice hold;
    struct dynamics_fit fit;
    struct identify_data own, held_out; /* held_out.files.count is 0: nothing was */
    struct dynamics_sensitivity sensitivity;
    bool is_compared; /* with current; comparison is valid */
    struct reference_values reference;
    struct dynamics_comparison comparison;
};

/* Before anything is read, as identify_check(). */
MUST_USE enum status identify_dynamics_check(const struct model_row *row,
                                             const struct identify_request *request,
                                             struct err *err);

/* The stages, as of struct identify_method; what is read is borrowed from the request, and to
 * be freed with identify_result_free(). Cold path: allocates. STATUS_E_STALE: told to end by
 * the caller; as dynamics_rows_load(), and STATUS_E_MATH. */
MUST_USE enum status identify_dynamics_read(const struct identify_request *request,
                                            void *result, struct err *err);
MUST_USE enum status identify_dynamics_fit(void *result, struct err *err);
MUST_USE enum status identify_dynamics_judge(void *result, struct err *err);

void identify_result_free(void *result); /* what it points to */

/* Measured and simulated velocities to a file. STATUS_E_NOMEM; as gnuplot_draw(). */
MUST_USE enum status identify_dynamics_plot(const struct identify_result *result,
                                            const char *path, struct err *err);

#endif
