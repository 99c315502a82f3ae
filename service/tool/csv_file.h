/* service/tool/csv_file.h - runs a whole file, or a text in memory, through the CSV reader. */
#ifndef SERVICE_TOOL_CSV_FILE_H
#define SERVICE_TOOL_CSV_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "logger/message/csv.h"

/* What a file was, read to its end. */
struct file_mark {
    uint64_t bytes, hash; /* base/numbers/hash.h */
};

/* What is read. Everything is borrowed. */
struct csv_source {
    const char *path; /* of a file, "-" is standard input; of a text its name */
    const char *text; /* [bytes]: read this and no file; NULL: the file */
    size_t bytes;
};

/* What is done with it. */
struct csv_lines {
    csv_line *header; /* NULL: nothing */
    csv_line *row;
    /* Asked between pieces of 64 kB at most; total is 0 where it is not known. False ends the
     * reading with STATUS_E_STALE. NULL: never asked. */
    bool (*go_on)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* Read from start to end; mark, or NULL: what was read, written on STATUS_OK. Allocates some
 * 90 kB meanwhile. Returns STATUS_E_IO when a file cannot be opened or read, STATUS_E_NOMEM,
 * STATUS_E_STALE as above, else as csv_finish(). */
MUST_USE enum status csv_file_read(const struct csv_source *source,
                                   const struct csv_lines *lines, struct file_mark *mark,
                                   struct err *err);

/* "tandem: file:line:column: text" on stderr. */
void csv_file_complain(const struct err *err);

#endif
