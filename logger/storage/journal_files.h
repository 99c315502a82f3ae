/* logger/storage/journal_files.h - the names of a journal's files, and which of them there are.
 */
#ifndef LOGGER_STORAGE_JOURNAL_FILES_H
#define LOGGER_STORAGE_JOURNAL_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { JOURNAL_NAME_MAX = 48 };

/* "journal-20261120T055555.599953Z.jsonl": sorts by name as by time. */
void journal_file_name(int64_t start_us, char out[JOURNAL_NAME_MAX]);

/* The start time in a name, LAB_TIME_NONE when it is not a journal file's. */
int64_t journal_file_start_us(const char *name);

/* The start times of all journal files of a directory, ascending. Allocates *starts_us, to be
 * freed by the caller (NULL when *n is 0). STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_files_list(const char *directory, int64_t **starts_us, size_t *n,
                                        struct err *err);

#endif
