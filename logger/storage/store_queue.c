#include "logger/storage/store_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/numbers/lab_time.h"
#include "logger/storage/lock.h"

enum {
    REMOVE_LIMIT = 1000, /* rows per retention step: short enough not to delay a batch */
    REMOVE_EVERY_S = 60, /* s, lab time */
    IDLE_MS = 3600 * 1000,
    UPKEEP_SHARE = 4 /* pause between steps of upkeep, as a multiple of a step's time */
};

/* A waiting row with copies of its texts. */
struct piece {
    struct piece *next;
    size_t bytes; /* including the texts */
    struct store_row row;
    int64_t made_us; /* queue->clock_us */
    char texts[];    /* pair, id and type with their NULs, json */
};

struct store_queue {
    struct store_queue_params params;
    struct store *store; /* used by the thread only */
    pthread_t thread;

    /* Only the thread removes pieces, from the head. Pieces before the last one do not
     * change. */
    pthread_mutex_t lock;
    pthread_cond_t work; /* signals the thread */
    pthread_cond_t done; /* signals threads that flush */
    struct piece *head;  /* stats.waiting_rows of them */
    struct piece **tail; /* end of the list */
    int64_t oldest_ms;   /* arrival of the first waiting row */
    bool look;           /* check the file */
    bool stop;
    int64_t stop_ms; /* deadline of the stop */
    uint64_t flush_to;
    int64_t clock_us; /* lab time, while rows are held */
    bool renew;       /* open the store again */
    struct store_queue_stats stats;

    /* Used by the thread only. */
    int64_t newest_us; /* of all rows committed */
    int64_t removed_us;
    bool open;            /* the store is open */
    int64_t upkeep_at_ms; /* time of the next step of upkeep */
};

void store_queue_params_init(struct store_queue_params *params)
{
    *params = (struct store_queue_params){
        .rows_max = 65536,
        .bytes_max = (size_t)64 << 20,
        .commit_ms = 200,
        .batch_rows = 8192,
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

/* --- adding rows ---------------------------------------------------------------------- */

/* Copies *from to *to, advances *to, and makes *from point to the copy. */
static void copy_bytes(const char **from, size_t bytes, char **to)
{
    memcpy(*to, *from, bytes);
    *from = *to;
    *to += bytes;
}

static struct piece *make_piece(const struct store_row *row)
{
    const size_t pair = strlen(row->pair) + 1;
    const size_t id = strlen(row->id) + 1;
    const size_t type = strlen(row->type) + 1;
    const size_t bytes = sizeof(struct piece) + pair + id + type + row->json_bytes;
    struct piece *piece = malloc(bytes);
    if (piece) {
        char *to = piece->texts;
        piece->next = NULL;
        piece->bytes = bytes;
        piece->row = *row;
        copy_bytes(&piece->row.pair, pair, &to);
        copy_bytes(&piece->row.id, id, &to);
        copy_bytes(&piece->row.type, type, &to);
        copy_bytes(&piece->row.json, row->json_bytes, &to);
    }
    return piece;
}

/* Call with the lock held. More of the same while the queue is behind is no new lack: the alarm
 * about one is a row, which a full queue drops too. */
static void record_lack(struct store_queue *q, enum status status, enum fault fault,
                        const char *why)
{
    q->stats.missed++;
    if (!q->stats.behind || q->stats.lack.fault != fault) {
        q->stats.lacks++;
    }
    q->stats.behind = true;
    q->stats.lack = (struct err){0};
    (void)err_set(&q->stats.lack, status, fault, "store", "%s", why);
}

/* Call with the lock held. */
static bool is_full(const struct store_queue *q, const struct piece *piece)
{
    return q->stats.waiting_rows == q->params.rows_max ||
           q->stats.waiting_bytes + piece->bytes > q->params.bytes_max;
}

static void drop_pieces(struct store_queue *q, size_t rows);

/* Call with the lock held. What the other daemon has not stored yet is lacking then. */
static void push_out(struct store_queue *q, const struct piece *piece)
{
    while (piece && q->params.holds && q->head && is_full(q, piece)) {
        drop_pieces(q, 1);
        q->stats.dropped++;
        record_lack(q, STATUS_E_FULL, FAULT_TOO_MANY, "too many records were held");
    }
}

void store_queue_advance(struct store_queue *queue, int64_t t_us)
{
    lock_acquire(&queue->lock);
    queue->clock_us = t_us;
    while (queue->params.holds && queue->head &&
           queue->head->made_us < t_us - STORE_QUEUE_HOLD_US) {
        drop_pieces(queue, 1);
        queue->stats.committed++;
    }
    lock_release(&queue->lock);
}

void store_queue_list_held(struct store_queue *queue, int64_t within_us,
                           void (*emit)(void *context, const struct store_row *row),
                           void *context)
{
    for (const struct piece *piece = queue->head; piece; piece = piece->next) {
        if (piece->made_us >= queue->clock_us - within_us) {
            emit(context, &piece->row);
        }
    }
}

void store_queue_release(struct store_queue *queue)
{
    lock_acquire(&queue->lock);
    queue->renew = queue->params.holds;
    queue->params.holds = false;
    queue->oldest_ms = monotonic_ms();
    (void)pthread_cond_signal(&queue->work);
    lock_release(&queue->lock);
}

enum status store_queue_push(struct store_queue *queue, const struct store_row *row)
{
    const bool valid = store_row_is_valid(row);
    struct piece *piece = valid ? make_piece(row) : NULL;
    lock_acquire(&queue->lock);
    struct store_queue_stats *stats = &queue->stats;
    push_out(queue, piece);
    if (!piece || is_full(queue, piece)) {
        stats->dropped++;
        record_lack(queue, STATUS_E_FULL, FAULT_TOO_MANY, "its queue was full");
        lock_release(&queue->lock);
        free(piece);
        return valid ? STATUS_E_FULL : STATUS_E_ARG;
    }
    piece->made_us = queue->clock_us;
    *queue->tail = piece;
    queue->tail = &piece->next;
    stats->waiting_bytes += piece->bytes;
    stats->pushed++;
    stats->waiting_rows++;
    /* A wake-up costs a system call, so it happens only if it changes the thread's schedule. */
    if (stats->waiting_rows == 1) {
        queue->oldest_ms = monotonic_ms();
        (void)pthread_cond_signal(&queue->work);
    } else if (stats->waiting_rows == (size_t)queue->params.batch_rows) {
        (void)pthread_cond_signal(&queue->work);
    }
    lock_release(&queue->lock);
    return STATUS_OK;
}

/* --- the thread ----------------------------------------------------------------------- */

struct batch {
    size_t rows;
    int64_t newest_us;
};

/* Checks that the file is at its path. If not, opens the file there and checks what it
 * lacks. */
static enum status look_at_file(struct store_queue *q, struct err *err)
{
    if (q->open && store_is_in_place(q->store)) {
        return STATUS_OK;
    }
    /* Keeps the old mark until the new file is open. */
    const struct store_mark before = q->stats.mark;
    q->open = false;
    enum status status = store_reopen(q->store, err);
    if (status != STATUS_OK) {
        return status;
    }
    struct err why = {0};
    status = store_check_mark(q->store, &before, &why);
    if (status != STATUS_OK && status != STATUS_E_STALE) {
        *err = why;
        return status;
    }
    q->open = true;
    lock_acquire(&q->lock);
    q->stats.reopened++;
    q->stats.mark = store_read_mark(q->store);
    if (status == STATUS_E_STALE) {
        record_lack(q, status, why.fault, why.text);
    }
    lock_release(&q->lock);
    return STATUS_OK;
}

static enum status write_batch(struct store_queue *q, struct batch *batch, struct err *err)
{
    const struct piece *piece = q->head;
    if (q->params.before_commit && !q->params.before_commit(q->params.context, err)) {
        return STATUS_E_IO;
    }
    enum status status = look_at_file(q, err);
    if (status != STATUS_OK) {
        return status;
    }
    status = store_begin(q->store, err);
    batch->newest_us = q->newest_us;
    for (size_t i = 0; i < batch->rows && status == STATUS_OK; i++) {
        piece = i == 0 ? piece : piece->next;
        status = store_add(q->store, &piece->row, NULL, err);
        batch->newest_us =
            piece->row.t_us > batch->newest_us ? piece->row.t_us : batch->newest_us;
    }
    if (status == STATUS_OK) {
        status = store_commit(q->store, err);
    }
    if (status != STATUS_OK) {
        store_rollback(q->store);
    }
    return status;
}

/* Call with the lock held. */
static void drop_pieces(struct store_queue *q, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        struct piece *piece = q->head;
        q->head = piece->next;
        q->stats.waiting_bytes -= piece->bytes;
        free(piece);
    }
    q->stats.waiting_rows -= rows;
    if (!q->head) {
        q->tail = &q->head;
    }
}

/* Call with the lock held. */
static void finish_batch(struct store_queue *q, const struct batch *batch)
{
    drop_pieces(q, batch->rows);
    q->newest_us = batch->newest_us;
    q->stats.committed += batch->rows;
    const struct store_counts counts = store_read_counts(q->store);
    q->stats.stored += counts.stored;
    q->stats.made_again += counts.made_again;
    q->stats.differing += counts.differing;
    q->stats.refused += counts.refused;
    if (counts.refused > 0) {
        q->stats.refusal = counts.refusal;
    }
    q->stats.mark = store_read_mark(q->store);
    q->stats.batches++;
    q->stats.failing = false;
    q->oldest_ms = monotonic_ms();
    (void)pthread_cond_broadcast(&q->done);
}

/* Under the lock. */
static void count_upkeep(struct store_queue *q, enum status status, const struct err *err)
{
    if (status != STATUS_OK) {
        q->stats.upkeep_failures++;
        q->stats.upkeep_error = *err;
    }
}

/* Under the lock. A commit may have found that the WAL cannot be written back. */
static void check_wal(struct store_queue *q)
{
    struct err err = {0};
    count_upkeep(q, store_check_wal(q->store, &err), &err);
}

static bool retention_is_due(const struct store_queue *q)
{
    return q->params.retain_s > 0.0 && q->newest_us != LAB_TIME_NONE &&
           (q->removed_us == LAB_TIME_NONE ||
            lab_s(q->newest_us) - lab_s(q->removed_us) >= (double)REMOVE_EVERY_S);
}

/* One step of retention. Not under the lock. */
static enum status remove_old(struct store_queue *q, uint64_t *removed, struct err *err)
{
    const int64_t before_us = lab_us(lab_s(q->newest_us) - q->params.retain_s);
    const enum status status =
        store_remove_before(q->store, before_us, REMOVE_LIMIT, removed, err);
    if (status != STATUS_OK || *removed < REMOVE_LIMIT) {
        q->removed_us = q->newest_us;
    }
    return status;
}

/* Call with the lock held. Is a batch due, and if not, when? */
static bool batch_is_due(const struct store_queue *q, int64_t now_ms, int64_t *at_ms)
{
    const size_t waiting = q->stats.waiting_rows;
    *at_ms =
        waiting == 0 || q->params.holds ? now_ms + IDLE_MS : q->oldest_ms + q->params.commit_ms;
    return !q->params.holds && waiting > 0 &&
           (waiting >= (size_t)q->params.batch_rows || q->stop ||
            q->flush_to > q->stats.committed || now_ms >= *at_ms);
}

/* Call with the lock held. Returns when to try again. */
static int64_t record_failure(struct store_queue *q, const struct err *err, int *retry_ms)
{
    q->stats.failures++;
    q->stats.failing = true;
    q->stats.last_error = *err;
    const int64_t at_ms = monotonic_ms() + *retry_ms;
    *retry_ms = *retry_ms < q->params.retry_ms_max / 2 ? 2 * *retry_ms : q->params.retry_ms_max;
    return at_ms;
}

/* Works like do_batch(), without rows. */
static int64_t do_look(struct store_queue *q, int *retry_ms)
{
    struct err err = {0};
    q->look = false;
    lock_release(&q->lock);
    const enum status status = look_at_file(q, &err);
    lock_acquire(&q->lock);
    if (status != STATUS_OK) {
        return record_failure(q, &err, retry_ms);
    }
    /* If rows wait, their batch shows whether the store works. */
    q->stats.failing = q->stats.failing && q->stats.waiting_rows > 0;
    return 0;
}

/* Call with the lock held; releases it meanwhile. Returns when to try again. */
static int64_t do_batch(struct store_queue *q, int *retry_ms)
{
    struct batch batch = {.rows = q->stats.waiting_rows};
    if (batch.rows > (size_t)q->params.batch_rows) {
        batch.rows = (size_t)q->params.batch_rows;
    }
    lock_release(&q->lock);
    struct err err = {0};
    const enum status status = write_batch(q, &batch, &err);
    lock_acquire(&q->lock);
    if (status == STATUS_OK) {
        finish_batch(q, &batch);
        *retry_ms = q->params.retry_ms_min;
        check_wal(q);
        return 0;
    }
    return record_failure(q, &err, retry_ms);
}

/* Call with the lock held; releases it meanwhile. Removes some of the old rows, else folds some
 * of the waiting entries. */
static void do_upkeep(struct store_queue *q)
{
    struct err err = {0};
    bool more = false;
    uint64_t removed = 0;
    const bool retention = retention_is_due(q);
    const int64_t from_ms = monotonic_ms();
    lock_release(&q->lock);
    enum status status = look_at_file(q, &err);
    if (status == STATUS_OK) {
        status = retention ? remove_old(q, &removed, &err) : store_fold(q->store, &more, &err);
    }
    lock_acquire(&q->lock);
    const int64_t now_ms = monotonic_ms();
    q->upkeep_at_ms = now_ms + UPKEEP_SHARE * (now_ms - from_ms) + 1;
    q->stats.removed += removed;
    count_upkeep(q, status, &err);
    check_wal(q);
    if (status != STATUS_OK) {
        q->upkeep_at_ms = now_ms + q->params.retry_ms_max;
    }
}

/* Upkeep waits while batches fail, so that their error is the one reported. */
static bool upkeep_is_due(const struct store_queue *q)
{
    return !q->params.holds && !q->stop && !q->stats.failing && q->open &&
           (retention_is_due(q) || store_is_due(q->store));
}

static void *run_store_thread(void *context)
{
    struct store_queue *q = context;
    int retry_ms = q->params.retry_ms_min;
    int64_t retry_at_ms = 0;
    lock_acquire(&q->lock);
    for (;;) {
        const int64_t now_ms = monotonic_ms();
        int64_t due_ms = 0;
        if (q->stop &&
            (q->stats.waiting_rows == 0 || q->params.holds || now_ms >= q->stop_ms)) {
            break;
        }
        q->open = q->open && !q->renew;
        q->renew = false;
        if (upkeep_is_due(q) && now_ms >= q->upkeep_at_ms) {
            do_upkeep(q);
            continue;
        }
        const bool due = batch_is_due(q, now_ms, &due_ms);
        if ((due || q->look) && now_ms >= retry_at_ms) {
            retry_at_ms = due ? do_batch(q, &retry_ms) : do_look(q, &retry_ms);
            continue;
        }
        int64_t at_ms = due || q->look ? retry_at_ms : due_ms;
        at_ms = upkeep_is_due(q) && q->upkeep_at_ms < at_ms ? q->upkeep_at_ms : at_ms;
        at_ms = q->stop && q->stop_ms < at_ms ? q->stop_ms : at_ms;
        lock_wait(&q->work, &q->lock, at_ms * 1000);
    }
    lock_release(&q->lock);
    return NULL;
}

/* --- starting, stopping, asking --------------------------------------------------------- */

static bool params_are_valid(const struct store_queue_params *params)
{
    return params->rows_max > 0 && params->bytes_max >= 2 * (size_t)STORE_JSON_MAX &&
           params->commit_ms >= 0 && params->batch_rows > 0 && params->retry_ms_min > 0 &&
           params->retry_ms_max >= params->retry_ms_min && params->retain_s >= 0.0;
}

static void destroy_queue(struct store_queue *q)
{
    drop_pieces(q, q->stats.waiting_rows);
    (void)pthread_cond_destroy(&q->work);
    (void)pthread_cond_destroy(&q->done);
    (void)pthread_mutex_destroy(&q->lock);
    free(q);
}

enum status store_queue_start(const struct store_queue_params *params, struct store *store,
                              struct store_queue **out, struct err *err)
{
    if (!params_are_valid(params)) {
        return err_set(err, STATUS_E_ARG, FAULT_OUT_OF_RANGE, "store",
                       "queue parameters out of range");
    }
    struct store_queue *q = calloc(1, sizeof *q);
    if (!q) {
        return err_no_memory(err, "store", "out of memory");
    }
    q->params = *params;
    q->store = store;
    q->open = true;
    q->stats.mark = store_read_mark(store);
    q->newest_us = q->removed_us = LAB_TIME_NONE;
    q->tail = &q->head;
    lock_init(&q->lock);
    lock_init_condition(&q->work);
    lock_init_condition(&q->done);
    if (pthread_create(&q->thread, NULL, run_store_thread, q) != 0) {
        destroy_queue(q);
        return err_set(err, STATUS_E_IO, FAULT_NO_THREAD, "store", "cannot start a thread");
    }
    *out = q;
    return STATUS_OK;
}

enum status store_queue_stop(struct store_queue *queue, int deadline_ms)
{
    if (!queue) {
        return STATUS_OK;
    }
    lock_acquire(&queue->lock);
    queue->stop = true;
    queue->stop_ms = monotonic_ms() + deadline_ms;
    (void)pthread_cond_signal(&queue->work);
    lock_release(&queue->lock);
    (void)pthread_join(queue->thread, NULL);
    const bool left = queue->stats.waiting_rows > 0 && !queue->params.holds;
    destroy_queue(queue);
    return left ? STATUS_E_IO : STATUS_OK;
}

enum status store_queue_flush(struct store_queue *queue, int deadline_ms)
{
    const int64_t at_ms = monotonic_ms() + deadline_ms;
    lock_acquire(&queue->lock);
    const uint64_t target = queue->stats.pushed;
    if (target > queue->flush_to) {
        queue->flush_to = target;
        (void)pthread_cond_signal(&queue->work);
    }
    while (queue->stats.committed < target && monotonic_ms() < at_ms) {
        lock_wait(&queue->done, &queue->lock, at_ms * 1000);
    }
    const bool done = queue->stats.committed >= target;
    lock_release(&queue->lock);
    return done ? STATUS_OK : STATUS_E_IO;
}

bool store_queue_covers(struct store_queue *queue, uint64_t pushed)
{
    lock_acquire(&queue->lock);
    const bool covers = !queue->stats.behind && queue->stats.committed >= pushed;
    lock_release(&queue->lock);
    return covers;
}

void store_queue_look(struct store_queue *queue)
{
    lock_acquire(&queue->lock);
    queue->look = true;
    (void)pthread_cond_signal(&queue->work);
    lock_release(&queue->lock);
}

void store_queue_lack(struct store_queue *queue, const struct err *why)
{
    lock_acquire(&queue->lock);
    record_lack(queue, why->code, why->fault, why->text);
    lock_release(&queue->lock);
}

void store_queue_backfilled(struct store_queue *queue, uint64_t missed)
{
    lock_acquire(&queue->lock);
    queue->stats.behind = queue->stats.missed != missed;
    lock_release(&queue->lock);
}

void store_queue_stats(struct store_queue *queue, struct store_queue_stats *out)
{
    lock_acquire(&queue->lock);
    *out = queue->stats;
    lock_release(&queue->lock);
}
