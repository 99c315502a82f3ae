/* service/identify/identify_rows.h - columns of numbers that grow row by row, read from a
 * request's tables. */
#ifndef SERVICE_IDENTIFY_IDENTIFY_ROWS_H
#define SERVICE_IDENTIFY_IDENTIFY_ROWS_H

#include "identification/data/linear_model.h"
#include "logger/message/csv.h"
#include "logger/message/json_write.h"
#include "service/cli/csv_file.h"
#include "service/identify/identify_request.h"

enum { IDENTIFY_CHANNELS_MAX = 1 + 3 * MODEL_AXES_MAX };

/* A recording that has been read. */
struct identify_file {
    const char *name; /* without its folders */
    struct csv_file_mark mark;
};

/* Rows of all inputs of one purpose; about 90 kB. */
struct identify_rows {
    const struct identify_request *request;
    double share; /* of the whole work that reading is, for request->go_on */
    size_t channels;
    bool absent[IDENTIFY_CHANNELS_MAX];    /* there is no room for these */
    double *values[IDENTIFY_CHANNELS_MAX]; /* [room]; NULL where absent */
    size_t count, room;
    struct csv csv;
};

/* Room for one more row, values[.][count], or why not: name and line are where it stands.
 * Allocates. STATUS_E_FULL, STATUS_E_NOMEM. */
MUST_USE enum status identify_rows_expect(struct identify_rows *rows, const char *name,
                                          unsigned line, struct err *err);

/* What to do with the lines of tables. */
struct identify_lines {
    csv_line *header, *row;
    void *context;
};

/* Read tables one after the other; the row at which each begins goes into part_start[count],
 * what they are into files[count]. As csv_file_read_marked(), or what the lines' functions
 * return. */
MUST_USE enum status identify_rows_read(struct identify_rows *rows,
                                        const struct identify_lines *lines,
                                        const struct identify_input *inputs, size_t count,
                                        size_t *part_start, struct identify_file *files,
                                        struct err *err);

/* Tell request->go_on how far the reading is; its answer. */
bool identify_rows_go_on(const struct identify_rows *rows, uint64_t done, uint64_t total);

void identify_rows_free(struct identify_rows *rows); /* the values */

/* A list of files with their sizes and hashes. */
void identify_files_json(struct json_writer *w, const char *key,
                         const struct identify_file *files, size_t count);

#endif
