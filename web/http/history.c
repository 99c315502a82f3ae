#include "web/http/history.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"

enum { IDLE_MAX = 8 };

struct history {
    char *path;
    pthread_mutex_t lock;
    unsigned idle_count;
    struct store_reader *idle[IDLE_MAX];
};

enum status history_create(const char *path, struct history **out)
{
    struct history *history = calloc(1, sizeof *history);
    char *copy = strdup(path);
    if (!history || !copy) {
        free(history);
        free(copy);
        return STATUS_E_NOMEM;
    }
    history->path = copy;
    lock_init(&history->lock);
    *out = history;
    return STATUS_OK;
}

void history_destroy(struct history *history)
{
    if (!history) {
        return;
    }
    while (history->idle_count > 0) {
        store_reader_close(history->idle[--history->idle_count]);
    }
    (void)pthread_mutex_destroy(&history->lock);
    free(history->path);
    free(history);
}

enum status history_take(struct history *history, struct store_reader **reader, struct err *err)
{
    *reader = NULL;
    lock_take(&history->lock);
    if (history->idle_count > 0) {
        *reader = history->idle[--history->idle_count];
    }
    lock_give(&history->lock);
    return *reader || store_reader_open(history->path, reader, err) == STATUS_OK ? STATUS_OK
                                                                                 : STATUS_E_IO;
}

enum status history_give(struct history *history, struct store_reader *reader,
                         enum status status)
{
    bool kept = false;
    lock_take(&history->lock);
    if (status == STATUS_OK && history->idle_count < IDLE_MAX) {
        history->idle[history->idle_count++] = reader;
        kept = true;
    }
    lock_give(&history->lock);
    if (!kept) {
        store_reader_close(reader);
    }
    return status == STATUS_OK ? STATUS_OK : STATUS_E_IO;
}
