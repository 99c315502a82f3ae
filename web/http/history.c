#include "web/http/history.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"

enum {
    IDLE_MAX = 8,
    ANSWERS_MAX = 16,
    ANSWER_BYTES_MAX = 60 * 1024,
    KEY_MAX = WEB_PATH_MAX + QUERY_TEXT_MAX + 8
};

/* What a request got, and all that made it. */
struct answer {
    char *key; /* NULL: none is kept here */
    int64_t version;
    uint64_t used; /* the greater the later */
    struct body body;
    const char *media_type;
    char etag[WEB_ETAG_MAX];
    char link[WEB_LINK_MAX];
};

struct history {
    char *path;
    pthread_mutex_t lock;
    unsigned idle_count;
    struct store_reader *idle[IDLE_MAX];
    struct store_reader *watch; /* says whether anything was committed; NULL: not open */
    int64_t watches;            /* opened so far */
    uint64_t uses;
    struct answer answers[ANSWERS_MAX];
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

static void drop_answer(struct answer *answer)
{
    free(answer->key);
    body_clear(&answer->body);
    *answer = (struct answer){0};
}

void history_destroy(struct history *history)
{
    if (!history) {
        return;
    }
    for (size_t i = 0; i < ANSWERS_MAX; i++) {
        drop_answer(&history->answers[i]);
    }
    store_reader_close(history->watch);
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
    while (!*reader && history->idle_count > 0) {
        *reader = history->idle[--history->idle_count];
        if (!store_reader_is_in_place(*reader)) {
            store_reader_close(*reader);
            *reader = NULL;
        }
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

/* --- answers kept ---------------------------------------------------------------------- */

static void write_key(const struct web_request *request, char key[KEY_MAX])
{
    (void)snprintf(key, KEY_MAX, "%s?%s%s", request->path, request->query_text,
                   request->csv ? " csv" : "");
}

/* The store's version, never 0; 0: it cannot be read. Under the lock. */
static int64_t read_version(struct history *history)
{
    int64_t version = 0;
    if (history->watch && !store_reader_is_in_place(history->watch)) {
        store_reader_close(history->watch);
        history->watch = NULL;
    }
    if (!history->watch) {
        if (store_reader_open(history->path, &history->watch, NULL) != STATUS_OK) {
            return 0;
        }
        history->watches++;
    }
    if (store_version(history->watch, &version, NULL) != STATUS_OK) {
        store_reader_close(history->watch);
        history->watch = NULL;
        return 0;
    }
    /* Each connection counts from the beginning, to 32 bits: an answer of the one before must
     * not pass for one of now. */
    return (history->watches << 32) + (version & UINT32_MAX);
}

/* The one of this key, else the one that was not used for longest. Under the lock. */
static struct answer *find_answer(struct history *history, const char *key)
{
    struct answer *oldest = history->answers;
    for (struct answer *a = history->answers; a < history->answers + ANSWERS_MAX; a++) {
        if (a->key && strcmp(a->key, key) == 0) {
            return a;
        }
        oldest = a->used < oldest->used ? a : oldest;
    }
    return oldest;
}

bool history_recall(const struct web_request *request, struct web_response *response)
{
    struct history *history = request->context->history;
    char key[KEY_MAX];
    write_key(request, key);
    lock_take(&history->lock);
    /* Taken before anything is read: what is read then is as new, or newer. */
    const int64_t version = read_version(history);
    struct answer *a = find_answer(history, key);
    const bool kept =
        a->key && version != 0 && a->version == version && strcmp(a->key, key) == 0;
    if (kept) {
        a->used = ++history->uses;
        response->media_type = a->media_type;
        memcpy(response->etag, a->etag, sizeof a->etag);
        memcpy(response->link, a->link, sizeof a->link);
        body_append(&response->body, a->body.text, a->body.bytes);
    }
    lock_give(&history->lock);
    response->store_version = kept ? 0 : version;
    return kept;
}

void history_keep(const struct web_request *request, const struct web_response *response)
{
    struct history *history = request->context->history;
    char key[KEY_MAX];
    if (response->store_version == 0 || response->body.bytes > ANSWER_BYTES_MAX) {
        return;
    }
    write_key(request, key);
    lock_take(&history->lock);
    struct answer *a = find_answer(history, key);
    drop_answer(a);
    *a = (struct answer){.key = strdup(key),
                         .version = response->store_version,
                         .used = ++history->uses,
                         .media_type = response->media_type};
    memcpy(a->etag, response->etag, sizeof a->etag);
    memcpy(a->link, response->link, sizeof a->link);
    body_append(&a->body, response->body.text, response->body.bytes);
    if (!a->key || a->body.failed) {
        drop_answer(a);
    }
    lock_give(&history->lock);
}
