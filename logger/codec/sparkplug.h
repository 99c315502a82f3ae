/* logger/codec/sparkplug.h - Sparkplug B: decodes the messages of edge nodes and devices, and
 * retains what later messages refer to.
 *
 * Eclipse Sparkplug 3.0.0, sections 4 to 6. A birth (NBIRTH, DBIRTH) gives metrics their names
 * and aliases; later data may carry the alias alone. All messages of a node except its death
 * count in `seq`, 0 to 255. A death names in `bdSeq` the birth that it ends. The payload is
 * protobuf, which some 90 lines decode here: nanopb and protobuf-c need their own compilers at
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
    SPARKPLUG_METRICS_MAX = 256, /* per device, and per message */
    SPARKPLUG_NAMES_MAX = 8192,  /* bytes of all metric names of a device */
    SPARKPLUG_TEXT_MAX = 32      /* bytes of a stored text with its NUL */
};

/* ---- topics: spBv1.0/<group>/<kind>/<node>[/<device>] ---- */

/* clang-format off */
#define SPARKPLUG_KINDS(X)                                                                     \
    X(SPARKPLUG_NBIRTH, "NBIRTH") X(SPARKPLUG_NDATA, "NDATA") X(SPARKPLUG_NDEATH, "NDEATH")    \
    X(SPARKPLUG_NCMD, "NCMD") X(SPARKPLUG_DBIRTH, "DBIRTH") X(SPARKPLUG_DDATA, "DDATA")        \
    X(SPARKPLUG_DDEATH, "DDEATH") X(SPARKPLUG_DCMD, "DCMD")
/* clang-format on */

enum sparkplug_kind { SPARKPLUG_KINDS(NAMES_VALUE) SPARKPLUG_KIND_COUNT };

ENUM_NAMES_DECLARED(sparkplug_kind);

/* [bytes] not terminated. */
struct sparkplug_text {
    const char *at;
    size_t bytes;
};

bool sparkplug_text_same(struct sparkplug_text a, struct sparkplug_text b);

struct sparkplug_topic {
    enum sparkplug_kind kind;
    struct sparkplug_text group, node, device; /* device.bytes 0: the node itself */
};

/* False if it is not a Sparkplug topic. *topic borrows from text. */
bool sparkplug_topic_read(const char *text, struct sparkplug_topic *topic);

/* ---- values ---- */

enum sparkplug_value_kind {
    SPARKPLUG_NULL, /* null, or neither a number nor a text */
    SPARKPLUG_REAL,
    SPARKPLUG_WHOLE,
    SPARKPLUG_TRUTH, /* `whole` is 0 or 1 */
    SPARKPLUG_TEXT,
    SPARKPLUG_NONE /* unknown, or a text too long to be stored */
};

struct sparkplug_value {
    enum sparkplug_value_kind kind;
    double real;
    int64_t whole; /* unsigned values beyond INT64_MAX are SPARKPLUG_REAL */
    struct sparkplug_text text;
};

/* One metric of a message, with its name resolved. */
struct sparkplug_metric {
    struct sparkplug_text name;
    struct sparkplug_value value;
    int64_t stamp_ms; /* the metric's own stamp, else the message's */
};

/* ---- retained state; all zero at first ---- */

struct sparkplug_node {
    bool born, asked; /* asked: a birth was requested, at asked_us */
    uint8_t seq;      /* of the last message */
    bool counts;      /* it has sent a seq since its birth */
    uint64_t bd_seq;  /* of the present birth */
    int64_t asked_us;
};

/* The metrics that a device declared in its birth, and their last values. */
struct sparkplug_device {
    bool overfull; /* some metrics did not fit */
    uint32_t count, names_used;
    struct sparkplug_known {
        uint64_t alias;
        uint32_t name, name_bytes; /* position in names */
        uint8_t type;              /* Sparkplug data type, 1 … */
        bool has_alias;
        uint8_t kind; /* enum sparkplug_value_kind */
        uint8_t text_bytes;
        union {
            double real;
            int64_t whole;
            char text[SPARKPLUG_TEXT_MAX]; /* longer texts are not stored */
        };
    } metric[SPARKPLUG_METRICS_MAX];
    char names[SPARKPLUG_NAMES_MAX];
};

/* Returns the last value of a metric by its name; SPARKPLUG_NONE if unknown. Borrows from the
 * device. */
struct sparkplug_value sparkplug_held(const struct sparkplug_device *device,
                                      struct sparkplug_text name);

/* ---- messages ---- */

/* The metrics of one message. About 20 kB. */
struct sparkplug_metrics {
    size_t count;
    size_t unknown;         /* number of aliases that no birth declared */
    uint64_t first_unknown; /* one of them */
    size_t left_out;        /* metrics beyond SPARKPLUG_METRICS_MAX */
    struct sparkplug_metric metric[SPARKPLUG_METRICS_MAX];
};

/* Returns the last metric of this name; NULL: none. */
const struct sparkplug_metric *sparkplug_find(const struct sparkplug_metrics *metrics,
                                              struct sparkplug_text name);

/* The events of a message, in this order. */
enum sparkplug_what {
    SPARKPLUG_MALFORMED, /* it cannot be decoded: see fault */
    SPARKPLUG_UNBORN,    /* the node's birth has not been received: no other events */
    SPARKPLUG_STALE,     /* a death of bd_seq, which is not the present birth */
    SPARKPLUG_MISSING,   /* count messages of the node were lost */
    SPARKPLUG_ONLINE,    /* the device of place is online */
    SPARKPLUG_OFFLINE,   /* the device is offline */
    SPARKPLUG_UNKNOWN,   /* count of its metrics use unknown aliases; alias is one of them */
    SPARKPLUG_TOO_MANY,  /* count of its metrics were dropped */
    SPARKPLUG_VALUES     /* its metrics; in a command, the requested values */
};

struct sparkplug_event {
    enum sparkplug_what what;
    size_t place; /* SIZE_MAX: concerns the node itself */
    const char *fault;
    uint64_t bd_seq, alias;
    size_t count;
    int64_t stamp_ms; /* the message's; -1: absent */
    const struct sparkplug_metrics *metrics;
};

/* A device (or node) that belongs to a robot. */
struct sparkplug_place {
    struct sparkplug_text name;      /* bytes 0: the node itself */
    struct sparkplug_device *device; /* its retained state */
};

/* Decodes a message of a node, of whatever device. Historical metrics are skipped. Sparkplug
 * reports by exception, so the device retains values that are not sent again. Events are
 * borrowed. */
void sparkplug_decode(struct sparkplug_node *node, const struct sparkplug_place *places,
                      size_t n, const struct sparkplug_topic *topic, const char *payload,
                      size_t bytes,
                      void (*emit)(void *context, const struct sparkplug_event *event),
                      void *context);

/* Does the message bear the same seq as the last one? MQTT's DUP flag also marks a message that
 * a broker delivered twice. */
bool sparkplug_repeats(const struct sparkplug_node *node, enum sparkplug_kind kind,
                       const char *payload, size_t bytes);

/* ---- outgoing messages ---- */

/* Maximum bytes of a command's payload; metrics are appended one by one. */
struct sparkplug_writer {
    char *out;
    size_t capacity, used;
    bool failed; /* it did not fit */
};

void sparkplug_begin(struct sparkplug_writer *w, char *out, size_t capacity, int64_t t_us);
void sparkplug_append(struct sparkplug_writer *w, const char *name,
                      const struct sparkplug_value *value);

#endif
