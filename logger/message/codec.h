/* logger/message/codec.h - what a codec is: the messages of robots to events, and what goes out
 * to them to messages.
 *
 * A codec is one file and one row in codecs.c; a pair says in the lab file which one it speaks.
 * It works on what the bytes say: what a protocol has to remember is for the lab. Topics are
 * those below the lab's prefix. Pure: no I/O, no clock, no allocation.
 */
#ifndef LOGGER_MESSAGE_CODEC_H
#define LOGGER_MESSAGE_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "logger/message/event.h"
#include "logger/message/message.h"

enum {
    CODEC_NAME_MAX = 16,   /* bytes of its name with its NUL */
    CODEC_TOPICS_MAX = 16, /* filters of one codec */
    CODEC_RIGHTS_MAX = 24, /* rights of one codec */
    CODEC_PREFIX_MAX = 128 /* bytes of a prefix with its NUL */
};

/* What goes out to a pair. */
enum codec_kind {
    CODEC_COMMAND,    /* to one robot; side SIDE_COUNT: as L1 sends it */
    CODEC_REPLY,      /* the merged one, to L1 */
    CODEC_NOTICE,     /* to L1: the two replies differ */
    CODEC_PARAMETERS, /* to the simulator */
    CODEC_POSE,       /* where the simulated robot stands, to the simulator */
    CODEC_CONTROL,    /* an effort, to the simulator */
    CODEC_PROBE,      /* of a robot's clock */
    CODEC_KIND_COUNT
};

struct codec_out {
    enum codec_kind kind;
    const char *pair;
    enum side side;
    const char *payload; /* [bytes] of the native protocol: codec_native.h reads it back */
    size_t bytes;
};

struct codec_message {
    char topic[MESSAGE_TOPIC_MAX]; /* below the prefix */
    const char *payload;           /* [bytes] that of the codec_out, or room */
    size_t bytes;
    char room[4096]; /* for a payload that is put differently */
};

struct codec_topic {
    const char *filter; /* of MQTT, below the prefix: "+/command" */
    int qos;            /* 0: a stream; what is missed while the daemon is away is gone */
};

/* Who speaks for a pair at the broker, beside the daemon. */
enum codec_party {
    CODEC_ROBOT,     /* of either side */
    CODEC_SIMULATOR, /* the virtual robot, beside what every robot may */
    CODEC_L1,        /* who commands */
    CODEC_PARTY_COUNT
};

/* What a party may write, else read. The first '+' of the topic stands for its pair, the second
 * for its side; '#' as MQTT has it. */
struct codec_right {
    enum codec_party party;
    bool writes;
    const char *topic; /* below the prefix */
};

struct codec {
    const char *name, *help;
    struct codec_topic topics[CODEC_TOPICS_MAX]; /* to subscribe to; the first without a filter
                                                    ends them */
    struct codec_right rights[CODEC_RIGHTS_MAX]; /* the first without a topic ends them */
    /* Decode one message under the prefix; calls emit 0..n times. Returns the number of events;
     * 0 means that the topic is not one that the codec listens to. What is not of the protocol
     * becomes EVENT_MALFORMED with the place and what would be right. */
    size_t (*decode)(const char *prefix, const struct message *message, event_emit *emit,
                     void *context);
    /* Is it, by its topic, one sample out of a stream, which nobody waits for? */
    bool (*is_sample)(const char *prefix, const char *topic);
    /* False, with *message unspecified, when the protocol has no such message. */
    bool (*encode)(const struct codec_out *out, struct codec_message *message);
};

#endif
