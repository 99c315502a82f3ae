/* logger/message/message.h - one MQTT message as it stands in the journal: a line of JSON.
 *
 * The form is what `mosquitto_sub -F %J` prints; `-F %j` (payload as text) is read too:
 *
 *   {"tst":"2026-11-20T05:55:55.599953Z","topic":"tandem/v1/r1/command","qos":1,"retain":0,
 *    "payloadlen":57,"payload":{…}}
 *
 * A payload that is no JSON, or a JSON string, is written as text with "encoding":"latin1"
 * (byte b stands as code point U+00bb), so that every byte survives. "dup":1 marks what the
 * broker sent before, "mid" is MQTT's packet id. docs/protocol.md. Pure: no I/O, no clock, no
 * allocation.
 */
#ifndef LOGGER_MESSAGE_MESSAGE_H
#define LOGGER_MESSAGE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

enum {
    MESSAGE_TOPIC_MAX = 256, /* bytes of a topic with its NUL; longer ones are refused */
    MESSAGE_PAYLOAD_MAX =
        64 * 1024, /* bytes kept of a payload; payload_bytes tells the truth */
    MESSAGE_LINE_MAX = 6 * MESSAGE_PAYLOAD_MAX + 1024 /* longest line that can be written */
};

/* Told message_hash() of a command or reply before it is read. */
typedef void message_coming(const void *context, uint64_t hash);

struct message {
    int64_t t_us; /* lab time of arrival */
    char topic[MESSAGE_TOPIC_MAX];
    int qos; /* 0..2 */
    bool retained;
    bool dup;
    uint16_t packet_id;     /* at QoS 1 and 2; 0: not known */
    const char *payload;    /* [stored_bytes] borrowed */
    size_t stored_bytes;    /* <= MESSAGE_PAYLOAD_MAX */
    size_t payload_bytes;   /* as it came; > stored_bytes when it was cut */
    message_coming *coming; /* NULL: nobody is told */
    const void *coming_context;
};

/* Write one line with its '\n' to out[capacity] (no NUL). Returns the bytes written, or 0 when
 * they do not fit; MESSAGE_LINE_MAX always suffices. */
size_t message_format(const struct message *message, char *out, size_t capacity);

/* Read one line (without or with its '\n'). The payload borrows from line, or from
 * scratch[MESSAGE_PAYLOAD_MAX + 1] where escapes had to be resolved: both must outlive
 * *message.
 *
 * A byte order mark before it is passed over. Returns STATUS_E_PARSE with the column in *err,
 * STATUS_E_EMPTY for a blank line. *message is written only on STATUS_OK. */
MUST_USE enum status message_parse(const char *line, size_t bytes, char *scratch,
                                   struct message *message, struct err *err);

/* The same of a line as nearly all are: the payload, an object by its brackets, is its last
 * member and is not looked into. Who reads it to its end and finds it to be JSON knows that
 * message_parse() says the same of the line; where it is not, or where this is false, only that
 * one tells what the line is. *message is unspecified on false. */
bool message_parse_plain(const char *line, size_t bytes, struct message *message);

/* Of topic and payload: the same message, delivered once more, is known by it. */
uint64_t message_hash(const struct message *message);

/* ISO 8601 with microseconds, "2026-11-20T05:55:55.599953Z": 27 bytes and a NUL. */
void message_format_time(int64_t t_us, char out[28]);

/* Reads 0 to 9 fraction digits and 'Z', an offset (+01, +0100, +01:00) or both, as
 * mosquitto_sub writes them. Returns LAB_TIME_NONE when it is no such time. */
int64_t message_parse_time(const char *text, size_t bytes);

#endif
