/* logger/message/payload.h - a payload of JSON into an event, by a table of its members.
 *
 * Members that are not in the table are checked and passed over; one given twice is refused:
 * which of the two is meant? Limits: MESSAGE_PAYLOAD_MAX bytes, nesting of PAYLOAD_DEPTH_MAX,
 * PAYLOAD_BATCH_MAX samples in one telemetry message, strings as in event.h. Pure.
 */
#ifndef LOGGER_MESSAGE_PAYLOAD_H
#define LOGGER_MESSAGE_PAYLOAD_H

#include "base/names.h"
#include "logger/message/event.h"
#include "logger/message/json_scan.h"
#include "logger/message/message.h"

enum { PAYLOAD_DEPTH_MAX = 8, PAYLOAD_BATCH_MAX = 256 };

enum payload_type {
    PAYLOAD_WORD,  /* char[size]; longer ones are refused */
    PAYLOAD_ID,    /* char[size]; a number's text is taken, null leaves it */
    PAYLOAD_STAMP, /* seconds to int64_t microseconds; null leaves it */
    PAYLOAD_REAL,  /* double; min .. max when `expected` is set */
    PAYLOAD_WHOLE, /* uint32_t or int64_t, min .. max; a fraction is cut off */
    PAYLOAD_NAME,  /* a value out of `names`: an enum, or an int8_t or bool */
    PAYLOAD_OTHER  /* by its own function */
};

typedef bool payload_scanner(struct json_scan *s, struct event *e);

struct payload_member {
    const char *name;
    bool required;
    enum payload_type type;
    size_t at, size; /* of the event's member */
    double min, max;
    const struct names *names;
    const char *expected; /* what would be right */
    payload_scanner *scan;
};

/* at and size of a member of struct event. */
#define PAYLOAD_IN(member)                                                                     \
    .at = offsetof(struct event, member), .size = sizeof((struct event *)0)->member

/* Read one object. False when it is not what it shall be: the scanner then holds the place and
 * what would be right; missing is said when a required member is not there. */
bool payload_scan(struct json_scan *s, struct event *e, const struct payload_member *members,
                  size_t count, const char *missing);

/* A text that fits into out[size] with its NUL. */
bool payload_scan_word(struct json_scan *s, char *out, size_t size, const char *expected);

/* A list of at most EVENT_AXES_MAX numbers. */
bool payload_scan_axes(struct json_scan *s, double axes[EVENT_AXES_MAX], size_t *count);

/* One kind of message. */
struct payload_kind {
    const char *what; /* "command": in the words of a fault */
    enum event_kind kind;
    enum side side;
    payload_scanner *scan; /* sets its part of the event anew; NULL: the payload says nothing */
};

/* Decode the payload of a message into events of the kind; e->pair is set by the caller, and e
 * is otherwise overwritten. Telemetry may be a list of samples. Returns the number of events:
 * what is not of the protocol is EVENT_MALFORMED, never silence. */
size_t payload_decode(const struct payload_kind *kind, const struct message *message,
                      struct event *e, event_emit *emit, void *context);

#endif
