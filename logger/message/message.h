/* logger/message/message.h - one MQTT message as a journal line of JSON.
 *
 * The form is the output of `mosquitto_sub -F %J`; `-F %j` (payload as text) is read, too:
 *
 *   {"tst":"2026-11-20T05:55:55.599953Z","topic":"tandem/v1/r1/command","qos":1,"retain":0,
 *    "payloadlen":57,"payload":{…}}
 *
 * A payload that is a JSON string or not JSON is written as text with "encoding":"latin1" (byte
 * b is code point U+00bb), so that every byte survives. "dup":1 marks a message that the broker
 * sent before; "mid" is MQTT's packet id. docs/protocol.md. Pure: no I/O, no clock, no
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
        64 * 1024, /* stored bytes of a payload; payload_bytes is the true length */
    MESSAGE_LINE_MAX = 6 * MESSAGE_PAYLOAD_MAX + 1024 /* longest line that can be written */
};

struct message {
    int64_t t_us; /* lab time of arrival */
    char topic[MESSAGE_TOPIC_MAX];
    int qos; /* 0..2 */
    bool retained;
    bool dup;
    uint16_t packet_id;   /* at QoS 1 and 2; 0: not known */
    const char *payload;  /* [stored_bytes] borrowed */
    size_t stored_bytes;  /* <= MESSAGE_PAYLOAD_MAX */
    size_t payload_bytes; /* original length; > stored_bytes if the payload was cut */
};

/* Writes one line with its '\n' to out[capacity] (no NUL). Returns the bytes written, or 0 if
 * they do not fit; MESSAGE_LINE_MAX always suffices. */
size_t message_format(const struct message *message, char *out, size_t capacity);

/* Parses one line (with or without its '\n'). The payload borrows from line, or from
 * scratch[MESSAGE_PAYLOAD_MAX + 1] if escapes had to be resolved: both must outlive *message. A
 * leading byte order mark is skipped. Returns STATUS_E_PARSE with the column in *err,
 * STATUS_E_EMPTY for a blank line. *message is written only on STATUS_OK. */
MUST_USE enum status message_parse(const char *line, size_t bytes, char *scratch,
                                   struct message *message, struct err *err);

/* Fast parser for usual lines: the payload is the last member, an object by its brackets, and
 * not parsed. If the caller then parses the payload completely as JSON, message_parse() would
 * give the same message. If that or this function fails, use message_parse(). *message is
 * unspecified on false. */
bool message_parse_plain(const char *line, size_t bytes, struct message *message);

/* Hashes topic and payload, to identify a redelivered message. */
uint64_t message_hash(const struct message *message);

/* Formats ISO 8601 with microseconds, "2026-11-20T05:55:55.599953Z": 27 bytes and a NUL. */
void message_format_time(int64_t t_us, char out[28]);

/* Scans the "tst" of a line: text as below, or seconds since 1970, as mosquitto_sub before 2.0
 * writes it. False, with the error set, if it is neither; *t_us is then LAB_TIME_NONE. */
struct json_scan;
bool message_scan_time(struct json_scan *s, int64_t *t_us);

/* Works like iso_time_parse(). Returns LAB_TIME_NONE if it is not such a time. */
int64_t message_parse_time(const char *text, size_t bytes);

#endif
