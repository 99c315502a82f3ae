/* service/identify_dynamics.h - fitting a model of motion to recordings, and showing what came
 * of it. */
#ifndef SERVICE_IDENTIFY_DYNAMICS_H
#define SERVICE_IDENTIFY_DYNAMICS_H

#include <stdint.h>
#include <stdio.h>

#include "identification/dynamics_check.h"
#include "service/dynamics_rows.h"
#include "service/identify.h"

/* Everything there is to tell. */
struct identify_result {
    const struct identify_kind *kind;
    struct dynamics_fit fit;
    struct data_card card;
    struct dynamics_check own;
    bool is_held_out; /* card and check below are valid */
    struct data_card held_out_card;
    struct dynamics_check held_out;
    size_t file_count, held_out_count;
    struct identify_file files[IDENTIFY_FILES_MAX];
    struct identify_file held_out_files[IDENTIFY_HELD_OUT_MAX];
};

/* Read, fit, check, judge. Cold path: allocates. STATUS_E_ARG: unknown method, too many files;
 * STATUS_E_STALE: told to end by request->go_on; as dynamics_rows_load(), and STATUS_E_MATH. */
MUST_USE enum status identify_dynamics_fit(const struct identify_kind *kind,
                                           const struct identify_request *request,
                                           struct identify_result *result, struct err *err);

/* The same, and the result written: run() of every model with a kind. */
MUST_USE enum status identify_dynamics(const struct identify_model *model,
                                       const struct identify_request *request, FILE *out,
                                       struct err *err);

/* For people, and one line of JSON. */
void dynamics_page_print(const struct identify_result *result, FILE *out);
void dynamics_page_json(const struct identify_result *result, FILE *out);

#endif
