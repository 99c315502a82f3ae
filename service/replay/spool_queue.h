/* service/replay/spool_queue.h - rows on their way to a spool, by threads.
 *
 * An entry as JSON and its way through the spool take as long as half of a lab's step: whoever
 * is free does that behind the lab, one thread at a time, in the order of the rows. Memory is a
 * fixed number of batches; where all are full, the owner of the threads helps until one is
 * free.
 *
 * All functions belong to the owner of the threads.
 */
#ifndef SERVICE_REPLAY_SPOOL_QUEUE_H
#define SERVICE_REPLAY_SPOOL_QUEUE_H

#include "logger/message/record.h"
#include "service/replay/spool.h"
#include "service/replay/threads.h"

struct spool_queue;

/* All are borrowed, and nobody else adds to the spool until the end. STATUS_E_NOMEM; *out is
 * written only on STATUS_OK. */
MUST_USE enum status spool_queue_create(struct threads *threads, struct spool *spool,
                                        struct spool_queue **out);
void spool_queue_destroy(struct spool_queue *queue); /* NULL is allowed; waits for threads */

/* The row of an entry, or one that is made already. pair: its id, borrowed until the end. */
void spool_queue_entry(struct spool_queue *queue, size_t list, const struct entry *entry,
                       const char *pair);
void spool_queue_row(struct spool_queue *queue, size_t list, const struct spool_row *row);

/* No more come: waits until all are in the spool. STATUS_E_IO: of spool_add(), the first; the
 * rows behind it are dropped. */
MUST_USE enum status spool_queue_end(struct spool_queue *queue, struct err *err);

#endif
