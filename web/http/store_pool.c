#include "web/http/store_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "logger/storage/lock.h"
#include "web/http/monotonic_clock.h"

enum { IDLE_MAX = 8, AGAIN_MS = 1000 };

struct store_pool {
    struct store_params params;
    pthread_mutex_t lock;
    unsigned idle_count;
    int64_t again_ms; /* PostgreSQL: the time of the next try after one that failed, */
    struct err fault; /* and why it failed */
    struct store_reader *idle[IDLE_MAX];
};

enum status store_pool_create(const struct store_params *params, struct store_pool **out)
{
    struct store_pool *pool = calloc(1, sizeof *pool);
    if (!pool) {
        return STATUS_E_NOMEM;
    }
    pool->params = *params;
    lock_init(&pool->lock);
    *out = pool;
    return STATUS_OK;
}

void store_pool_destroy(struct store_pool *pool)
{
    if (!pool) {
        return;
    }
    while (pool->idle_count > 0) {
        store_reader_close(pool->idle[--pool->idle_count]);
    }
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* Opens a connection. A database that does not answer takes the time limit, so for a second
 * after a failure the others get its error at once. A missing file is looked for each time. */
static enum status open_reader(struct store_pool *pool, struct store_reader **reader,
                               struct err *err)
{
    lock_acquire(&pool->lock);
    const bool waits = monotonic_clock_ms() < pool->again_ms;
    struct err fault = waits ? pool->fault : (struct err){0};
    lock_release(&pool->lock);
    if (!waits && store_reader_open(&pool->params, reader, &fault) == STATUS_OK) {
        return STATUS_OK;
    }
    if (!waits && pool->params.target) {
        lock_acquire(&pool->lock);
        pool->again_ms = monotonic_clock_ms() + AGAIN_MS;
        pool->fault = fault;
        lock_release(&pool->lock);
    }
    if (err) {
        *err = fault;
    }
    return STATUS_E_IO;
}

enum status store_pool_acquire(struct store_pool *pool, struct store_reader **reader,
                               struct err *err)
{
    *reader = NULL;
    lock_acquire(&pool->lock);
    while (!*reader && pool->idle_count > 0) {
        *reader = pool->idle[--pool->idle_count];
        if (!store_reader_is_in_place(*reader)) {
            store_reader_close(*reader);
            *reader = NULL;
        }
    }
    lock_release(&pool->lock);
    return *reader ? STATUS_OK : open_reader(pool, reader, err);
}

enum status store_pool_release(struct store_pool *pool, struct store_reader *reader,
                               enum status status)
{
    bool is_valid = false;
    lock_acquire(&pool->lock);
    if (status == STATUS_OK && pool->idle_count < IDLE_MAX) {
        pool->idle[pool->idle_count++] = reader;
        is_valid = true;
    }
    lock_release(&pool->lock);
    if (!is_valid) {
        store_reader_close(reader);
    }
    return status == STATUS_OK ? STATUS_OK : STATUS_E_IO;
}
