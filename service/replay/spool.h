/* service/replay/spool.h - the records of a replay until its end, list by list.
 *
 * A list is what is read back together: the entries of one pair, the alarms of one team.
 * Records come in any order of lists. They are gathered in memory; whenever that is full they
 * go to the end of a temporary file, list after list, each piece with the place of the one
 * before. So memory does not grow with the recording, the file is written from front to back,
 * and a list is read piece by piece: the time is that of the records. What fits into memory
 * makes no file.
 *
 * The file stands in $TMPDIR, or else in /var/tmp or /tmp, and has no name: it goes with who
 * made it. One thread.
 */
#ifndef SERVICE_REPLAY_SPOOL_H
#define SERVICE_REPLAY_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

/* Of memory; a record with its head must fit. */
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

/* STATUS_E_IO: the file cannot be made or written, *err says why; nothing can be read then. */
MUST_USE enum status spool_add(struct spool *spool, size_t list, const struct spool_row *row,
                               struct err *err);

/* Rows of this list. */
uint64_t spool_count(const struct spool *spool, size_t list);

/* The rows of a list in the order in which they were added; newest: no more than so many of the
 * last ones, 0: all. After the last spool_add(). STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status spool_each(struct spool *spool, size_t list, uint64_t newest,
                                spool_row_fn *row, void *context, struct err *err);

#endif
