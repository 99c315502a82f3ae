/* logger/storage/store_queue.h - a bounded queue of rows for the store, and the thread that
 * commits them in batches.
 *
 * The producer never waits for the disk. If the queue is full, the row is dropped and counted,
 * and the queue is `behind`: the store then lacks rows that only a backfill from the journal
 * can supply. The same holds for a store that was removed or replaced: the thread opens or
 * creates the file at its path and checks whether it has what the old one had. So a checkpoint
 * may be written only while store_queue_covers() is true. After a backfill (struct store_row),
 * call store_queue_backfilled(). Threads: any number of producers; all functions may be called
 * from any thread.
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
    int commit_ms;    /* longest time that a row waits for its batch; >= 0 */
    int batch_rows;   /* largest batch; > 0 */
    double retain_s;  /* rows this much older than the newest are removed; 0: keep all */
    int retry_ms_min; /* first wait after a failure; it doubles with each */
    int retry_ms_max; /* longest wait after a failure */
    /* Called by the thread before each commit; may be NULL. False: the rows follow from journal
     * lines that are not synced, so the batch is tried again later. */
    bool (*before_commit)(void *context, struct err *err);
    void *context;
    /* Another daemon stores the same rows: commit nothing until store_queue_release(). Rows
     * that do not fit meanwhile push out the oldest ones. */
    bool holds;
};

struct store_queue_stats {
    uint64_t pushed;    /* accepted rows */
    uint64_t committed; /* of these, now in the store; the others wait */
    uint64_t stored;    /* of these, new to the store */
    uint64_t dropped;   /* queue full, or row invalid */
    uint64_t batches;
    uint64_t failures;   /* failed batches; each is tried again */
    uint64_t removed;    /* by retention */
    uint64_t made_again; /* backfilled rows that were new */
    uint64_t differing;  /* rows that the store has with another json */
    uint64_t refused;    /* rows that the server cannot store */
    struct err refusal;  /* the last reason */
    uint64_t reopened;   /* times that its file was gone or replaced and was reopened */
    size_t waiting_rows, waiting_bytes;
    uint64_t lacks;         /* times that it began to lack rows and needed a backfill */
    uint64_t missed;        /* rows and files that it lacked, each counted */
    bool behind;            /* a backfill is still needed */
    bool failing;           /* the last batch, or reopening it, failed */
    struct err lack;        /* last reason for lacking rows; code STATUS_OK: never */
    struct store_mark mark; /* as of the last commit */
    struct err last_error;  /* of the last failure; code STATUS_OK: there was none */
    /* Failures of work that no row waits for. It is tried again: writing back the WAL, summing
     * entries for charts, removing old rows. */
    uint64_t upkeep_failures;
    struct err upkeep_error;
};

struct store_queue;

/* Defaults: 65536 rows, 64 MiB, 200 ms, 1000 rows, keep all, 100 ms … 5 s. */
void store_queue_params_init(struct store_queue_params *params);

/* Starts the thread, which owns the store until store_queue_stop(). STATUS_E_ARG,
 * STATUS_E_NOMEM, STATUS_E_IO: no thread. */
MUST_USE enum status store_queue_start(const struct store_queue_params *params,
                                       struct store *store, struct store_queue **out,
                                       struct err *err);

/* Stops the thread after at most deadline_ms of trying to commit the waiting rows, and frees
 * the queue. The caller owns the store again. STATUS_E_IO: rows were left (the journal has
 * them). NULL is allowed. */
MUST_USE enum status store_queue_stop(struct store_queue *queue, int deadline_ms);

/* Copies a row into the queue. Does not wait for the disk. STATUS_E_FULL: the row was dropped,
 * see behind. STATUS_E_ARG: the row is invalid and was dropped. */
MUST_USE enum status store_queue_push(struct store_queue *queue, const struct store_row *row);

/* Waits until all pushed rows are in the store. STATUS_E_IO: not within deadline_ms. */
MUST_USE enum status store_queue_flush(struct store_queue *queue, int deadline_ms);

/* Are all rows in the store that were pushed up to this count, with none dropped? */
bool store_queue_covers(struct store_queue *queue, uint64_t pushed);

enum { STORE_QUEUE_HOLD_US = 60 * 1000000 };

/* holds: the rows that are pushed from now on are made at lab time t_us. Rows that are
 * STORE_QUEUE_HOLD_US older are dropped: the other daemon has stored them. */
void store_queue_advance(struct store_queue *queue, int64_t t_us);

/* holds: passes on the rows that wait, made within the last within_us, in their order. The
 * caller is the only one that pushes or advances. Must not call the queue. */
void store_queue_list_held(struct store_queue *queue, int64_t within_us,
                           void (*emit)(void *context, const struct store_row *row),
                           void *context);

/* holds: the other daemon has ended. Opens the store again, and commits from now on what it
 * lacks. */
void store_queue_release(struct store_queue *queue);

/* Makes the thread check that the file is still at its path. */
void store_queue_look(struct store_queue *queue);

/* Declares that the store lacks rows, for this reason. */
void store_queue_lack(struct store_queue *queue, const struct err *why);

/* Declares that the rows lacking at this count of `missed` have been backfilled and pushed. */
void store_queue_backfilled(struct store_queue *queue, uint64_t missed);

void store_queue_stats(struct store_queue *queue, struct store_queue_stats *out);

#endif
