/* service/identify/identify.h - what the models behind `tandem identify` and POST
 * /api/v1/identify share.
 *
 * A model is one source file with one object and one row in the table of identify_models.c. It
 * reads tables from files or from memory, and writes its result to a stream: it does not know
 * who asked.
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_H
#define SERVICE_IDENTIFY_IDENTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

/* "role=column" from --columns. */
struct identify_column {
    char role[64];
    char column[128];
};

enum { IDENTIFY_COLUMNS_MAX = 32, IDENTIFY_HELD_OUT_MAX = 16 };

/* One recording. */
struct identify_input {
    const char *path; /* of a file, "-" is standard input; of a text its name */
    const char *text; /* [bytes]: read this and no file; NULL: the file */
    size_t bytes;
};

struct identify_request {
    const char *method; /* NULL: the model's default */
    const char *side;   /* "real" or "virtual" */
    /* Recordings that take no part in the fit. */
    struct identify_input validate[IDENTIFY_HELD_OUT_MAX];
    size_t validate_count;
    double heading_m; /* of struct odometry_set; for odometry only */
    /* For models with a kind only. */
    bool biases;  /* also fit constant efforts */
    bool robust;  /* as in struct dynamics_options */
    double ridge; /* as in struct dynamics_options */
    /* The longest delay to look for, s, >= 0; 0: none. NULL: chosen by the recording. */
    const double *delay_max_s;
    bool journal;        /* inputs are journals, whatever they begin with */
    const char *pair;    /* of a journal; NULL: the only one there is */
    const char *current; /* service/identify/current_parameters.h; NULL: compare with nothing */
    const char *plot;    /* file to draw to; NULL: none */
    bool json;
    struct identify_column columns[IDENTIFY_COLUMNS_MAX];
    size_t column_count;
    const struct identify_input *files; /* [file_count] */
    size_t file_count;                  /* >= 1 */
    /* Asked several times a second: what is being done, and roughly which part of the whole is
     * behind (0 .. 1). False ends the work with STATUS_E_STALE. NULL: never asked. */
    bool (*go_on)(void *context, const char *stage, double share);
    void *context;
};

struct identify_kind;

struct identify_model {
    const char *name;
    /* Read, fit, and write the result to out: one JSON document, or a page for people. Nothing
     * is written unless STATUS_OK. STATUS_E_ARG: the request cannot be met by this model;
     * STATUS_E_STALE: told to end; else the data or the fit, see *err. */
    enum status (*run)(const struct identify_model *model,
                       const struct identify_request *request, FILE *out, struct err *err);
    /* Can run() do what is asked for, whatever the data? NULL: as for every model of motion.
     * STATUS_E_ARG: err->where is the option at fault ("method"). */
    enum status (*check)(const struct identify_request *request, struct err *err);
    const struct identify_kind *kind; /* of models of motion; NULL for others */
    const char *const *roles;         /* ends with NULL */
    const char *help;                 /* its part of `tandem identify --help` */
};

extern const struct identify_model identify_travel_time;
extern const struct identify_model identify_usv3;
extern const struct identify_model identify_diffdrive;
extern const struct identify_model identify_first_order, identify_first_order_deadband;
extern const struct identify_model identify_odometry;
extern const struct identify_model identify_joint, identify_joint_load;

extern const struct identify_model *const identify_models[];
extern const size_t identify_model_count;

/* NULL: there is none of this name. */
const struct identify_model *identify_find_model(const char *name);

/* "a=b,c=d" into request->columns. STATUS_E_ARG with err. */
MUST_USE enum status identify_take_columns(const char *text, struct identify_request *request,
                                           struct err *err);

/* What holds for every model: the side, that the model has the roles, that what is asked is for
 * models of its sort, and what the model itself checks. STATUS_E_ARG: err->where is the option
 * at fault. */
MUST_USE enum status identify_check(const struct identify_model *model,
                                    const struct identify_request *request, struct err *err);

/* The column that --columns gives to a role, or NULL. */
const char *identify_column(const struct identify_request *request, const char *role);

/* The name of a recording without its folders. */
const char *identify_base_name(const char *path);

#endif
