/* service/replay/spool.h - stores the records of a replay until its end, grouped in lists.
 *
 * A list is read as a whole: the entries of one pair, or the alarms of one team. Records arrive
 * in any order of lists and are gathered in memory. When memory is full, they go to the end of
 * a temporary file, list by list. Each piece has the place of the list's previous one. So
 * memory does not grow with the recording, the file is written sequentially, and a list is read
 * piece by piece. If everything fits into memory there is no file.
 *
 * The file is in $TMPDIR, or else in /var/tmp or /tmp, and has no name, so it vanishes with the
 * process. One thread.
 */
#ifndef SERVICE_REPLAY_SPOOL_H
#define SERVICE_REPLAY_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

/* Bytes of memory; a record with its header must fit. */
enum { SPOOL_BYTES = 8 << 20 };

struct spool_row {
    int64_t t_us;
    double lag_s;     /* NaN: none */
    const char *json; /* [json_bytes] borrowed */
    size_t json_bytes;
};

/* Returns false to stop. The row is valid during the call. */
typedef bool spool_row_fn(void *context, const struct spool_row *row);

struct spool;

/* bytes: SPOOL_BYTES, or fewer. STATUS_E_NOMEM; *out is written only on STATUS_OK. */
MUST_USE enum status spool_create(size_t lists, size_t bytes, struct spool **out);
void spool_destroy(struct spool *spool); /* NULL is allowed */

/* STATUS_E_IO: the file cannot be created or written, *err has the reason; nothing can be read
 * then. */
MUST_USE enum status spool_add(struct spool *spool, size_t list, const struct spool_row *row,
                               struct err *err);

/* The number of rows in this list. */
uint64_t spool_count(const struct spool *spool, size_t list);

/* Visit the rows of a list in the order of adding them; newest: at most this many of the last
 * ones, 0: all. Call after the last spool_add(). STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status spool_each(struct spool *spool, size_t list, uint64_t newest,
                                spool_row_fn *row, void *context, struct err *err);

#endif
