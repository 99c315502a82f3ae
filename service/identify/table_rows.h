/* service/identify/table_rows.h - reads tables for one purpose as rows of the channels that a
 * fit names.
 */
#ifndef SERVICE_IDENTIFY_TABLE_ROWS_H
#define SERVICE_IDENTIFY_TABLE_ROWS_H

#include "service/identify/identify_head.h"

struct table_rows;

/* The table that a fit needs. */
struct table_form {
    size_t channels; /* up to TABLE_CHANNELS_MAX */
    /* [channels x each] names that a channel may have without --columns, NULL-terminated; the
     * first one is its role */
    const char *const *names;
    size_t each;
    size_t rows_max;
    /* Makes of the rows what the result needs. They are freed before the fit begins. */
    enum status (*make)(const struct table_rows *rows, bool held_out, void *result,
                        struct err *err);
};

/* The result of reading. */
struct table_rows {
    const struct identify_request *request;
    struct table table; /* the channels as in the form */
    size_t part_count, part_start[IDENTIFY_FILES_MAX + 1];
};

/* Read recordings to be fitted, or held-out ones, for the result that begins with *head, and
 * describe them there. As table_read(). */
MUST_USE enum status table_rows_load(const struct identify_request *request,
                                     const struct table_form *form, bool held_out,
                                     struct identify_head *head, struct err *err);

#endif
