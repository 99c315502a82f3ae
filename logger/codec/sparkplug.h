/* logger/codec/sparkplug.h - Sparkplug B: what the messages of an edge node and its devices
 * say, and what has to be remembered to understand them.
 *
 * Eclipse Sparkplug 3.0.0, sections 4 to 6. A birth (NBIRTH, DBIRTH) gives metrics their names
 * and aliases, data after it may name the alias alone. All messages of a node but its death
 * count in `seq`, 0 to 255; its death tells by `bdSeq` which birth it ends. The payload is
 * protobuf, read here in some 90 lines: nanopb and protobuf-c need compilers of their own at
 * build time, and protobuf-c allocates for each message. Pure: no I/O, no clock, no allocation.
 */
#ifndef LOGGER_CODEC_SPARKPLUG_H
#define LOGGER_CODEC_SPARKPLUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"
#include "base/text/names.h"

enum {
    SPARKPLUG_METRICS_MAX = 256, /* of a device, and of one message */
    SPARKPLUG_NAMES_MAX = 8192,  /* bytes of a device's names of metrics */
    SPARKPLUG_TEXT_MAX = 32      /* bytes of a text that is remembered with its NUL */
};

/* ---- topics: spBv1.0/<group>/<kind>/<node>[/<device>] ---- */

/* clang-format off */
#define SPARKPLUG_KINDS(X)                                                                     \
    X(SPARKPLUG_NBIRTH, "NBIRTH") X(SPARKPLUG_NDATA, "NDATA") X(SPARKPLUG_NDEATH, "NDEATH")    \
    X(SPARKPLUG_NCMD, "NCMD") X(SPARKPLUG_DBIRTH, "DBIRTH") X(SPARKPLUG_DDATA, "DDATA")        \
    X(SPARKPLUG_DDEATH, "DDEATH") X(SPARKPLUG_DCMD, "DCMD")
/* clang-format on */

enum sparkplug_kind { SPARKPLUG_KINDS(NAMES_VALUE) SPARKPLUG_KIND_COUNT };

extern const struct names sparkplug_kind_names;
const char *sparkplug_kind_name(enum sparkplug_kind kind);

/* [bytes] not terminated. */
struct sparkplug_text {
    const char *at;
    size_t bytes;
};

struct sparkplug_topic {
    enum sparkplug_kind kind;
    struct sparkplug_text group, node, device; /* device.bytes 0: the node itself */
};

/* False when it is none. *topic borrows from text. */
bool sparkplug_topic_read(const char *text, struct sparkplug_topic *topic);

/* ---- values ---- */

enum sparkplug_value_kind {
    SPARKPLUG_NULL, /* there is none, or none that is a number or text */
    SPARKPLUG_REAL,
    SPARKPLUG_WHOLE,
    SPARKPLUG_TRUTH, /* whole is 0 or 1 */
    SPARKPLUG_TEXT
};

struct sparkplug_value {
    enum sparkplug_value_kind kind;
    double real;
    int64_t whole; /* an unsigned one beyond INT64_MAX is SPARKPLUG_REAL */
    struct sparkplug_text text;
};

/* One metric of a message, its name found. */
struct sparkplug_metric {
    struct sparkplug_text name;
    struct sparkplug_value value;
    int64_t stamp_ms; /* its own; that of the message when it has none */
};

/* ---- what is remembered; all zero at first ---- */

struct sparkplug_node {
    bool born, asked; /* asked: for a birth, at asked_us */
    uint8_t seq;      /* of the last message */
    uint64_t bd_seq;  /* of its birth */
    int64_t asked_us;
};

/* The metrics that a device was born with, and their values. */
struct sparkplug_device {
    bool overfull; /* there were more */
    uint32_t count, names_used;
    struct sparkplug_known {
        uint64_t alias;
        uint32_t name, name_bytes; /* in names */
        uint8_t type;              /* Sparkplug's, 1 … */
        bool has_alias;
        uint8_t kind; /* enum sparkplug_value_kind */
        uint8_t text_bytes;
        union {
            double real;
            int64_t whole;
            char text[SPARKPLUG_TEXT_MAX]; /* a longer one is not remembered */
        };
    } metric[SPARKPLUG_METRICS_MAX];
    char names[SPARKPLUG_NAMES_MAX];
};

/* The value of a metric by its name; SPARKPLUG_NULL when it is not known. Borrows from the
 * device. */
struct sparkplug_value sparkplug_held(const struct sparkplug_device *device,
                                      struct sparkplug_text name);

/* ---- messages ---- */

/* The metrics of one message. About 20 kB. */
struct sparkplug_metrics {
    size_t count;
    size_t unknown;         /* aliases that no birth told */
    uint64_t first_unknown; /* one of them */
    size_t left_out;        /* beyond SPARKPLUG_METRICS_MAX */
    struct sparkplug_metric metric[SPARKPLUG_METRICS_MAX];
};

/* The last one of this name; NULL: there is none. */
const struct sparkplug_metric *sparkplug_find(const struct sparkplug_metrics *metrics,
                                              struct sparkplug_text name);

/* What a message says, in this order. */
enum sparkplug_what {
    SPARKPLUG_MALFORMED, /* it cannot be read: fault */
    SPARKPLUG_UNBORN,    /* the node's birth was not heard: nothing else is told */
    SPARKPLUG_STALE,     /* a death of bd_seq, which is not the present birth's */
    SPARKPLUG_MISSING,   /* count messages of the node did not come */
    SPARKPLUG_ONLINE,    /* the device of place was born */
    SPARKPLUG_OFFLINE,   /* it is gone */
    SPARKPLUG_UNKNOWN,   /* count metrics of it go by aliases that no birth told: alias, one */
    SPARKPLUG_TOO_MANY,  /* count metrics of it are passed over */
    SPARKPLUG_VALUES     /* metrics of it; a command's are what is asked of it */
};

struct sparkplug_event {
    enum sparkplug_what what;
    size_t place; /* SIZE_MAX: it is the node's */
    const char *fault;
    uint64_t bd_seq, alias;
    size_t count;
    int64_t stamp_ms; /* the message's; -1: it has none */
    const struct sparkplug_metrics *metrics;
};

/* A device of a node that somebody listens to. */
struct sparkplug_place {
    struct sparkplug_text name;      /* bytes 0: the node itself */
    struct sparkplug_device *device; /* what is known of it */
};

/* Take in a message of a node, of whatever device. Old metrics ("historical") are passed over;
 * of data by exception the device holds what was not told again. Events are borrowed. */
void sparkplug_decode(struct sparkplug_node *node, const struct sparkplug_place *places,
                      size_t n, const struct sparkplug_topic *topic, const char *payload,
                      size_t bytes,
                      void (*emit)(void *context, const struct sparkplug_event *event),
                      void *context);

/* Does the message count as the last one did? One that a broker delivered twice says so by its
 * flag as well (MQTT's DUP). */
bool sparkplug_repeats(const struct sparkplug_node *node, enum sparkplug_kind kind,
                       const char *payload, size_t bytes);

/* ---- what goes out ---- */

/* Bytes of a payload of a command, at most; metrics one after the other. */
struct sparkplug_writer {
    char *out;
    size_t capacity, used;
    bool failed; /* there was no room */
};

void sparkplug_begin(struct sparkplug_writer *w, char *out, size_t capacity, int64_t t_us);
void sparkplug_append(struct sparkplug_writer *w, const char *name,
                      const struct sparkplug_value *value);

#endif
