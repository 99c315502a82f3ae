/* tests/support/plain_line.h - a line read in one pass means the same as when it is read in
 * two. */
#ifndef TESTS_SUPPORT_PLAIN_LINE_H
#define TESTS_SUPPORT_PLAIN_LINE_H

#include <string.h>

#include "logger/codec/codecs.h"

/* Parts of an event are all zero before their members are read: they may be compared as they
 * lie. */
static const size_t plain_part_bytes[EVENT_KIND_COUNT] = {
    [EVENT_COMMAND] = sizeof(struct event_command),
    [EVENT_REPLY] = offsetof(struct event_reply, values),
    [EVENT_TELEMETRY] = sizeof(struct event_telemetry),
    [EVENT_CONNECTION] = sizeof(struct event_connection),
    [EVENT_ECHO] = sizeof(struct event_echo),
    [EVENT_ACK] = sizeof(struct event_ack),
    [EVENT_POSE_ACK] = sizeof(struct event_ack),
};

struct plain_seen {
    size_t count;
    struct event event; /* the last one */
};

static inline void plain_store(void *context, const struct event *event)
{
    struct plain_seen *seen = context;
    seen->count++;
    seen->event = *event;
}

static inline bool plain_same_values(const struct event_reply *a, const struct event_reply *b)
{
    bool same = true; /* value_count has been compared */
    for (size_t i = 0; same && i < a->value_count; i++) {
        same = strcmp(a->values[i].name, b->values[i].name) == 0 &&
               a->values[i].place == b->values[i].place &&
               a->values[i].kind == b->values[i].kind && a->values[i].text == b->values[i].text;
    }
    return same;
}

static inline bool plain_same(const struct event *a, const struct event *b)
{
    return a->t_us == b->t_us && a->kind == b->kind && a->side == b->side && a->dup == b->dup &&
           a->retained == b->retained && a->ambiguous == b->ambiguous &&
           a->packet_id == b->packet_id && a->hash == b->hash &&
           strcmp(a->pair, b->pair) == 0 &&
           memcmp(&a->command, &b->command, plain_part_bytes[a->kind]) == 0 &&
           (a->kind != EVENT_REPLY || plain_same_values(&a->reply, &b->reply));
}

enum plain_line { PLAIN_NOT, PLAIN_AGREES, PLAIN_DIFFERS };

/* Whether it can be read in one pass, and whether that gives the same. */
static inline enum plain_line plain_line_read(const char *line, size_t bytes)
{
    static const struct codec_set set = {.codec = {&codec_native}, .count = 1};
    static char scratch[MESSAGE_PAYLOAD_MAX + 1];
    static struct plain_seen one, two;
    struct message m;
    one.count = two.count = 0;
    if (!codec_read_plain(&set, "tandem/v1", line, bytes, plain_store, &one)) {
        return one.count == 0 ? PLAIN_NOT : PLAIN_DIFFERS;
    }
    return one.count == 1 && message_parse(line, bytes, scratch, &m, NULL) == STATUS_OK &&
                   codec_decode(&set, "tandem/v1", &m, plain_store, &two) == 1 &&
                   two.count == 1 && plain_same(&one.event, &two.event)
               ? PLAIN_AGREES
               : PLAIN_DIFFERS;
}

#endif
