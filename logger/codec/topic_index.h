/* logger/codec/topic_index.h - an index of MQTT filters: whose filters match a topic, without
 * trying them all.
 *
 * Filters have '+' and '#' as in MQTT. Filters with words at the same levels have the same
 * shape, and a lab has few shapes. For each shape, a hash of the topic's words at those levels
 * leads to the owners of such filters. The index never misses an owner, but may name one too
 * many, so each owner checks the topic itself. It is made once and then read by any thread.
 * Pure.
 */
#ifndef LOGGER_CODEC_TOPIC_INDEX_H
#define LOGGER_CODEC_TOPIC_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOPIC_HITS_MAX = 64, TOPIC_SHAPES_MAX = 32, TOPIC_LEVELS_MAX = 32 };

struct topic_index;

/* Memory for an index of this many filters, bytes. */
size_t topic_index_bytes(size_t filters);

/* memory: topic_index_bytes(filters), aligned for any type. */
struct topic_index *topic_index_init(void *memory, size_t filters);

/* Adds a filter, up to the number given to topic_index_init(). */
void topic_index_add(struct topic_index *index, const char *filter, uint32_t whose);

struct topic_hits {
    size_t count;
    uint32_t whose[TOPIC_HITS_MAX]; /* ascending, each once */
};

/* False: too many hits, or filters that did not fit into the index; any owner may match. */
bool topic_index_find(const struct topic_index *index, const char *topic,
                      struct topic_hits *hits);

#endif
