/* service/engine/own_journal.h - numbers the lines of an instance's own file journal as the
 * partition's journal in the database numbers them, and reads a line by its number.
 *
 * The file "numbers" in the journal's directory names the database, and the position of every
 * OWN_JOURNAL_STEPth line. Lines that were there before the first one belong to no partition.
 * All lines behind must be the partition's, each once. One thread at a time.
 */
#ifndef SERVICE_ENGINE_OWN_JOURNAL_H
#define SERVICE_ENGINE_OWN_JOURNAL_H

#include "logger/storage/journal.h"

enum { OWN_JOURNAL_STEP = 1000 };

struct own_journal;

/* Counts the lines. end: journal_end() of the journal. database: the identifier of the database
 * (fence_journal_identify()). Allocates.
 * STATUS_E_STALE: the journal belongs to another database, or lacks the lines that are
 * numbered. STATUS_E_PARSE: the file is broken. STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status own_journal_open(const char *directory, struct journal_position end,
                                      int64_t database, struct own_journal **out,
                                      struct err *err);

void own_journal_close(struct own_journal *own); /* NULL is allowed */

/* The number of the last line; 0: none. */
int64_t own_journal_count(const struct own_journal *own);

/* Counts a line that was appended to the journal; it is bytes long with its '\n', and ends at
 * `after`. If the number file cannot be written, the next start counts more lines. */
void own_journal_add(struct own_journal *own, struct journal_position after, size_t bytes);

/* Copies line n without its '\n'. *bytes is its length. STATUS_E_STALE: the line is not there,
 * or no longer. STATUS_E_FULL: it is longer than size. STATUS_E_IO, STATUS_E_NOMEM. Reading
 * lines in their order is fast. */
MUST_USE enum status own_journal_read(struct own_journal *own, int64_t n, char *out,
                                      size_t size, size_t *bytes, struct err *err);

#endif
