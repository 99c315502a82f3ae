/* logger/message/codec.h - the interface of a codec: messages of robots to events, and outgoing
 * data to messages.
 *
 * A codec is one file and one row in codecs.c; a pair's codec is set in the lab file. There are
 * two kinds.
 *
 * A codec under the prefix (`decode`, `encode`) reads topics that name the pair, below the
 * lab's prefix. It has no state and depends only on the message.
 *
 * A foreign codec (`receive`) reads topics of any name, which its options map to a pair and a
 * side. Its protocol state is part of the pair's state in the lab: it is in the checkpoint, and
 * the same in every replay. So only the lab may let it receive a message, in the order of
 * journal lines, and its outgoing messages go through the lab. Only robots use it: L1's
 * commands to the pair (link mode) and the replies to L1 are native.
 *
 * Pure: no I/O, no clock, no allocation.
 */
#ifndef LOGGER_MESSAGE_CODEC_H
#define LOGGER_MESSAGE_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "logger/message/event.h"
#include "logger/message/message.h"

enum {
    CODEC_NAME_MAX = 16,    /* bytes of its name with its NUL */
    CODEC_TOPICS_MAX = 16,  /* filters of one codec */
    CODEC_RIGHTS_MAX = 24,  /* rights of one codec */
    CODEC_PREFIX_MAX = 128, /* bytes of a prefix with its NUL */
    CODEC_OWN_BYTES = 256,  /* options of all codecs together */
    CODEC_ADDRESS_MAX = 128 /* bytes of a robot's identity in its protocol */
};

struct codec;
struct mapping;

/* Kinds of outgoing messages. */
enum codec_kind {
    CODEC_COMMAND,    /* to one robot; side SIDE_COUNT: in L1's form */
    CODEC_REPLY,      /* the merged reply, to L1 */
    CODEC_NOTICE,     /* to L1: the two replies differ */
    CODEC_PARAMETERS, /* to the simulator */
    CODEC_POSE,       /* the real robot's pose, to the simulator */
    CODEC_CONTROL,    /* an effort, to the simulator */
    CODEC_PROBE,      /* to a robot's clock */
    CODEC_ANSWER,     /* from its team to a robot with its own controller: codec_out.answer */
    CODEC_KIND_COUNT
};

/* An option of one codec: a key of the lab file, for pairs with this codec. */
enum codec_option_type {
    CODEC_TEXT,   /* char[size]; min: least number of characters */
    CODEC_FLAG,   /* bool */
    CODEC_CHOICE, /* uint8_t: position in choices */
    CODEC_WHOLE   /* an integer of size 1, 2, 4 or 8 */
};

struct codec_option {
    const char *key;
    enum codec_option_type type;
    const char *fallback; /* default as the file would give it */
    const char *choices;  /* "a|b|c" for CODEC_CHOICE */
    double min, max;
    size_t offset, size; /* place and size in the struct of the codec's options */
    const char *help;    /* one sentence, which begins with the codec's name */
};

/* Options of the lab file for a pair's codec. */
struct codec_options {
    char pair[EVENT_PAIR_MAX];                   /* id of the pair */
    char address[SIDE_COUNT][CODEC_ADDRESS_MAX]; /* "acme/amr-01"; "": none */
    const struct mapping *mapping; /* a table of mapping.h, borrowed; NULL: none */
    /* The options of each codec's own table, one codec after the other: codec_own_at(). */
    _Alignas(max_align_t) unsigned char own[CODEC_OWN_BYTES];
};

/* The pair that a foreign codec works for. */
struct codec_pair {
    const struct codec *codec;
    const char *prefix, *id;
    const char *team, *robot; /* its team, and its name in it; NULL: none */
    const struct codec_options *options;
    void *state; /* [codec->state_bytes] all zero at first; NULL: none, or not available */
    uint8_t active_side; /* enum side: the team's robot, the real one if there is one */
    bool repeated; /* events are republished, so commands and replies need a payload (raw) */
};

/* A sink that retains the newest event: context is a struct event. */
static inline void codec_copy_event(void *context, const struct event *event)
{
    *(struct event *)context = *event;
}

/* A team's answer to a Lock. */
struct codec_answer {
    const char *id;    /* id of the request */
    const char *grant; /* "GRANTED", "QUEUED", "REVOKED", "REJECTED" */
    size_t count;      /* 0: all requested resources */
    struct {
        const char *name;
        int64_t fence;     /* 0: none */
        int64_t expiry_us; /* end of its lease; LAB_TIME_MAX: none */
    } resource[EVENT_TEAM_WANT_MAX];
};

struct codec_out {
    enum codec_kind kind;
    const char *pair;
    enum side side;
    const char *payload; /* [bytes] in the native protocol; codec_native.h parses it */
    size_t bytes;
    int64_t t_us;                      /* lab time */
    const struct codec_answer *answer; /* CODEC_ANSWER, which has no payload */
    const struct codec_pair *to;       /* foreign codecs only; may change its state */
};

struct codec_message {
    char topic[MESSAGE_TOPIC_MAX]; /* below the prefix, except for foreign codecs */
    bool whole;                    /* the topic is complete, without prefix */
    const char *payload;           /* [bytes] that of the codec_out, or room */
    size_t bytes;
    char room[4096]; /* for a payload in another form */
};

/* Receives the results of a foreign codec. */
struct codec_sink {
    event_emit *emit; /* for events; e->raw and the like are borrowed for the call */
    void *context;
    /* Sends a message to a robot: a copy of an order, an answer. NULL in replay, where nothing
     * is sent; the codec's state must not depend on it. */
    void (*send)(void *context, const char *pair, const char *topic, const char *payload,
                 size_t bytes);
    void *send_context;
    char *room; /* [room_bytes] for outgoing payloads, NULL with send */
    size_t room_bytes;
};

struct codec_topic {
    const char *filter; /* MQTT filter below the prefix: "+/command" */
    int qos;            /* 0: a stream of samples, which may be lost while the daemon is away */
};

/* MQTT users of a pair, apart from the daemon. */
enum codec_party {
    CODEC_ROBOT,     /* of either side */
    CODEC_SIMULATOR, /* the virtual robot, in addition to the rights of robots */
    CODEC_L1,        /* sends the commands */
    CODEC_PARTY_COUNT
};

/* A party's right to write a topic, else to read it. The first '+' of the topic stands for its
 * pair, the second for its side; '#' as in MQTT. */
struct codec_right {
    enum codec_party party;
    bool writes;
    const char *topic; /* below the prefix */
};

/* One topic, or filter, of a pair's robots, in MQTT syntax. */
struct codec_place {
    char filter[MESSAGE_TOPIC_MAX];
    int qos;         /* for the subscription; 0: samples only */
    enum side side;  /* owner; SIDE_COUNT: both */
    bool from_robot; /* that side writes it and L1 reads it; else vice versa */
    bool silent; /* the daemon need not subscribe: another filter covers it, or nobody needs it
                  */
};

struct codec {
    const char *name, *help;
    const struct codec_option *options;          /* [option_count] its own; NULL: none */
    size_t option_count, option_bytes;           /* option_bytes: size of their struct */
    struct codec_topic topics[CODEC_TOPICS_MAX]; /* ends at the first without a filter */
    struct codec_right rights[CODEC_RIGHTS_MAX]; /* up to the first without a topic */
    /* Only for a codec under the prefix, else NULL. Decodes one message under the prefix; calls
     * emit 0..n times. Returns the number of events; 0: the codec does not know the topic. A
     * message against the protocol gives EVENT_MALFORMED with the place and what would be
     * right. */
    size_t (*decode)(const char *prefix, const struct message *message, event_emit *emit,
                     void *context);
    /* decode gives at most one event for a payload in braces. Any event but EVENT_MALFORMED
     * implies that it has parsed the whole payload as JSON. It reads no topic of teams
     * (+/request, +/job). */
    bool reads_whole;
    /* Is the topic that of a stream of samples, none of which anybody waits for? */
    bool (*is_sample)(const char *prefix, const char *topic);

    /* Only for a foreign codec, else NULL. Decodes any message for one of its pairs: false if
     * the topic does not belong to that pair's robots. A message against the protocol gives
     * EVENT_MALFORMED. */
    bool (*receive)(const struct codec_pair *pair, const struct message *message,
                    const struct codec_sink *sink);
    size_t state_bytes;           /* per pair */
    const struct codec *fallback; /* codec that its robots may use as well; NULL: none */
    /* Gets the k-th topic of a pair's robots; false if there are no more. */
    bool (*place)(const struct codec_options *options, size_t k, struct codec_place *place);
    /* Is the topic that of this pair's samples? Any thread. NULL: it has none. */
    bool (*streams)(const struct codec_options *options, const char *topic);
    /* Returns what would be right for the key *key; NULL: the options are valid. May be
     * NULL. */
    const char *(*check)(const struct codec_options *options, const char **key);
    /* Encodes an outgoing message; false, with *message unspecified, if the protocol has no
     * such message. May be NULL. For a foreign codec, call it through codec_encode() only. */
    bool (*encode)(const struct codec_out *out, struct codec_message *message);
};

#endif
