/* logger/message/codec.h - what a codec is: the messages of robots to events, and what goes out
 * to them to messages.
 *
 * A codec is one file and one row in codecs.c; a pair says in the lab file which one it speaks.
 * There are two sorts.
 *
 * One under the prefix (`decode`, `encode`) reads topics that name the pair, below the lab's
 * prefix, and remembers nothing: it works on what the bytes say.
 *
 * A foreign one (`hear`) reads topics of any name, which its options lead to a pair and a side.
 * What its protocol has to remember stands in the pair's state, in the lab's block: in the
 * checkpoint, and the same in every replay. So a message is heard where the lab takes a line
 * in, in their order, and by nobody else; what it sends goes out by the same way. Only robots
 * speak it: L1's commands to the pair (link mode), and the replies to L1, are native.
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
    CODEC_INTERFACE_MAX = 64,
    CODEC_ADDRESS_MAX = 128 /* of who a robot is, in the words of its protocol */
};

struct codec;
struct mapping;

/* What goes out to a pair. */
enum codec_kind {
    CODEC_COMMAND,    /* to one robot; side SIDE_COUNT: as L1 sends it */
    CODEC_REPLY,      /* the merged one, to L1 */
    CODEC_NOTICE,     /* to L1: the two replies differ */
    CODEC_PARAMETERS, /* to the simulator */
    CODEC_POSE,       /* where the simulated robot stands, to the simulator */
    CODEC_CONTROL,    /* an effort, to the simulator */
    CODEC_PROBE,      /* of a robot's clock */
    CODEC_ANSWER,     /* of its team, to a robot that asks for itself: codec_out.answer */
    CODEC_KIND_COUNT
};

/* Does a vehicle turn before it drives along an edge? */
enum codec_turns { CODEC_TURNS_NONE, CODEC_TURNS_ON_SPOT };

/* What the velocity of a vehicle is told in: its own frame, as VDA 5050 has it, that of the
 * map, or a speed alone (forwards). */
enum codec_frame { CODEC_FRAME_VEHICLE, CODEC_FRAME_WORLD, CODEC_FRAME_SPEED };

/* What the lab file says of a pair's robots for its codec. Each codec reads its own; a row in
 * config/labfile/lab_options.c each, and one in codec_keys of config/labfile/lab_check.c. */
struct codec_options {
    char pair[EVENT_PAIR_MAX];                   /* whose they are */
    char address[SIDE_COUNT][CODEC_ADDRESS_MAX]; /* "acme/amr-01"; "": none */
    const struct mapping *mapping;       /* a table, of mapping.h; borrowed; NULL: none */
    char interface[CODEC_INTERFACE_MAX]; /* vda5050: first level of its topics */
    bool mirror;                         /* the twin gets a copy of each order */
    uint8_t turns;                       /* enum codec_turns */
    uint8_t velocity_frame;              /* enum codec_frame */
};

/* The pair that a foreign codec speaks for. */
struct codec_pair {
    const struct codec *codec;
    const char *prefix, *id;
    const char *team, *robot; /* in which it is whom; NULL: in none */
    const struct codec_options *options;
    void *state; /* [codec->state_bytes] all zero at first; NULL: not at hand, or none */
    uint8_t active_side; /* enum side: who of the pair is its team's robot: the real one, if any
                            is */
    bool repeated; /* events are told on as payloads: commands, replies need theirs (raw) */
};

/* What a team answers to a Lock. */
struct codec_answer {
    const char *id;    /* of the request */
    const char *grant; /* "GRANTED", "QUEUED", "REVOKED", "REJECTED" */
    size_t count;      /* 0: of all that was asked for */
    struct {
        const char *name;
        int64_t fence; /* 0: none */
    } resource[EVENT_TEAM_WANT_MAX];
    int64_t expiry_us; /* of its lease; LAB_TIME_MAX: none */
};

struct codec_out {
    enum codec_kind kind;
    const char *pair;
    enum side side;
    const char *payload; /* [bytes] of the native protocol: codec_native.h reads it back */
    size_t bytes;
    int64_t t_us;                      /* lab time */
    const struct codec_answer *answer; /* CODEC_ANSWER, which has no payload */
    const struct codec_pair *to;       /* of foreign codecs; its state may be changed */
};

struct codec_message {
    char topic[MESSAGE_TOPIC_MAX]; /* below the prefix, but for foreign codecs */
    bool whole;                    /* it is not below the prefix */
    const char *payload;           /* [bytes] that of the codec_out, or room */
    size_t bytes;
    char room[4096]; /* for a payload that is put differently */
};

/* Where a foreign codec says what it heard. */
struct codec_sink {
    event_emit *emit; /* events: e->raw and the like are borrowed for the call */
    void *context;
    /* A message to a robot: a copy of an order, an answer. NULL where nothing is sent (replay):
     * what is remembered must not depend on it. */
    void (*send)(void *context, const char *pair, const char *topic, const char *payload,
                 size_t bytes);
    void *send_context;
    char *room; /* [room_bytes] for what is sent, NULL with send */
    size_t room_bytes;
};

struct codec_topic {
    const char *filter; /* of MQTT, below the prefix: "+/command" */
    int qos; /* 0: a stream, of samples alone; what is missed while the daemon is away is
                gone */
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

/* One topic, or filter, of a pair's robots, as MQTT has it. */
struct codec_place {
    char filter[MESSAGE_TOPIC_MAX];
    int qos;         /* to subscribe with; 0: samples alone come */
    enum side side;  /* whose it is; SIDE_COUNT: of both */
    bool from_robot; /* that side writes it and L1 reads it; else the other way round */
    bool silent; /* the daemon need not hear it: another filter has it, or nobody wants it */
};

struct codec {
    const char *name, *help;
    struct codec_topic topics[CODEC_TOPICS_MAX]; /* to subscribe to; the first without a filter
                                                    ends them */
    struct codec_right rights[CODEC_RIGHTS_MAX]; /* the first without a topic ends them */
    /* Of a codec under the prefix; NULL of foreign ones. Decode one message under the prefix;
     * calls emit 0..n times. Returns the number of events; 0 means that the topic is not one
     * that the codec listens to. What is not of the protocol becomes EVENT_MALFORMED with the
     * place and what would be right. */
    size_t (*decode)(const char *prefix, const struct message *message, event_emit *emit,
                     void *context);
    /* Of a payload that is an object by its brackets decode says one thing at most, and
     * anything but EVENT_MALFORMED only when it has read the whole of it, and it is JSON; and
     * it reads no topic of teams (+/request, +/job). */
    bool reads_whole;
    /* Is it, by its topic, one sample out of a stream, which nobody waits for? */
    bool (*is_sample)(const char *prefix, const char *topic);

    /* Of a foreign codec; NULL of others. Any message, for one of its pairs: false when the
     * topic is not one of that pair's robots. What is not of the protocol becomes
     * EVENT_MALFORMED. */
    bool (*receive)(const struct codec_pair *pair, const struct message *message,
                    const struct codec_sink *sink);
    size_t state_bytes;           /* of each pair */
    const struct codec *fallback; /* what its robots may speak as well; NULL: nothing else */
    /* The k-th topic of a pair's robots; false when there are no more. */
    bool (*place)(const struct codec_options *options, size_t k, struct codec_place *place);
    /* Is it, by its topic, a sample of this pair's? Any thread. NULL: it has none. */
    bool (*streams)(const struct codec_options *options, const char *topic);
    /* What would be right, of the key *key; NULL: the options are. NULL: any are. */
    const char *(*check)(const struct codec_options *options, const char **key);
    /* False, with *message unspecified, when the protocol has no such message. NULL: it has
     * none. Of a foreign codec by codec_encode() only. */
    bool (*encode)(const struct codec_out *out, struct codec_message *message);
};

#endif
