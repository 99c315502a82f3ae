/* logger/message/payload.h - parses a JSON payload into an event, by a table of its members.
 *
 * Members that are not in the table are checked and skipped. A member given twice is refused,
 * because it is unclear which one is meant. Limits: MESSAGE_PAYLOAD_MAX bytes, nesting of
 * PAYLOAD_DEPTH_MAX, PAYLOAD_BATCH_MAX samples in one telemetry message, strings as in event.h.
 * Pure.
 */
#ifndef LOGGER_MESSAGE_PAYLOAD_H
#define LOGGER_MESSAGE_PAYLOAD_H

#include "base/errors/status.h"
#include "base/text/names.h"
#include "logger/message/event.h"
#include "logger/message/json_scan.h"
#include "logger/message/json_write.h"
#include "logger/message/message.h"

enum { PAYLOAD_DEPTH_MAX = 8, PAYLOAD_BATCH_MAX = 256 };

enum payload_type {
    PAYLOAD_WORD,  /* char[size]; longer ones are refused */
    PAYLOAD_ID,    /* char[size]; a number gives its plain text, null leaves it unchanged */
    PAYLOAD_STAMP, /* seconds, or {"sec","nanosec"}, to int64_t us; null leaves it unchanged */
    PAYLOAD_SIM,   /* the same, and a bool that is set if it is present */
    PAYLOAD_REAL,  /* double; min .. max if `expected` is set */
    PAYLOAD_WHOLE, /* uint32_t or int64_t, min .. max; fractions are truncated */
    PAYLOAD_NAME,  /* a word of `names`: an enum, int8_t or bool */
    PAYLOAD_FLAG,  /* true or false: int8_t */
    PAYLOAD_AXES,  /* at most EVENT_AXES_MAX numbers, and a size_t for their count */
    PAYLOAD_OTHER  /* parsed by the member's own function */
};

typedef bool payload_scanner(struct json_scan *s, struct event *e);

enum { PAYLOAD_STRAYS_MAX = 8 };

/* The members found in an object. */
struct payload_seen {
    unsigned members;                           /* bit k: row k of the table */
    size_t stray_count;                         /* members that are not in the table */
    struct json_text stray[PAYLOAD_STRAYS_MAX]; /* the first of them */
};

typedef bool payload_check(struct json_scan *s, struct event *e,
                           const struct payload_seen *seen);

struct payload_member {
    char name[JSON_NAME_MAX];
    bool required;
    enum payload_type type;
    size_t at, size; /* the event's member */
    size_t flag_at;  /* PAYLOAD_SIM, PAYLOAD_AXES: offset of the flag or count */
    double min, max;
    double absent; /* value if absent; stamps: LAB_TIME_NONE */
    const struct names *names;
    const char *expected; /* what would be right */
    payload_scanner *scan;
};

/* Offset and size of a member of struct event. */
#define PAYLOAD_IN(member)                                                                     \
    .at = offsetof(struct event, member), .size = sizeof((struct event *)0)->member
#define PAYLOAD_WITH_FLAG(member, mark)                                                        \
    PAYLOAD_IN(member), .flag_at = offsetof(struct event, mark)

/* One kind of message. */
struct payload_kind {
    const char *what; /* "command": for fault messages */
    enum event_kind kind;
    const struct payload_member *members; /* [count]; NULL: the payload has no members */
    size_t count;
    size_t bytes;         /* size of its part of the event, all zero apart from members */
    const char *missing;  /* message if a required member is absent; NULL: none is required */
    payload_check *check; /* called with the parsed object, or NULL */
};

/* Sets members, count and bytes for an event's part. */
#define PAYLOAD_PART(part, rows)                                                               \
    .members = (rows), .count = COUNT(rows), .bytes = sizeof((struct event *)0)->part

/* Sets everything but the part and the pair: when and how the message came. */
void payload_begin(struct event *e, const struct message *m, enum event_kind kind,
                   enum side side);

/* Sets the kind's part of the event to the values of absent members. */
void payload_clear(struct event *e, const struct payload_kind *kind);

/* Sets e->pair from a topic PREFIX/ID/WORD, whose last slash is given. False: it has another
 * form. */
bool payload_topic_pair(const char *prefix, const char *topic, const char *slash,
                        struct event *e);

/* Decodes the payload of a message into events of the kind and side. The caller sets e->pair;
 * the rest of *e is overwritten. Telemetry may be a list of samples. Returns the number of
 * events. A payload against the protocol gives EVENT_MALFORMED, never silence. */
size_t payload_decode(const struct payload_kind *kind, enum side side,
                      const struct message *message, struct event *e, event_emit *emit,
                      void *context);

/* For checks: parses the object of s once more with the table of another kind, whose members
 * only matter now that the rest is known. Its `bytes` are not cleared before. Faults are set in
 * the scanner. */
bool payload_scan_more(struct json_scan *s, struct event *e, const struct payload_kind *kind);

/* Writes the members of a part, such as a struct event_command, in the order of the table:
 * those present or required. The caller writes PAYLOAD_OTHER. */
void payload_write(struct json_writer *w, const struct payload_kind *kind, const void *part);

#endif
