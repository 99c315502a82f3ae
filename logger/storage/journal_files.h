/* logger/storage/journal_files.h - names and lists of journal files, and the operating system's
 * errors in words.
 */
#ifndef LOGGER_STORAGE_JOURNAL_FILES_H
#define LOGGER_STORAGE_JOURNAL_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

enum { JOURNAL_NAME_MAX = 48 };

/* Formats "journal-20261120T055555.599953Z.jsonl": sorts by name as by time. */
void journal_file_name(int64_t start_us, char out[JOURNAL_NAME_MAX]);

/* Parses the start time in a name; LAB_TIME_NONE if it is not a journal file's. */
int64_t journal_file_start_us(const char *name);

/* Returns "directory/journal-….jsonl", to be freed by the caller; NULL: no memory. */
char *journal_file_path(const char *directory, int64_t start_us);

/* Lists the start times of all journal files of a directory, ascending. Allocates *starts_us,
 * to be freed by the caller. STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_files_list(const char *directory, int64_t **starts_us, size_t *n,
                                        struct err *err);

/* Describes an errno. Never NULL; unlike strerror() safe in threads. */
const char *journal_error_text(int error);

/* Returns STATUS_E_IO with the error "what: description of errno". */
enum status journal_fail(const char *path, enum fault fault, const char *what, struct err *err);

#endif
