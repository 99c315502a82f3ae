#include "web/http/response_cache.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"

enum {
    IDLE_MAX = 8,
    ANSWERS_MAX = 16,
    ANSWER_BYTES_MAX = 60 * 1024,
    KEY_MAX = WEB_PATH_MAX + QUERY_TEXT_MAX + 56
};

/* An answer with the request and version that it belongs to. */
struct answer {
    char *key; /* NULL: empty */
    int64_t version;
    uint64_t used; /* larger: more recent */
    struct body body;
    const char *media_type;
    char etag[WEB_ETAG_MAX];
    char link[WEB_LINK_MAX];
};

struct response_cache {
    char *path;
    pthread_mutex_t lock;
    unsigned idle_count;
    struct store_reader *idle[IDLE_MAX];
    struct store_reader *watch; /* detects commits; NULL: not open */
    int64_t watches;            /* how often it was opened */
    uint64_t uses;
    struct answer answers[ANSWERS_MAX];
};

enum status response_cache_create(const char *path, struct response_cache **out)
{
    struct response_cache *response_cache = calloc(1, sizeof *response_cache);
    char *copy = strdup(path);
    if (!response_cache || !copy) {
        free(response_cache);
        free(copy);
        return STATUS_E_NOMEM;
    }
    response_cache->path = copy;
    lock_init(&response_cache->lock);
    *out = response_cache;
    return STATUS_OK;
}

static void drop_answer(struct answer *answer)
{
    free(answer->key);
    body_clear(&answer->body);
    *answer = (struct answer){0};
}

void response_cache_destroy(struct response_cache *response_cache)
{
    if (!response_cache) {
        return;
    }
    for (size_t i = 0; i < ANSWERS_MAX; i++) {
        drop_answer(&response_cache->answers[i]);
    }
    store_reader_close(response_cache->watch);
    while (response_cache->idle_count > 0) {
        store_reader_close(response_cache->idle[--response_cache->idle_count]);
    }
    (void)pthread_mutex_destroy(&response_cache->lock);
    free(response_cache->path);
    free(response_cache);
}

enum status response_cache_acquire_reader(struct response_cache *response_cache,
                                          struct store_reader **reader, struct err *err)
{
    *reader = NULL;
    lock_acquire(&response_cache->lock);
    while (!*reader && response_cache->idle_count > 0) {
        *reader = response_cache->idle[--response_cache->idle_count];
        if (!store_reader_is_in_place(*reader)) {
            store_reader_close(*reader);
            *reader = NULL;
        }
    }
    lock_release(&response_cache->lock);
    return *reader || store_reader_open(response_cache->path, reader, err) == STATUS_OK
               ? STATUS_OK
               : STATUS_E_IO;
}

enum status response_cache_release_reader(struct response_cache *response_cache,
                                          struct store_reader *reader, enum status status)
{
    bool is_valid = false;
    lock_acquire(&response_cache->lock);
    if (status == STATUS_OK && response_cache->idle_count < IDLE_MAX) {
        response_cache->idle[response_cache->idle_count++] = reader;
        is_valid = true;
    }
    lock_release(&response_cache->lock);
    if (!is_valid) {
        store_reader_close(reader);
    }
    return status == STATUS_OK ? STATUS_OK : STATUS_E_IO;
}

/* --- cached answers ------------------------------------------------------------------- */

static void write_key(const struct web_request *request, char key[KEY_MAX])
{
    (void)snprintf(key, KEY_MAX, "%s?%s%s %" PRIi64 " %" PRIi64, request->path,
                   request->query_text, request->csv ? " csv" : "", request->query.since_us,
                   request->query.until_us);
}

/* Returns the store's version, never 0; 0: it cannot be read. Call under the lock. */
static int64_t read_version(struct response_cache *response_cache)
{
    int64_t version = 0;
    if (response_cache->watch && !store_reader_is_in_place(response_cache->watch)) {
        store_reader_close(response_cache->watch);
        response_cache->watch = NULL;
    }
    if (!response_cache->watch) {
        if (store_reader_open(response_cache->path, &response_cache->watch, NULL) !=
            STATUS_OK) {
            return 0;
        }
        response_cache->watches++;
    }
    if (store_version(response_cache->watch, &version, NULL) != STATUS_OK) {
        store_reader_close(response_cache->watch);
        response_cache->watch = NULL;
        return 0;
    }
    /* Each connection counts from the start, in 32 bits. Without the number of the connection
     * an old answer could look current. */
    return (response_cache->watches << 32) + (version & UINT32_MAX);
}

/* Returns the answer with this key, else the least recently used one. Call under the lock. */
static struct answer *find_answer(struct response_cache *response_cache, const char *key)
{
    struct answer *oldest = response_cache->answers;
    for (struct answer *a = response_cache->answers; a < response_cache->answers + ANSWERS_MAX;
         a++) {
        if (a->key && strcmp(a->key, key) == 0) {
            return a;
        }
        oldest = a->used < oldest->used ? a : oldest;
    }
    return oldest;
}

bool response_cache_find(const struct web_request *request, struct web_response *response)
{
    struct response_cache *response_cache = request->context->response_cache;
    char key[KEY_MAX];
    write_key(request, key);
    lock_acquire(&response_cache->lock);
    /* The version is read before the data, so the data are as new or newer. */
    const int64_t version = read_version(response_cache);
    struct answer *a = find_answer(response_cache, key);
    const bool is_valid =
        a->key && version != 0 && a->version == version && strcmp(a->key, key) == 0;
    if (is_valid) {
        a->used = ++response_cache->uses;
        response->media_type = a->media_type;
        memcpy(response->etag, a->etag, sizeof a->etag);
        memcpy(response->link, a->link, sizeof a->link);
        body_append(&response->body, a->body.text, a->body.bytes);
    }
    lock_release(&response_cache->lock);
    response->store_version = is_valid ? 0 : version;
    return is_valid;
}

void response_cache_add(const struct web_request *request, const struct web_response *response)
{
    struct response_cache *response_cache = request->context->response_cache;
    char key[KEY_MAX];
    if (response->store_version == 0 || response->body.bytes > ANSWER_BYTES_MAX) {
        return;
    }
    write_key(request, key);
    lock_acquire(&response_cache->lock);
    struct answer *a = find_answer(response_cache, key);
    drop_answer(a);
    *a = (struct answer){.key = strdup(key),
                         .version = response->store_version,
                         .used = ++response_cache->uses,
                         .media_type = response->media_type};
    memcpy(a->etag, response->etag, sizeof a->etag);
    memcpy(a->link, response->link, sizeof a->link);
    body_append(&a->body, response->body.text, response->body.bytes);
    if (!a->key || a->body.failed) {
        drop_answer(a);
    }
    lock_release(&response_cache->lock);
}
