/* logger/message/codec_native.h - the codec of Tandem's own protocol: JSON (docs/protocol.md).
 * Pure.
 */
#ifndef LOGGER_MESSAGE_CODEC_NATIVE_H
#define LOGGER_MESSAGE_CODEC_NATIVE_H

#include "logger/message/codec.h"
#include "logger/message/json_write.h"
#include "logger/message/payload.h"

extern const struct codec codec_native;

/* The members of an arm's operation, parsed once the operation is known. */
extern const struct payload_kind native_arm_kind;

/* Writes a payload, one JSON object. part is the event's struct event_command, _reply,
 * _telemetry, _connection or _echo, according to kind. */
void native_write(struct json_writer *w, enum event_kind kind, const void *part);
/* Writes the given members of a command to an arm, without the braces. */
void native_write_arm(struct json_writer *w, const struct event_arm *arm);
/* Sets the same part of *e to the values of absent members. */
void native_clear(struct event *e, enum event_kind kind);
/* Returns event_value.place of the value with this name. */
uint64_t native_value_place(const char *name);
/* Returns the number of this name among the values of a reply; NaN if there is none. */
double native_reply_number(const struct event_reply *reply, const char *name);
void native_write_probe(struct json_writer *w, int64_t probe, int64_t sent_us);

#endif
