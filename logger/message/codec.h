/* logger/message/codec.h - from a message to events, and from values to payloads: one row a
 * format.
 *
 * Native JSON (docs/protocol.md). What is not of the protocol becomes EVENT_MALFORMED with the
 * place and what would be right, never silence. Limits: MESSAGE_PAYLOAD_MAX bytes, nesting of
 * CODEC_DEPTH_MAX, strings and names as in logger/message/event.h, CODEC_BATCH_MAX samples in
 * one telemetry message. Pure: no I/O, no clock, no allocation.
 */
#ifndef LOGGER_MESSAGE_CODEC_H
#define LOGGER_MESSAGE_CODEC_H

#include <stddef.h>

#include "logger/message/event.h"
#include "logger/message/json_write.h"
#include "logger/message/message.h"

enum { CODEC_DEPTH_MAX = 8, CODEC_BATCH_MAX = 256, CODEC_PREFIX_MAX = 128 };

typedef void codec_emit(void *context, const struct event *event);

/* What a message is about, by its topic alone. */
struct codec_subject {
    char pair[EVENT_PAIR_MAX];
    enum event_kind kind;
    enum side side;
};

struct codec {
    const char *name; /* "native" */
    /* Look at the topic only. False, with *subject unspecified, when it is none of a pair's. */
    bool (*look)(const char *prefix, const char *topic, struct codec_subject *subject);
    /* Decode one message under the prefix; calls emit 0..n times. Returns the number of events;
     * 0 means that the topic is not one that Tandem listens to. */
    size_t (*decode)(const char *prefix, const struct message *message, codec_emit *emit,
                     void *context);
};

extern const struct codec codecs[];
extern const size_t codec_count;

/* By name; NULL when there is none. */
const struct codec *codec_find(const char *name);

/* The topics to subscribe to under a prefix, NULL-terminated: written to out[size] one after
 * the other, each with its NUL. Returns their number. */
size_t codec_topics(const char *prefix, char *out, size_t size);

/* The other way round: one JSON object. */
void codec_write_command(struct json_writer *w, const struct event_command *command);
void codec_write_reply(struct json_writer *w, const struct event_reply *reply);
void codec_write_telemetry(struct json_writer *w, const struct event_telemetry *telemetry);
void codec_write_connection(struct json_writer *w, const struct event_connection *connection);
void codec_write_probe(struct json_writer *w, int64_t probe, int64_t sent_us);
void codec_write_echo(struct json_writer *w, const struct event_echo *echo);

#endif
