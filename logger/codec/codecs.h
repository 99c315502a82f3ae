/* logger/codec/codecs.h - the table of codecs, and the set of codecs that a lab's pairs use.
 *
 * codec_decode() parses every line of a journal and every incoming message. Pure.
 */
#ifndef LOGGER_CODEC_CODECS_H
#define LOGGER_CODEC_CODECS_H

#include "logger/codec/topic_index.h"
#include "logger/message/codec.h"

#define CODEC(row) extern const struct codec row;
#include "logger/codec/codecs.def"
#undef CODEC

extern const struct codec *const codecs[];
extern const size_t codec_count;

enum { CODECS_MAX = 16 }; /* >= codec_count */

/* Returns NULL if there is no codec of this name. */
const struct codec *codec_find(const char *name);

/* The offset of a codec's options in codec_options.own, aligned for any type. */
size_t codec_own_at(const struct codec *codec);

/* The codecs that the pairs of a lab use. */
struct codec_set {
    const struct codec *codec[CODECS_MAX];
    size_t count;
    /* Returns the codec of this event's pair; NULL if there is no such pair. Called only if
     * count > 1, for codecs under the prefix. */
    const struct codec *(*speaks)(const void *context, const struct event *event);
    /* Gets the k-th pair with a foreign codec; false if there are no more. NULL: no such
     * pairs. */
    bool (*foreign)(const void *context, size_t k, struct codec_pair *pair);
    /* Finds the pairs that may own this topic; false: any may. Any thread. NULL: any may. */
    bool (*addressed)(const void *context, const char *topic, struct topic_hits *hits);
    const void *context;
    struct codec_sink
        sink; /* send, send_context and room for foreign codecs, set by the owner */
};

/* Decodes one message under the prefix with the codecs of the set. If set is NULL, the first
 * codec in the table that knows the topic decodes it. Events of a pair that uses another codec
 * are dropped. The daemon's own lines are decoded here, too. Returns the number of events; 0:
 * no codec knows the topic. */
size_t codec_decode(const struct codec_set *set, const char *prefix,
                    const struct message *message, event_emit *emit, void *context);

/* Decodes a whole line of a journal in one pass, if possible: true if its event was emitted.
 * False: nothing was emitted; use message_parse() and codec_decode(). Codec state does not
 * change. */
bool codec_read_plain(const struct codec_set *set, const char *prefix, const char *line,
                      size_t bytes, event_emit *emit, void *context);

/* Is the topic that of a sample, for any codec? Any thread. */
bool codec_is_sample(const struct codec_set *set, const char *prefix, const char *topic);

/* Encodes in the codec's own words, or natively for messages to L1. False if the codec has no
 * such message; *message is then unspecified. */
bool codec_encode(const struct codec *codec, const struct codec_out *out,
                  struct codec_message *message);

/* Begins an event of this message for this pair and side, with its own part all zero. DUP,
 * packet id and payload identify redelivered messages, as for native ones. (codec_event.c) */
void codec_begin_event(struct event *event, const struct codec_pair *pair,
                       const struct message *message, enum event_kind kind, enum side side);

/* Emits EVENT_MALFORMED for a message `what`: where the fault is, and what would be right. */
void codec_malformed(const struct codec_pair *pair, const struct message *message,
                     enum side side, const char *what, const struct codec_sink *sink,
                     enum fault fault, const char *format, ...) PRINTF_LIKE(7, 8);

/* Emits an event. If commands and replies are republished, their payload (raw) is written
 * natively. */
void codec_emit(const struct codec_pair *pair, struct event *event,
                const struct codec_sink *sink);

/* The daemon writes these lines into its own journal, under "<prefix>/$lab/": start, stop,
 * time, away, session, request, fit, gap. They belong to no codec and never come over MQTT. */
bool lab_line_is(const char *prefix, const char *topic);

/* "<prefix>/$lab/<what>" */
void lab_line_topic(const char *prefix, const char *what, char topic[MESSAGE_TOPIC_MAX]);

#endif
