/* service/csv_file.h - runs a whole file through the CSV reader. */
#ifndef SERVICE_CSV_FILE_H
#define SERVICE_CSV_FILE_H

#include <stdint.h>

#include "logger/csv.h"

/* Read path ("-" is standard input) from start to end; csv_start() with the callbacks was
 * called. Returns STATUS_E_IO when the file cannot be opened or read, else as csv_finish(). */
MUST_USE enum status csv_file_read(const char *path, struct csv *csv, struct err *err);

/* The same, and what was read: its size and hash (twin/base/hash.h). Written on STATUS_OK. */
struct csv_file_mark {
    uint64_t bytes, hash;
};
MUST_USE enum status csv_file_read_marked(const char *path, struct csv *csv,
                                          struct csv_file_mark *mark, struct err *err);

/* "tandem: file:line:column: text" on stderr. */
void csv_file_complain(const struct err *err);

#endif
