#include "logger/codec/topic_index.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/hash.h"

struct shape {
    uint32_t words; /* bit k: level k is a word */
    uint32_t count; /* number of levels, without "#" */
    bool rest;      /* it ends with "#" */
};

struct slot {
    uint64_t key;
    uint32_t whose; /* 1 + owner; 0: empty */
};

struct topic_index {
    bool open; /* some filter did not fit into the index */
    size_t shape_count, slot_count, room;
    struct shape shape[TOPIC_SHAPES_MAX];
    struct slot slot[]; /* [slot_count], a power of two */
};

static size_t count_slots(size_t filters)
{
    size_t count = 16;
    while (count < 2 * filters) {
        count *= 2;
    }
    return count;
}

size_t topic_index_bytes(size_t filters)
{
    return sizeof(struct topic_index) + count_slots(filters) * sizeof(struct slot);
}

struct topic_index *topic_index_init(void *memory, size_t filters)
{
    struct topic_index *index = memory;
    memset(index, 0, topic_index_bytes(filters));
    index->slot_count = count_slots(filters);
    index->room = filters;
    return index;
}

/* ---- levels ---- */

struct levels {
    size_t count; /* number of levels; hash[] has the first ones */
    uint64_t hash[TOPIC_LEVELS_MAX];
};

static void split_topic(const char *topic, struct levels *levels)
{
    const char *at = topic;
    levels->count = 0;
    while (at) {
        const char *end = strchr(at, '/');
        const size_t bytes = end ? (size_t)(end - at) : strlen(at);
        if (levels->count < TOPIC_LEVELS_MAX) {
            levels->hash[levels->count] = hash_bytes(HASH_START, at, bytes);
        }
        levels->count++;
        at = end ? end + 1 : NULL;
    }
}

/* Hashes the words of the topic at the levels of a shape. Equal words give equal keys;
 * different words collide only by chance. */
static uint64_t find_key(const struct shape *shape, size_t number, const struct levels *levels)
{
    uint64_t key = number + 1;
    for (uint32_t left = shape->words; left != 0; left &= left - 1) {
        key = (key ^ levels->hash[__builtin_ctz(left)]) * UINT64_C(0x9e3779b97f4a7c15);
        key ^= key >> 32;
    }
    return key;
}

/* ---- filters ---- */

/* Reads the filter's shape; false if it has too many levels. */
static bool read_shape(const char *filter, const struct levels *levels, struct shape *shape)
{
    const char *at = filter;
    *shape = (struct shape){0};
    if (levels->count > TOPIC_LEVELS_MAX) {
        return false;
    }
    for (uint32_t k = 0; k < levels->count; k++) {
        const size_t bytes = strcspn(at, "/");
        if (bytes == 1 && *at == '#') {
            shape->rest = true;
            return true;
        }
        if (bytes != 1 || *at != '+') {
            shape->words |= UINT32_C(1) << k;
        }
        shape->count++;
        at += bytes + 1;
    }
    return true;
}

/* Returns the shape's number, or TOPIC_SHAPES_MAX if there is no room for another one. */
static size_t add_shape(struct topic_index *index, const struct shape *shape)
{
    size_t k = 0;
    while (k < index->shape_count &&
           (index->shape[k].words != shape->words || index->shape[k].count != shape->count ||
            index->shape[k].rest != shape->rest)) {
        k++;
    }
    if (k == index->shape_count && k < TOPIC_SHAPES_MAX) {
        index->shape[index->shape_count++] = *shape;
    }
    return k;
}

void topic_index_add(struct topic_index *index, const char *filter, uint32_t whose)
{
    struct levels levels;
    struct shape shape;
    split_topic(filter, &levels);
    const size_t number =
        read_shape(filter, &levels, &shape) ? add_shape(index, &shape) : TOPIC_SHAPES_MAX;
    if (number == TOPIC_SHAPES_MAX) {
        index->open = true;
        return;
    }
    const uint64_t key = find_key(&shape, number, &levels);
    const size_t mask = index->slot_count - 1;
    size_t alike = 0;
    size_t k = key & mask;
    for (; index->slot[k].whose > 0; k = (k + 1) & mask) {
        alike += index->slot[k].key == key;
        if (index->slot[k].key == key && index->slot[k].whose == whose + 1) {
            return;
        }
    }
    if (alike <= TOPIC_HITS_MAX) { /* one more, and the topic is anybody's */
        assert(index->room > 0);
        index->room--;
        index->slot[k] = (struct slot){key, whose + 1};
    }
}

/* ---- topics ---- */

/* Inserts a hit in order, once; false: no room. */
static bool add_hit(struct topic_hits *hits, uint32_t whose)
{
    size_t k = hits->count;
    while (k > 0 && hits->whose[k - 1] > whose) {
        k--;
    }
    if (k > 0 && hits->whose[k - 1] == whose) {
        return true;
    }
    if (hits->count == TOPIC_HITS_MAX) {
        return false;
    }
    memmove(&hits->whose[k + 1], &hits->whose[k], (hits->count - k) * sizeof hits->whose[0]);
    hits->whose[k] = whose;
    hits->count++;
    return true;
}

bool topic_index_find(const struct topic_index *index, const char *topic,
                      struct topic_hits *hits)
{
    struct levels levels;
    const size_t mask = index->slot_count - 1;
    hits->count = 0;
    if (index->open) {
        return false;
    }
    split_topic(topic, &levels);
    for (size_t s = 0; s < index->shape_count; s++) {
        const struct shape *shape = &index->shape[s];
        if (shape->rest ? levels.count < shape->count : levels.count != shape->count) {
            continue;
        }
        const uint64_t key = find_key(shape, s, &levels);
        for (size_t k = key & mask; index->slot[k].whose > 0; k = (k + 1) & mask) {
            if (index->slot[k].key == key && !add_hit(hits, index->slot[k].whose - 1)) {
                return false;
            }
        }
    }
    return true;
}
