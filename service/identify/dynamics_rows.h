/* service/identify/dynamics_rows.h - tables of motion, from files or memory, as data for a fit.
 */
#ifndef SERVICE_IDENTIFY_DYNAMICS_ROWS_H
#define SERVICE_IDENTIFY_DYNAMICS_ROWS_H

#include "identification/data/data_set.h"
#include "service/identify/dynamics_journal.h"
#include "service/identify/identify_request.h"
#include "twin/models/model.h"

enum { IDENTIFY_FILES_MAX = DATA_RUNS_MAX };

/* What is read for a fit, or held out of it. */
struct dynamics_source {
    const struct csv_source *inputs;
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
MUST_USE enum status dynamics_rows_load(const struct model_row *row,
                                        const struct identify_request *request,
                                        const struct dynamics_source *source,
                                        struct data_table *table, struct err *err);

#endif
