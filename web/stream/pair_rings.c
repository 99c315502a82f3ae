#include "web/stream/pair_rings.h"

#include <stdlib.h>

#include "logger/storage/lock.h"

enum status pair_rings_create(size_t pairs_max, size_t bytes, struct pair_rings **out)
{
    struct pair_rings *rings = calloc(1, sizeof *rings);
    if (!rings) {
        return STATUS_E_NOMEM;
    }
    lock_init(&rings->lock);
    rings->pairs_max = pairs_max;
    rings->bytes = bytes;
    *out = rings;
    return STATUS_OK;
}

void pair_rings_destroy(struct pair_rings *rings)
{
    if (!rings) {
        return;
    }
    for (size_t i = 0; i < rings->pair_count; i++) {
        free(rings->of[i]);
    }
    free(rings->of);
    (void)pthread_mutex_destroy(&rings->lock);
    free(rings);
}

void pair_rings_begin(struct pair_rings *rings, const struct view *view)
{
    lock_acquire(&rings->lock);
    if (!rings->of) {
        rings->of = calloc(view->pair_count, sizeof *rings->of);
        rings->pair_count = rings->of ? view->pair_count : 0;
    }
}

void *pair_rings_make(struct pair_rings *rings, size_t pair)
{
    if (!rings->of[pair] && rings->used < rings->pairs_max) {
        rings->of[pair] = calloc(1, rings->bytes);
        rings->used += rings->of[pair] ? 1 : 0;
    }
    return rings->of[pair];
}

const void *pair_rings_find(const struct pair_rings *rings, size_t pair)
{
    return rings->of ? rings->of[pair] : NULL;
}
