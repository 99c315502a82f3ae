#include "logger/storage/store_queue.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/lab_time.h"
#include "logger/storage/lock.h"

enum {
    REMOVE_LIMIT = 1000, /* rows of a retention step: short enough not to delay a batch */
    REMOVE_EVERY_S = 60, /* of lab time */
    ALIGNMENT = 8
};

/* A row in the ring: this, then pair, id and type with their NULs, then json. A piece with
 * bytes and no pair fills the end of the ring. */
struct piece {
    uint32_t bytes; /* with the texts, a multiple of ALIGNMENT */
    uint32_t json_bytes;
    uint64_t n;
    uint64_t seq;
    int64_t t_us;
    double lag_s;
    uint8_t kind;
    uint8_t pair_bytes, id_bytes, type_bytes; /* with their NULs; pair_bytes 0: a filler */
};

struct store_queue {
    struct store_queue_params params;
    struct store *store; /* the thread's */
    pthread_t thread;

    /* Only the thread reads pieces and moves head, only producers write pieces and move tail;
     * what lies between the two does not change. */
    pthread_mutex_t lock;
    pthread_cond_t work; /* for the thread */
    pthread_cond_t done; /* for those who flush */
    unsigned char *ring; /* [params.bytes_max] */
    size_t head, tail, used;
    int64_t oldest_ms; /* when the first waiting row came */
    bool stop;
    int64_t stop_ms; /* give up then */
    uint64_t flush_to;
    struct store_queue_stats stats;

    /* The thread's. */
    int64_t newest_us; /* of all rows committed */
    int64_t removed_us;
};

void store_queue_params_init(struct store_queue_params *params)
{
    *params = (struct store_queue_params){
        .rows_max = 65536,
        .bytes_max = (size_t)64 << 20,
        .commit_ms = 200,
        .batch_rows = 1000,
        .retry_ms_min = 100,
        .retry_ms_max = 5000,
    };
}

/* --- waiting -------------------------------------------------------------------------- */

static int64_t monotonic_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t at_ms)
{
    const struct timespec at = {.tv_sec = (time_t)(at_ms / 1000),
                                .tv_nsec = (long)(at_ms % 1000) * 1000000};
    (void)pthread_cond_timedwait(condition, lock, &at);
}

/* --- the ring ------------------------------------------------------------------------- */

static size_t piece_bytes(const struct store_row *row, size_t texts)
{
    const size_t bytes = sizeof(struct piece) + texts + row->json_bytes;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* A place for bytes in one stretch, or NULL. Called under the lock. */
static unsigned char *reserve_place(struct store_queue *q, size_t bytes)
{
    const size_t size = q->params.bytes_max;
    if (q->used == 0) {
        q->head = q->tail = 0;
    }
    const bool wrapped = q->tail < q->head || (q->tail == q->head && q->used > 0);
    const size_t straight = (wrapped ? q->head : size) - q->tail;
    if (bytes <= straight) {
        unsigned char *at = q->ring + q->tail;
        q->tail = (q->tail + bytes) % size;
        q->used += bytes;
        return at;
    }
    if (wrapped || bytes > q->head) {
        return NULL;
    }
    /* The end of the ring is too short: fill it and begin at its start. */
    if (straight >= sizeof(struct piece)) {
        const struct piece filler = {.bytes = (uint32_t)straight};
        memcpy(q->ring + q->tail, &filler, sizeof filler);
    }
    q->used += straight + bytes;
    q->tail = bytes;
    return q->ring;
}

static void put_row(unsigned char *at, const struct store_row *row, size_t bytes)
{
    const struct piece piece = {
        .bytes = (uint32_t)bytes,
        .json_bytes = (uint32_t)row->json_bytes,
        .n = row->n,
        .seq = row->seq,
        .t_us = row->t_us,
        .lag_s = row->lag_s,
        .kind = (uint8_t)row->kind,
        .pair_bytes = (uint8_t)(strlen(row->pair) + 1),
        .id_bytes = (uint8_t)(strlen(row->id) + 1),
        .type_bytes = (uint8_t)(strlen(row->type) + 1),
    };
    memcpy(at, &piece, sizeof piece);
    at += sizeof piece;
    memcpy(at, row->pair, piece.pair_bytes);
    at += piece.pair_bytes;
    memcpy(at, row->id, piece.id_bytes);
    at += piece.id_bytes;
    memcpy(at, row->type, piece.type_bytes);
    at += piece.type_bytes;
    memcpy(at, row->json, row->json_bytes);
}

/* The row at *at, which moves behind it. */
static void get_row(const struct store_queue *q, size_t *at, struct store_row *row)
{
    struct piece piece;
    if (q->params.bytes_max - *at < sizeof piece) {
        *at = 0;
    }
    memcpy(&piece, q->ring + *at, sizeof piece);
    if (piece.pair_bytes == 0) {
        *at = 0;
        memcpy(&piece, q->ring, sizeof piece);
    }
    const char *texts = (const char *)q->ring + *at + sizeof piece;
    *row = (struct store_row){
        .kind = (enum store_kind)piece.kind,
        .pair = texts,
        .n = piece.n,
        .seq = piece.seq,
        .t_us = piece.t_us,
        .id = texts + piece.pair_bytes,
        .type = texts + piece.pair_bytes + piece.id_bytes,
        .lag_s = piece.lag_s,
        .json = texts + piece.pair_bytes + piece.id_bytes + piece.type_bytes,
        .json_bytes = piece.json_bytes,
    };
    *at = (*at + piece.bytes) % q->params.bytes_max;
}

enum status store_queue_push(struct store_queue *queue, const struct store_row *row)
{
    const bool valid = store_row_is_valid(row);
    const size_t bytes =
        valid ? piece_bytes(row, strlen(row->pair) + strlen(row->id) + strlen(row->type) + 3)
              : 0;
    (void)pthread_mutex_lock(&queue->lock);
    struct store_queue_stats *stats = &queue->stats;
    unsigned char *at = NULL;
    if (valid && stats->waiting_rows < queue->params.rows_max) {
        at = reserve_place(queue, bytes);
    }
    if (!at) {
        stats->dropped++;
        stats->behind = true;
        (void)pthread_mutex_unlock(&queue->lock);
        return valid ? STATUS_E_FULL : STATUS_E_ARG;
    }
    put_row(at, row, bytes);
    stats->pushed++;
    stats->waiting_rows++;
    /* Waking the thread costs a system call: only when it has to change its mind. */
    if (stats->waiting_rows == 1) {
        queue->oldest_ms = monotonic_ms();
        (void)pthread_cond_signal(&queue->work);
    } else if (stats->waiting_rows == (size_t)queue->params.batch_rows) {
        (void)pthread_cond_signal(&queue->work);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return STATUS_OK;
}

/* --- the thread ----------------------------------------------------------------------- */

struct batch {
    size_t rows;
    size_t from, to; /* in the ring */
    uint64_t stored;
    int64_t newest_us;
};

static enum status write_batch(struct store_queue *q, struct batch *batch, struct err *err)
{
    enum status status = store_begin(q->store, err);
    batch->to = batch->from;
    batch->stored = 0;
    batch->newest_us = q->newest_us;
    for (size_t i = 0; i < batch->rows && status == STATUS_OK; i++) {
        struct store_row row;
        bool is_new = false;
        get_row(q, &batch->to, &row);
        status = store_add(q->store, &row, &is_new, err);
        batch->stored += is_new;
        batch->newest_us = row.t_us > batch->newest_us ? row.t_us : batch->newest_us;
    }
    if (status == STATUS_OK) {
        status = store_commit(q->store, err);
    }
    if (status != STATUS_OK) {
        store_rollback(q->store);
    }
    return status;
}

/* Under the lock. */
static void finish_batch(struct store_queue *q, const struct batch *batch)
{
    const size_t size = q->params.bytes_max;
    size_t freed = (batch->to + size - batch->from) % size;
    if (freed == 0 || freed > q->used) {
        freed = q->used; /* the whole ring */
    }
    q->head = batch->to;
    q->used -= freed;
    q->newest_us = batch->newest_us;
    q->stats.waiting_rows -= batch->rows;
    q->stats.committed += batch->rows;
    q->stats.stored += batch->stored;
    q->stats.batches++;
    q->stats.failing = false;
    q->oldest_ms = monotonic_ms();
    (void)pthread_cond_broadcast(&q->done);
}

/* One step of retention when it is due. Not under the lock. */
static void remove_old(struct store_queue *q)
{
    const double newest_s = lab_s(q->newest_us);
    if (!(q->params.retain_s > 0.0) || q->newest_us == LAB_TIME_NONE ||
        (q->removed_us != LAB_TIME_NONE &&
         newest_s - lab_s(q->removed_us) < (double)REMOVE_EVERY_S)) {
        return;
    }
    uint64_t removed = 0;
    struct err err = {0};
    const int64_t before_us = lab_us(newest_s - q->params.retain_s);
    const enum status status =
        store_remove_before(q->store, before_us, REMOVE_LIMIT, &removed, &err);
    if (status != STATUS_OK || removed < REMOVE_LIMIT) {
        q->removed_us = q->newest_us;
    }
    (void)pthread_mutex_lock(&q->lock);
    q->stats.removed += removed;
    if (status != STATUS_OK) {
        q->stats.last_error = err;
    }
    (void)pthread_mutex_unlock(&q->lock);
}

/* Under the lock: is a batch due, and if not, when will it be? */
static bool batch_is_due(const struct store_queue *q, int64_t now_ms, int64_t *at_ms)
{
    const size_t waiting = q->stats.waiting_rows;
    *at_ms = waiting == 0 ? INT64_MAX : q->oldest_ms + q->params.commit_ms;
    return waiting > 0 && (waiting >= (size_t)q->params.batch_rows || q->stop ||
                           q->flush_to > q->stats.committed || now_ms >= *at_ms);
}

/* Under the lock, which is released meanwhile. */
static void wait_for_work(struct store_queue *q, int64_t at_ms)
{
    if (at_ms == INT64_MAX) {
        (void)pthread_cond_wait(&q->work, &q->lock);
    } else {
        wait_until(&q->work, &q->lock, at_ms);
    }
}

/* Under the lock, which is released meanwhile. Returns when to try again. */
static int64_t do_batch(struct store_queue *q, int *retry_ms)
{
    struct batch batch = {.from = q->head, .rows = q->stats.waiting_rows};
    if (batch.rows > (size_t)q->params.batch_rows) {
        batch.rows = (size_t)q->params.batch_rows;
    }
    (void)pthread_mutex_unlock(&q->lock);
    struct err err = {0};
    const enum status status = write_batch(q, &batch, &err);
    (void)pthread_mutex_lock(&q->lock);
    if (status == STATUS_OK) {
        finish_batch(q, &batch);
        *retry_ms = q->params.retry_ms_min;
        (void)pthread_mutex_unlock(&q->lock);
        remove_old(q);
        (void)pthread_mutex_lock(&q->lock);
        return 0;
    }
    q->stats.failures++;
    q->stats.failing = true;
    q->stats.last_error = err;
    const int64_t at_ms = monotonic_ms() + *retry_ms;
    *retry_ms = *retry_ms < q->params.retry_ms_max / 2 ? 2 * *retry_ms : q->params.retry_ms_max;
    return at_ms;
}

static void *run_store_thread(void *context)
{
    struct store_queue *q = context;
    int retry_ms = q->params.retry_ms_min;
    int64_t retry_at_ms = 0;
    (void)pthread_mutex_lock(&q->lock);
    for (;;) {
        const int64_t now_ms = monotonic_ms();
        int64_t due_ms = 0;
        if (q->stop && (q->stats.waiting_rows == 0 || now_ms >= q->stop_ms)) {
            break;
        }
        const bool due = batch_is_due(q, now_ms, &due_ms);
        if (due && now_ms >= retry_at_ms) {
            retry_at_ms = do_batch(q, &retry_ms);
            continue;
        }
        int64_t at_ms = due ? retry_at_ms : due_ms;
        at_ms = q->stop && q->stop_ms < at_ms ? q->stop_ms : at_ms;
        wait_for_work(q, at_ms);
    }
    (void)pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* --- starting, stopping, asking --------------------------------------------------------- */

static bool params_are_valid(const struct store_queue_params *params)
{
    return params->rows_max > 0 && params->bytes_max >= 2 * (size_t)STORE_JSON_MAX &&
           params->bytes_max <= UINT32_MAX && params->commit_ms >= 0 &&
           params->batch_rows > 0 && params->retry_ms_min > 0 &&
           params->retry_ms_max >= params->retry_ms_min && params->retain_s >= 0.0;
}

static void init_conditions(struct store_queue *q)
{
    lock_init(&q->lock);
    lock_init_condition(&q->work);
    lock_init_condition(&q->done);
}

static void destroy_queue(struct store_queue *q)
{
    (void)pthread_cond_destroy(&q->work);
    (void)pthread_cond_destroy(&q->done);
    (void)pthread_mutex_destroy(&q->lock);
    free(q->ring);
    free(q);
}

enum status store_queue_start(const struct store_queue_params *params, struct store *store,
                              struct store_queue **out, struct err *err)
{
    if (!params_are_valid(params)) {
        return err_set(err, STATUS_E_ARG, "store", 0, 0, "queue parameters out of range");
    }
    struct store_queue *q = calloc(1, sizeof *q);
    if (!q) {
        return err_set(err, STATUS_E_NOMEM, "store", 0, 0, "out of memory");
    }
    q->params = *params;
    q->params.bytes_max = params->bytes_max / ALIGNMENT * ALIGNMENT;
    q->store = store;
    q->newest_us = q->removed_us = LAB_TIME_NONE;
    q->ring = malloc(q->params.bytes_max);
    init_conditions(q);
    if (!q->ring) {
        destroy_queue(q);
        return err_set(err, STATUS_E_NOMEM, "store", 0, 0, "out of memory");
    }
    if (pthread_create(&q->thread, NULL, run_store_thread, q) != 0) {
        destroy_queue(q);
        return err_set(err, STATUS_E_IO, "store", 0, 0, "cannot start a thread");
    }
    *out = q;
    return STATUS_OK;
}

enum status store_queue_stop(struct store_queue *queue, int deadline_ms)
{
    if (!queue) {
        return STATUS_OK;
    }
    (void)pthread_mutex_lock(&queue->lock);
    queue->stop = true;
    queue->stop_ms = monotonic_ms() + deadline_ms;
    (void)pthread_cond_signal(&queue->work);
    (void)pthread_mutex_unlock(&queue->lock);
    (void)pthread_join(queue->thread, NULL);
    const bool left = queue->stats.waiting_rows > 0;
    destroy_queue(queue);
    return left ? STATUS_E_IO : STATUS_OK;
}

enum status store_queue_flush(struct store_queue *queue, int deadline_ms)
{
    const int64_t at_ms = monotonic_ms() + deadline_ms;
    (void)pthread_mutex_lock(&queue->lock);
    const uint64_t target = queue->stats.pushed;
    if (target > queue->flush_to) {
        queue->flush_to = target;
        (void)pthread_cond_signal(&queue->work);
    }
    while (queue->stats.committed < target && monotonic_ms() < at_ms) {
        wait_until(&queue->done, &queue->lock, at_ms);
    }
    const bool done = queue->stats.committed >= target;
    (void)pthread_mutex_unlock(&queue->lock);
    return done ? STATUS_OK : STATUS_E_IO;
}

bool store_queue_covers(struct store_queue *queue, uint64_t pushed)
{
    (void)pthread_mutex_lock(&queue->lock);
    const bool covers = !queue->stats.behind && queue->stats.committed >= pushed;
    (void)pthread_mutex_unlock(&queue->lock);
    return covers;
}

void store_queue_stats(struct store_queue *queue, struct store_queue_stats *out)
{
    (void)pthread_mutex_lock(&queue->lock);
    *out = queue->stats;
    out->waiting_bytes = queue->used;
    (void)pthread_mutex_unlock(&queue->lock);
}
