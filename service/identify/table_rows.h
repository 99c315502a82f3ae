/* service/identify/table_rows.h - the recordings of one purpose, tables, as rows of channels
 * that a fit asks for by name.
 */
#ifndef SERVICE_IDENTIFY_TABLE_ROWS_H
#define SERVICE_IDENTIFY_TABLE_ROWS_H

#include "service/identify/identify_request.h"

/* What a fit reads. */
struct table_form {
    size_t channels;          /* up to TABLE_CHANNELS_MAX */
    const char *const *names; /* [channels x each] what a channel may be called where --columns
                               * does not say, ends with NULL; the first one is its role */
    size_t each;
    size_t rows_max;
};

/* What it got. */
struct table_rows {
    const struct identify_request *request;
    struct table table; /* the channels as of the form; to be freed, whatever came of it */
    size_t part_count, part_start[IDENTIFY_FILES_MAX + 1];
};

/* Those to be fitted, or those held out, into *rows; what they are into *files. As
 * table_read(). */
MUST_USE enum status table_rows_read(const struct identify_request *request,
                                     const struct table_form *form, bool held_out,
                                     struct table_rows *rows, struct identify_files *files,
                                     struct err *err);

#endif
