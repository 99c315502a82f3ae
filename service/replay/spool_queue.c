#include "service/replay/spool_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "service/replay/rows.h"

enum {
    BATCHES = 4,
    BATCH_BYTES = 128 * 1024 /* bytes; any row fits */
};

/* Header of an item; the entry or the text follows, padded to a multiple of 8. */
struct item {
    size_t list, bytes;
    const char *pair; /* id for an entry; NULL: a row with JSON text */
    int64_t t_us;     /* time of a row */
    double lag_s;
};

struct batch {
    size_t used;
    char *items; /* [BATCH_BYTES] */
};

struct spool_queue {
    struct threads *threads;
    struct spool *spool;
    struct belt belt;
    struct batch batch[BATCHES];
    struct batch *filling;
    enum status status; /* the first failure of writing, */
    struct err err;     /* and its reason */
};

/* ---- to the spool: one thread at a time ---- */

static size_t whole_bytes(size_t bytes)
{
    return (sizeof(struct item) + bytes + 7) / 8 * 8;
}

static void write_item(struct spool_queue *q, const struct item *item)
{
    struct record_row r;
    struct spool_row row = {item->t_us, item->lag_s, (const char *)(item + 1), item->bytes};
    if (item->pair) {
        row_of_entry(&r, (const void *)(item + 1), item->pair);
        row = (struct spool_row){r.row.t_us, r.row.lag_s, r.row.json, r.row.json_bytes};
    }
    q->status = spool_add(q->spool, item->list, &row, &q->err);
}

static bool write_batch(void *context, size_t i)
{
    struct spool_queue *q = context;
    struct batch *b = &q->batch[i];
    for (size_t at = 0; at < b->used && q->status == STATUS_OK;) {
        const struct item *item = (const void *)(b->items + at);
        write_item(q, item);
        at += whole_bytes(item->bytes);
    }
    b->used = 0;
    return true;
}

/* ---- from the lab ---- */

static void add_item(struct spool_queue *queue, const struct item *head, const void *from)
{
    const size_t whole = whole_bytes(head->bytes);
    assert(whole <= BATCH_BYTES);
    if (whole > BATCH_BYTES - queue->filling->used) {
        threads_pass(queue->threads, &queue->belt);
        queue->filling = &queue->batch[threads_await(queue->threads, &queue->belt)];
    }
    struct item *item = (void *)(queue->filling->items + queue->filling->used);
    *item = *head;
    memcpy(item + 1, from, head->bytes);
    queue->filling->used += whole;
}

void spool_queue_entry(struct spool_queue *queue, size_t list, const struct entry *entry,
                       const char *pair)
{
    const struct item item = {.list = list, .bytes = sizeof *entry, .pair = pair};
    add_item(queue, &item, entry);
}

void spool_queue_row(struct spool_queue *queue, size_t list, const struct spool_row *row)
{
    const struct item item = {list, row->json_bytes, NULL, row->t_us, row->lag_s};
    add_item(queue, &item, row->json);
}

enum status spool_queue_end(struct spool_queue *queue, struct err *err)
{
    threads_pass(queue->threads, &queue->belt);
    threads_drain(queue->threads, &queue->belt);
    if (queue->status != STATUS_OK) {
        *err = queue->err;
    }
    return queue->status;
}

/* ---- beginning and end ---- */

enum status spool_queue_create(struct threads *threads, struct spool *spool,
                               struct spool_queue **out)
{
    static const struct belt_stage stages[] = {{NULL, true}, {write_batch, true}};
    struct spool_queue *q = calloc(1, sizeof *q);
    if (!q) {
        return STATUS_E_NOMEM;
    }
    q->threads = threads;
    q->spool = spool;
    q->belt = (struct belt){
        .stages = stages, .stage_count = COUNT(stages), .batch_count = BATCHES, .context = q};
    for (size_t i = 0; i < BATCHES; i++) {
        q->batch[i].items = malloc(BATCH_BYTES);
        if (!q->batch[i].items) {
            spool_queue_destroy(q);
            return STATUS_E_NOMEM;
        }
    }
    threads_add(threads, &q->belt);
    q->filling = &q->batch[threads_await(threads, &q->belt)];
    *out = q;
    return STATUS_OK;
}

void spool_queue_destroy(struct spool_queue *queue)
{
    if (!queue) {
        return;
    }
    threads_remove(queue->threads, &queue->belt);
    for (size_t i = 0; i < BATCHES; i++) {
        free(queue->batch[i].items);
    }
    free(queue);
}
