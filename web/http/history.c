#include "web/http/history.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/record.h"

enum { CONNECTIONS_MAX = 8 };

struct history {
    char *path;
    pthread_mutex_t lock;
    unsigned count;
    struct {
        bool taken;
        struct store_reader *reader; /* NULL: not open */
    } slot[CONNECTIONS_MAX];
};

enum status history_create(const char *path, unsigned connections, struct history **out)
{
    assert(connections >= 1 && connections <= CONNECTIONS_MAX);
    struct history *history = calloc(1, sizeof *history);
    if (!history || pthread_mutex_init(&history->lock, NULL) != 0) {
        free(history);
        return STATUS_E_NOMEM;
    }
    history->count = connections;
    history->path = strdup(path);
    if (!history->path) {
        history_destroy(history);
        return STATUS_E_NOMEM;
    }
    *out = history;
    return STATUS_OK;
}

void history_destroy(struct history *history)
{
    if (!history) {
        return;
    }
    for (unsigned i = 0; i < history->count; i++) {
        store_reader_close(history->slot[i].reader);
    }
    (void)pthread_mutex_destroy(&history->lock);
    free(history->path);
    free(history);
}

/* A slot that nobody uses: there is one for every server thread. */
static unsigned take_slot(struct history *history)
{
    unsigned i = 0;
    int failed = pthread_mutex_lock(&history->lock);
    assert(!failed);
    while (i < history->count && history->slot[i].taken) {
        i++;
    }
    assert(i < history->count);
    history->slot[i].taken = true;
    failed = pthread_mutex_unlock(&history->lock);
    assert(!failed);
    (void)failed;
    return i;
}

static void give_slot(struct history *history, unsigned i)
{
    int failed = pthread_mutex_lock(&history->lock);
    assert(!failed);
    history->slot[i].taken = false;
    failed = pthread_mutex_unlock(&history->lock);
    assert(!failed);
    (void)failed;
}

struct sink {
    history_row *row;
    void *context;
};

static bool take_row(void *context, const struct store_row *row)
{
    const struct sink *sink = context;
    sink->row(sink->context, row->json, row->json_bytes);
    return true;
}

static const enum store_kind kinds[] = {[HISTORY_ENTRIES] = STORE_ENTRIES,
                                        [HISTORY_ALARMS] = STORE_ALARMS,
                                        [HISTORY_LOG] = STORE_LOG,
                                        [HISTORY_CHANGES] = STORE_CHANGES};

static enum status read_page(struct store_reader *reader, const struct history_page *page,
                             struct sink *sink, char next[STORE_CURSOR_MAX], struct err *err)
{
    const char *type = NULL;
    if (page->kind >= 0) {
        type = page->table == HISTORY_ENTRIES ? verdict_name((enum verdict)page->kind)
                                              : alarm_type_name((enum alarm_type)page->kind);
    }
    const struct store_query query = {.kind = kinds[page->table],
                                      .pair = page->pair,
                                      .type = type,
                                      .since_us = page->since_us,
                                      .until_us = page->until_us,
                                      .newest_first = !page->oldest,
                                      .limit = (int)page->limit,
                                      .cursor = page->place};
    return store_query(reader, &query, take_row, sink, next, err);
}

/* The slot's connection, opened when it is not. */
static enum status open_slot(struct history *history, unsigned i, struct err *err)
{
    return history->slot[i].reader
               ? STATUS_OK
               : store_reader_open(history->path, &history->slot[i].reader, err);
}

static enum status close_slot(struct history *history, unsigned i, enum status status)
{
    if (status != STATUS_OK) {
        store_reader_close(history->slot[i].reader);
        history->slot[i].reader = NULL;
    }
    give_slot(history, i);
    return status == STATUS_OK ? STATUS_OK : STATUS_E_IO;
}

enum status history_read(struct history *history, const struct history_page *page,
                         history_row *row, void *context, char next[STORE_CURSOR_MAX],
                         struct err *err)
{
    struct sink sink = {row, context};
    const unsigned i = take_slot(history);
    enum status status = open_slot(history, i, err);
    if (status == STATUS_OK) {
        status = read_page(history->slot[i].reader, page, &sink, next, err);
    }
    return close_slot(history, i, status);
}

enum status history_since(struct history *history, enum history_table table, uint64_t after,
                          int limit, store_row_fn *row, void *context, struct err *err)
{
    const unsigned i = take_slot(history);
    enum status status = open_slot(history, i, err);
    if (status == STATUS_OK) {
        status =
            store_since(history->slot[i].reader, kinds[table], after, limit, row, context, err);
    }
    return close_slot(history, i, status);
}

enum status history_points(struct history *history, const char *pair, int64_t since_us,
                           int64_t until_us, history_begin *begin, store_point_fn *point,
                           void *context, struct err *err)
{
    int64_t oldest_us = 0;
    int64_t newest_us = 0;
    bool any = false;
    bool begun = true;
    const unsigned i = take_slot(history);
    enum status status = open_slot(history, i, err);
    if (status == STATUS_OK) {
        status = store_span(history->slot[i].reader, pair, since_us, until_us, &any, &oldest_us,
                            &newest_us, err);
    }
    if (status == STATUS_OK && any) {
        begun = begin(context, oldest_us, newest_us);
    }
    if (status == STATUS_OK && any && begun) {
        /* Not what has come in between. */
        status = store_points(history->slot[i].reader, pair, oldest_us, newest_us + 1, point,
                              context, err);
    }
    status = close_slot(history, i, status);
    return status == STATUS_OK && !begun ? STATUS_E_NOMEM : status;
}
