/* service/identify_dynamics.h - `tandem identify` for models of motion: reading, fitting,
 * checking, printing. A model is a row of names. */
#ifndef SERVICE_IDENTIFY_DYNAMICS_H
#define SERVICE_IDENTIFY_DYNAMICS_H

#include <stdint.h>

#include "identification/dynamics_check.h"
#include "service/csv_file.h"
#include "service/identify.h"

struct identify_kind {
    const struct model *model;
    const char *const *effort_roles;   /* [model's axes] */
    const char *const *velocity_roles; /* [model's axes] */
    struct dynamics_limits limits;
};

int identify_dynamics(const struct identify_kind *kind, const struct identify_request *request);

enum { IDENTIFY_FILES_MAX = DATA_RUNS_MAX };

struct identify_file {
    const char *name; /* without its folders */
    struct csv_file_mark mark;
};

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

/* On standard output: for people, and one line of JSON. */
void dynamics_page_print(const struct identify_result *result);
void dynamics_page_json(const struct identify_result *result);

#endif
