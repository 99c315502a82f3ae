#include "web/report_cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twin/base/hash.h"

enum { SLOTS = 1024 };

struct slot {
    struct report_name name;
    struct body text; /* empty: none */
    char tag[REPORT_CACHE_TAG_MAX];
};

struct report_cache {
    pthread_mutex_t lock;
    struct slot slot[SLOTS];
};

enum status report_cache_create(struct report_cache **out)
{
    struct report_cache *cache = calloc(1, sizeof *cache);
    if (!cache || pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache);
        return STATUS_E_NOMEM;
    }
    *out = cache;
    return STATUS_OK;
}

void report_cache_destroy(struct report_cache *cache)
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

static void lock(struct report_cache *cache)
{
    const int failed = pthread_mutex_lock(&cache->lock);
    assert(!failed);
    (void)failed;
}

static void unlock(struct report_cache *cache)
{
    const int failed = pthread_mutex_unlock(&cache->lock);
    assert(!failed);
    (void)failed;
}

static size_t place_of(const struct report_name *name)
{
    const uint64_t hash = hash_bytes(HASH_START, &name->what, sizeof name->what);
    return (size_t)((hash ^ (hash >> 32)) + name->pair) % SLOTS;
}

bool report_cache_get(struct report_cache *cache, const struct report_name *name,
                      struct body *out, char tag[REPORT_CACHE_TAG_MAX])
{
    const struct slot *slot = &cache->slot[place_of(name)];
    lock(cache);
    const bool found = slot->text.bytes > 0 && slot->name.pair == name->pair &&
                       slot->name.what == name->what && slot->name.key == name->key;
    if (found) {
        body_append(out, slot->text.text, slot->text.bytes);
        memcpy(tag, slot->tag, sizeof slot->tag);
    }
    unlock(cache);
    return found;
}

void report_cache_put(struct report_cache *cache, const struct report_name *name,
                      const struct body *text, const char *tag)
{
    struct slot *slot = &cache->slot[place_of(name)];
    struct body copy = {0};
    body_append(&copy, text->text, text->bytes);
    if (copy.failed || text->failed) {
        body_clear(&copy);
        return;
    }
    lock(cache);
    struct body old = slot->text;
    slot->text = copy;
    slot->name = *name;
    (void)snprintf(slot->tag, sizeof slot->tag, "%s", tag);
    unlock(cache);
    body_clear(&old);
}
