/* service/replay/spool.h - stores the records of a replay until its end, grouped in lists.
 *
 * A list is read as a whole: the entries of one pair, or the alarms of one team. Records arrive
 * in any order of lists and go to the end of a temporary file, linked by list. The file is
 * mapped, and its pages are given back to the kernel again and again. So memory does not grow
 * with the recording.
 *
 * One thread.
 */
#ifndef SERVICE_REPLAY_SPOOL_H
#define SERVICE_REPLAY_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

struct spool_row {
    int64_t t_us;
    double lag_s;     /* NaN: none */
    const char *json; /* [json_bytes] borrowed */
    size_t json_bytes;
};

/* Returns false to stop. The row is valid during the call. */
typedef bool spool_row_fn(void *context, const struct spool_row *row);

struct spool;

/* STATUS_E_NOMEM; *out is written only on STATUS_OK. */
MUST_USE enum status spool_create(size_t lists, struct spool **out);
void spool_destroy(struct spool *spool); /* NULL is allowed */

/* STATUS_E_IO: the file cannot be created or written, *err has the reason; nothing can be read
 * then. */
MUST_USE enum status spool_add(struct spool *spool, size_t list, const struct spool_row *row,
                               struct err *err);

/* The number of rows in this list. */
uint64_t spool_count(const struct spool *spool, size_t list);

/* Visit the rows of a list in the order of adding them; newest: at most this many of the last
 * ones, 0: all. */
void spool_each(struct spool *spool, size_t list, uint64_t newest, spool_row_fn *row,
                void *context);

#endif
