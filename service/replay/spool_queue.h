/* service/replay/spool_queue.h - formats rows and spools them on other threads.
 *
 * Formatting an entry as JSON and spooling it takes half as long as the lab's step. Any free
 * thread does it behind the lab, one thread at a time, in the order of the rows. Memory is a
 * fixed number of batches; when all are full, the owner of the threads helps until one is free.
 *
 * All functions must be called by the owner of the threads.
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

/* Add an entry to be formatted, or below, a finished row. pair: its id, borrowed until the
 * end. */
void spool_queue_entry(struct spool_queue *queue, size_t list, const struct entry *entry,
                       const char *pair);
void spool_queue_row(struct spool_queue *queue, size_t list, const struct spool_row *row);

/* Finish: waits until all rows are in the spool. STATUS_E_IO: the first error of spool_add();
 * the rows behind it are dropped. */
MUST_USE enum status spool_queue_end(struct spool_queue *queue, struct err *err);

#endif
