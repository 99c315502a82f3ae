/* logger/message/payload.h - a payload of JSON into an event, by a table of its members.
 *
 * Members that are not in the table are checked and passed over; one given twice is refused:
 * which of the two is meant? Limits: MESSAGE_PAYLOAD_MAX bytes, nesting of PAYLOAD_DEPTH_MAX,
 * PAYLOAD_BATCH_MAX samples in one telemetry message, strings as in event.h. Pure.
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
    PAYLOAD_ID,    /* char[size]; a number's text is taken, null leaves it */
    PAYLOAD_STAMP, /* seconds, or {"sec","nanosec"}, to int64_t us; null leaves it */
    PAYLOAD_SIM,   /* the same, and a bool that tells whether it is there */
    PAYLOAD_REAL,  /* double; min .. max when `expected` is set */
    PAYLOAD_WHOLE, /* uint32_t or int64_t, min .. max; a fraction is cut off */
    PAYLOAD_NAME,  /* a value out of `names`: an enum, or an int8_t or bool */
    PAYLOAD_FLAG,  /* true or false: int8_t */
    PAYLOAD_AXES,  /* at most EVENT_AXES_MAX numbers, and a size_t that tells how many */
    PAYLOAD_OTHER  /* by its own function */
};

typedef bool payload_scanner(struct json_scan *s, struct event *e);

enum { PAYLOAD_STRAYS_MAX = 8 };

/* What stood in an object. */
struct payload_seen {
    unsigned members;                           /* bit k: that of row k of the table */
    size_t stray_count;                         /* members that are not in the table */
    struct json_text stray[PAYLOAD_STRAYS_MAX]; /* the first of them */
};

typedef bool payload_check(struct json_scan *s, struct event *e,
                           const struct payload_seen *seen);

struct payload_member {
    char name[JSON_NAME_MAX];
    bool required;
    enum payload_type type;
    size_t at, size; /* of the event's member */
    size_t flag_at;  /* PAYLOAD_SIM, PAYLOAD_AXES: of what tells of it */
    double min, max;
    double absent; /* its value when it is not there; stamps: LAB_TIME_NONE */
    const struct names *names;
    const char *expected; /* what would be right */
    payload_scanner *scan;
};

/* at and size of a member of struct event. */
#define PAYLOAD_IN(member)                                                                     \
    .at = offsetof(struct event, member), .size = sizeof((struct event *)0)->member
#define PAYLOAD_WITH_FLAG(member, mark)                                                        \
    PAYLOAD_IN(member), .flag_at = offsetof(struct event, mark)

/* One kind of message. */
struct payload_kind {
    const char *what; /* "command": in the words of a fault */
    enum event_kind kind;
    const struct payload_member *members; /* [count]; NULL: the payload says nothing */
    size_t count;
    size_t bytes;         /* of its part of the event, which is all zero but for members */
    const char *missing;  /* said when a required member is not there; NULL: none is */
    payload_check *check; /* of an object that has been read, or NULL */
};

/* members, count and bytes of an event's part. */
#define PAYLOAD_PART(part, rows)                                                               \
    .members = (rows), .count = COUNT(rows), .bytes = sizeof((struct event *)0)->part

/* What every event of a message says beside its part and its pair: when it came, and how. */
void payload_begin(struct event *e, const struct message *m, enum event_kind kind,
                   enum side side);

/* The kind's part of the event as it is when nothing is said. */
void payload_clear(struct event *e, const struct payload_kind *kind);

/* Decode the payload of a message into events of the kind and side; e->pair is set by the
 * caller, and e is otherwise overwritten. Telemetry may be a list of samples. Returns the
 * number of events: what is not of the protocol is EVENT_MALFORMED, never silence. */
size_t payload_decode(const struct payload_kind *kind, enum side side,
                      const struct message *message, struct event *e, event_emit *emit,
                      void *context);

/* For a check: read the object that s has read once more, by the table of another kind, whose
 * members mean something only now that the rest is known. Its `bytes` are not cleared before.
 * The scanner bears what is wrong. */
bool payload_scan_more(struct json_scan *s, struct event *e, const struct payload_kind *kind);

/* The members of part, such as a struct event_command, in the order of the table: those that
 * are there, or required. PAYLOAD_OTHER is left to the caller. */
void payload_write(struct json_writer *w, const struct payload_kind *kind, const void *part);

#endif
