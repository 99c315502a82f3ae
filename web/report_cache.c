#include "web/fit_cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { SLOTS = 128 };

struct fit_cache {
    pthread_mutex_t lock;
    struct {
        uint32_t pair;
        uint64_t key;
        struct body text;
    } slot[SLOTS];
};

enum status fit_cache_create(struct fit_cache **out)
{
    struct fit_cache *cache = calloc(1, sizeof *cache);
    if (!cache || pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache);
        return STATUS_E_NOMEM;
    }
    *out = cache;
    return STATUS_OK;
}

void fit_cache_destroy(struct fit_cache *cache)
{
    if (!cache) {
        return;
    }
    for (size_t i = 0; i < SLOTS; i++) {
        body_clear(&cache->slot[i].text);
    }
    (void)pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static void lock(struct fit_cache *cache)
{
    const int failed = pthread_mutex_lock(&cache->lock);
    assert(!failed);
    (void)failed;
}

static void unlock(struct fit_cache *cache)
{
    const int failed = pthread_mutex_unlock(&cache->lock);
    assert(!failed);
    (void)failed;
}

bool fit_cache_get(struct fit_cache *cache, uint32_t pair, uint64_t key, struct body *out)
{
    const size_t i = pair % SLOTS;
    lock(cache);
    const bool found = cache->slot[i].text.bytes > 0 && cache->slot[i].pair == pair &&
                       cache->slot[i].key == key;
    if (found) {
        body_append(out, cache->slot[i].text.text, cache->slot[i].text.bytes);
    }
    unlock(cache);
    return found;
}

void fit_cache_put(struct fit_cache *cache, uint32_t pair, uint64_t key,
                   const struct body *text)
{
    const size_t i = pair % SLOTS;
    struct body copy = {0};
    body_append(&copy, text->text, text->bytes);
    if (copy.failed || text->failed) {
        body_clear(&copy);
        return;
    }
    lock(cache);
    struct body old = cache->slot[i].text;
    cache->slot[i].text = copy;
    cache->slot[i].pair = pair;
    cache->slot[i].key = key;
    unlock(cache);
    body_clear(&old);
}
