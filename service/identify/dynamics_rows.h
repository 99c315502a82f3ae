/* service/identify/dynamics_rows.h - tables of motion, from files or memory, as data for a fit.
 */
#ifndef SERVICE_IDENTIFY_DYNAMICS_ROWS_H
#define SERVICE_IDENTIFY_DYNAMICS_ROWS_H

#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/model_choice.h"
#include "service/identify/dynamics_journal.h"
#include "service/identify/identify.h"
#include "service/identify/identify_rows.h"

/* A model of motion, and what its columns are called. */
struct identify_kind {
    const struct model *model;
    const char *const *effort_roles;   /* [model's axes] */
    const char *const *velocity_roles; /* [model's axes] */
    /* [model's axes]; NULL: poses are not read. They are where the model needs them, and where
     * a velocity is missing, which is then derived. */
    const char *const *pose_roles;
    /* Models of the same form to choose from by the data; NULL: there is but one. */
    const struct model_variant *variants;
    size_t variant_count;
    struct dynamics_limits limits;
};

enum { IDENTIFY_FILES_MAX = DATA_RUNS_MAX };

/* What is read for a fit, or held out of it. */
struct dynamics_source {
    const struct identify_input *inputs;
    size_t count;                          /* 1 .. IDENTIFY_FILES_MAX */
    struct identify_file *files;           /* [count] out */
    struct data_card *card;                /* out */
    bool *is_journal;                      /* out: journal below is valid */
    struct dynamics_journal_card *journal; /* out */
};

/* The table of all inputs together, each a part of its own; to be freed with data_table_free()
 * on STATUS_OK. Inputs that begin with '{' are journals: they are merged by
 * time, and each start of the robot is a part. Asks request->go_on while it reads. Cold path:
 * allocates some 70 bytes a row and axis meanwhile. STATUS_E_STALE: told to end; STATUS_E_IO,
 * STATUS_E_PARSE, STATUS_E_NOMEM, STATUS_E_FULL, and as data_table_make(). */
MUST_USE enum status dynamics_rows_load(const struct identify_kind *kind,
                                        const struct identify_request *request,
                                        const struct dynamics_source *source,
                                        struct data_table *table, struct err *err);

#endif
