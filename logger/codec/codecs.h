/* logger/codec/codecs.h - the table of codecs, and those that the pairs of a lab speak.
 *
 * Every line of a journal, and every message that comes in, is read by codec_decode(). Pure.
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

/* By name; NULL when there is none. */
const struct codec *codec_find(const char *name);

/* The codecs that the pairs of a lab speak. */
struct codec_set {
    const struct codec *codec[CODECS_MAX];
    size_t count;
    /* The codec that may tell of this event, by its pair; NULL when there is no such pair.
     * Asked only when count > 1, of codecs under the prefix. */
    const struct codec *(*speaks)(const void *context, const struct event *event);
    /* The k-th pair with a foreign codec; false when there are no more. NULL: there is none. */
    bool (*foreign)(const void *context, size_t k, struct codec_pair *pair);
    /* Which of them may have this topic; false: any may. Any thread. NULL: any may. */
    bool (*addressed)(const void *context, const char *topic, struct topic_hits *hits);
    /* Told by codec_read_plain(), or by who reads ahead, with the context; NULL: nobody is. */
    message_coming *coming;
    const void *context;
    struct codec_sink
        sink; /* send, send_context and room of foreign codecs, set by the owner */
};

/* Decode one message under the prefix: by the codecs of the set, or by the first of the table
 * that listens to its topic when set is NULL. What a codec says of a pair that speaks another
 * one is passed over. The daemon's own lines are read here, too. Returns the
 * number of events; 0: nobody listens to the topic. */
size_t codec_decode(const struct codec_set *set, const char *prefix,
                    const struct message *message, event_emit *emit, void *context);

/* The same of a whole line of a journal, read in one go, where that is possible: true when its
 * event was emitted. False: nothing was, and message_parse() and codec_decode() tell what the
 * line is. Changes nothing that codecs remember. */
bool codec_read_plain(const struct codec_set *set, const char *prefix, const char *line,
                      size_t bytes, event_emit *emit, void *context);

/* Is the topic that of a sample, for any of them? Any thread. */
bool codec_is_sample(const struct codec_set *set, const char *prefix, const char *topic);

/* In the words of the codec: its own, or those of the native protocol for what goes to L1.
 * False when it has no such message; *message is unspecified then. */
bool codec_encode(const struct codec *codec, const struct codec_out *out,
                  struct codec_message *message);

/* codec_event.c. An event of this message, of a foreign codec: of this pair and side, its part
 * all zero. DUP, packet id and payload tell, as of native messages, what was here before. */
void codec_begin_event(struct event *event, const struct codec_pair *pair,
                       const struct message *message, enum event_kind kind, enum side side);

/* Emit EVENT_MALFORMED of a message `what`: where, and what would be right. */
void codec_malformed(const struct codec_pair *pair, const struct message *message,
                     enum side side, const char *what, const struct codec_sink *sink,
                     enum fault fault, const char *format, ...) PRINTF_LIKE(7, 8);

/* Emit it; a command's or reply's payload (raw), where it is told on, is put natively. */
void codec_emit(const struct codec_pair *pair, struct event *event,
                const struct codec_sink *sink);

/* The lines that the daemon writes into its own journal, under "<prefix>/$lab/": start, stop,
 * time, away, session, request, fit, gap. They belong to no codec and never come over MQTT. */
bool lab_line_is(const char *prefix, const char *topic);

/* "<prefix>/$lab/<what>" */
void lab_line_topic(const char *prefix, const char *what, char topic[MESSAGE_TOPIC_MAX]);

#endif
