/* service/tool/csv_file.h - reads a whole file, or a text in memory, with the CSV reader. */
#ifndef SERVICE_TOOL_CSV_FILE_H
#define SERVICE_TOOL_CSV_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "logger/message/csv.h"

/* Size and hash of a file, read to its end. */
struct file_mark {
    uint64_t bytes, hash; /* base/numbers/hash.h */
};

/* The input. Everything is borrowed. */
struct csv_source {
    const char *path; /* of a file, "-" is standard input; name of a text */
    const char *text; /* [bytes]: read this instead of a file; NULL: read the file */
    size_t bytes;
    struct file_mark made_of; /* the file of which a text was made; all zero: none */
};

/* Callbacks of reading. */
struct csv_lines {
    csv_line *header; /* NULL: nothing */
    csv_line *row;
    /* Called between pieces of 64 kB at most; total is 0 if unknown. False ends the reading
     * with STATUS_E_STALE. NULL: never called. */
    bool (*go_on)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* Read from start to end; mark, or NULL: size and hash, written on STATUS_OK. Allocates about
 * 110 kB meanwhile. Returns STATUS_E_IO when a file cannot be opened or read, STATUS_E_NOMEM,
 * STATUS_E_STALE as above, else as csv_read(). */
MUST_USE enum status csv_file_read(const struct csv_source *source,
                                   const struct csv_lines *lines, struct file_mark *mark,
                                   struct err *err);

/* Print "tandem: file:line:column: text" on stderr. */
void csv_file_complain(const struct err *err);

#endif
