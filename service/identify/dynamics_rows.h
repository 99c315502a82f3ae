/* service/identify/dynamics_rows.h - reads tables of motion, from files or memory, as data for
 * a fit.
 */
#ifndef SERVICE_IDENTIFY_DYNAMICS_ROWS_H
#define SERVICE_IDENTIFY_DYNAMICS_ROWS_H

#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_check.h"
#include "identification/model/model.h"
#include "service/identify/dynamics_journal.h"
#include "service/identify/identify_request.h"

/* Recordings for one purpose, and what is known of them. */
struct identify_data {
    struct identify_files *files; /* of the head; NULL: nothing is read */
    bool is_journal;              /* `journal` is valid */
    struct dynamics_journal_summary journal;
    struct data_summary summary;
    struct data_table table;
    struct dynamics_check check;
};

/* Fill *data except its check. The table of all inputs[count] together, each a separate part,
 * is to be freed with data_table_free() on STATUS_OK. Inputs that begin with '{' are journals:
 * they are merged by time, and each start of the robot begins a part. Asks request->go_on while
 * reading. Cold path: allocates about 70 bytes a row and axis. STATUS_E_STALE: cancelled;
 * STATUS_E_IO, STATUS_E_PARSE, STATUS_E_NOMEM, STATUS_E_FULL, and as data_table_make(). */
MUST_USE enum status dynamics_rows_load(const struct model_row *row,
                                        const struct identify_request *request,
                                        const struct csv_source *inputs, size_t count,
                                        struct identify_data *data, struct err *err);

#endif
