/* logger/storage/journal_tail.h - the end of a journal's newest file, as a power cut left it.
 */
#ifndef LOGGER_STORAGE_JOURNAL_TAIL_H
#define LOGGER_STORAGE_JOURNAL_TAIL_H

#include <stdint.h>

/* How long a file is whose lines behind a hole do not count; size when there is no hole, -1
 * with errno when it cannot be read.
 *
 * Bytes that were not synced may be there after a power cut while earlier ones are missing,
 * which then read as zeros. Lines behind such a hole would be entries with other numbers than
 * those that were published. A hole is looked for among the lines of the last within_us: an
 * older one is damage of lines that were synced, and those behind it count. */
int64_t journal_tail_end(int fd, int64_t size, int64_t within_us);

#endif
