/* logger/storage/store_queue.h - rows on their way to the store: a bounded queue and the thread
 * that commits it in batches.
 *
 * The producer never waits for the disk. When the queue is full its row is dropped, counted,
 * and the queue is `behind`: from then on the store lacks rows that only reading the journal
 * again can give. The same goes for a store that was removed or replaced: the thread opens what
 * stands at its path now, or makes it, and asks it whether it has what the other one had. So a
 * checkpoint may be written only while store_queue_covers() says yes, and somebody has to make
 * the rows again (struct store_row) and say store_queue_backfilled(). Threads: any number of
 * producers; all functions may be called from any thread.
 */
#ifndef LOGGER_STORAGE_STORE_QUEUE_H
#define LOGGER_STORAGE_STORE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/storage/store.h"

struct store_queue_params {
    size_t rows_max;  /* waiting rows; > 0 */
    size_t bytes_max; /* memory for them; >= 2 * STORE_JSON_MAX */
    int commit_ms;    /* a row waits no longer for its batch; >= 0 */
    int batch_rows;   /* a batch is no larger; > 0 */
    double retain_s;  /* rows older than the newest one by more are removed; 0: keep all */
    int retry_ms_min; /* after a failure wait this long, then twice as long … */
    int retry_ms_max; /* … but no longer */
    /* Called by the thread before each commit; NULL: nothing is. False: rows follow from
     * journal lines that are not synced, so the batch is tried again later. */
    bool (*before_commit)(void *context, struct err *err);
    void *context;
};

struct store_queue_stats {
    uint64_t pushed;    /* accepted rows */
    uint64_t committed; /* of these, in the store; the others wait */
    uint64_t stored;    /* of these, were new to it */
    uint64_t dropped;   /* queue full, or a row beyond its limits */
    uint64_t batches;
    uint64_t failures;   /* of batches; each is tried again */
    uint64_t removed;    /* by retention */
    uint64_t made_again; /* rows that were made again and new to it */
    uint64_t reopened;   /* times its file was gone, or another one, and was opened anew */
    size_t waiting_rows, waiting_bytes;
    uint64_t lacks;         /* times it came to lack rows; the journal must be read again */
    bool behind;            /* and has not been since the last of them */
    bool failing;           /* the last batch, or opening it anew, failed */
    struct err lack;        /* what it lacked them for, last; code STATUS_OK: never */
    struct store_mark mark; /* as of the last commit */
    struct err last_error;  /* of the last failure; code STATUS_OK: there was none */
    /* Of work that no row waits for, each is tried again: the WAL written back, entries added
     * up for charts, old rows removed. */
    uint64_t upkeep_failures;
    struct err upkeep_error;
};

struct store_queue;

/* 65536 rows, 64 MiB, 200 ms, 1000 rows, keep all, 100 ms … 5 s. */
void store_queue_params_init(struct store_queue_params *params);

/* Start the thread. The store belongs to it until store_queue_stop(). STATUS_E_ARG,
 * STATUS_E_NOMEM, STATUS_E_IO: no thread. */
MUST_USE enum status store_queue_start(const struct store_queue_params *params,
                                       struct store *store, struct store_queue **out,
                                       struct err *err);

/* Stop the thread after at most deadline_ms of trying to commit what waits, free the queue. The
 * store is the caller's again. STATUS_E_IO: rows were left (the journal has them).
 * NULL is allowed. */
MUST_USE enum status store_queue_stop(struct store_queue *queue, int deadline_ms);

/* Copy a row into the queue. Does not wait for the disk. STATUS_E_FULL: the
 * row was dropped, see behind. STATUS_E_ARG: the row is beyond its limits; dropped. */
MUST_USE enum status store_queue_push(struct store_queue *queue, const struct store_row *row);

/* Wait until everything pushed so far is in the store. STATUS_E_IO: not within deadline_ms. */
MUST_USE enum status store_queue_flush(struct store_queue *queue, int deadline_ms);

/* Is everything that was pushed while `pushed` counted up to this number in the store, and
 * nothing was dropped? */
bool store_queue_covers(struct store_queue *queue, uint64_t pushed);

/* Have the thread see whether the file still stands at its path. */
void store_queue_look(struct store_queue *queue);

/* The store lacks rows, for this reason. */
void store_queue_lack(struct store_queue *queue, const struct err *why);

/* The rows that it lacked when stats counted so many lacks have been made again and pushed. */
void store_queue_backfilled(struct store_queue *queue, uint64_t lacks);

void store_queue_stats(struct store_queue *queue, struct store_queue_stats *out);

#endif
