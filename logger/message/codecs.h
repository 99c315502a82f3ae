/* logger/message/codecs.h - the table of codecs, and those that the pairs of a lab speak.
 *
 * Every line of a journal, and every message that comes in, is read by codec_decode(). Pure.
 */
#ifndef LOGGER_MESSAGE_CODECS_H
#define LOGGER_MESSAGE_CODECS_H

#include "logger/message/codec.h"

#define CODEC(row) extern const struct codec row;
#include "logger/message/codecs.def"
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
    /* The codec of a pair, NULL when there is no such pair. Asked only when count > 1. */
    const struct codec *(*speaks)(const void *context, const char *pair);
    const void *context;
};

/* Decode one message under the prefix: by the codecs of the set, or by the first of the table
 * that listens to its topic when set is NULL. What a codec says of a pair that speaks another
 * one is passed over. The daemon's own lines are read here, too. Returns the
 * number of events; 0: nobody listens to the topic. */
size_t codec_decode(const struct codec_set *set, const char *prefix,
                    const struct message *message, event_emit *emit, void *context);

/* The lines that the daemon writes into its own journal, under "<prefix>/$lab/": start, stop,
 * away, session, request, fit, gap. They belong to no codec and never come over MQTT. */
bool lab_line_is(const char *prefix, const char *topic);

/* "<prefix>/$lab/<what>" */
void lab_line_topic(const char *prefix, const char *what, char topic[MESSAGE_TOPIC_MAX]);

#endif
