/* logger/codec/topic_index.h - whose filters a topic fits, without trying them all.
 *
 * Filters are as MQTT has them, with '+' and '#'. Those whose words stand at the same levels
 * are of one shape: of a lab there are few. For each shape the words of a topic at its levels
 * lead to who has such a filter. It never leaves anybody out; whoever it names has to look for
 * himself. Made once; then read by any thread. Pure.
 */
#ifndef LOGGER_CODEC_TOPIC_INDEX_H
#define LOGGER_CODEC_TOPIC_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOPIC_HITS_MAX = 64, TOPIC_SHAPES_MAX = 32, TOPIC_LEVELS_MAX = 32 };

struct topic_index;

/* Bytes that it takes for so many filters. */
size_t topic_index_bytes(size_t filters);

/* memory: topic_index_bytes(filters), aligned for any type. */
struct topic_index *topic_index_init(void *memory, size_t filters);

/* At most as many as there is room for. */
void topic_index_add(struct topic_index *index, const char *filter, uint32_t whose);

struct topic_hits {
    size_t count;
    uint32_t whose[TOPIC_HITS_MAX]; /* rising, each once */
};

/* False: more than that, or filters that it could not take in: anybody's may fit. */
bool topic_index_find(const struct topic_index *index, const char *topic,
                      struct topic_hits *hits);

#endif
