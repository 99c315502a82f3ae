/* logger/message/codec_native.h - the codec of Tandem's own protocol: JSON (docs/protocol.md).
 * Pure.
 */
#ifndef LOGGER_MESSAGE_CODEC_NATIVE_H
#define LOGGER_MESSAGE_CODEC_NATIVE_H

#include "logger/message/codec.h"
#include "logger/message/json_write.h"

extern const struct codec codec_native;

/* Its payloads, one JSON object each. */
void native_write_command(struct json_writer *w, const struct event_command *command);
void native_write_reply(struct json_writer *w, const struct event_reply *reply);
void native_write_telemetry(struct json_writer *w, const struct event_telemetry *telemetry);
void native_write_connection(struct json_writer *w, const struct event_connection *connection);
void native_write_probe(struct json_writer *w, int64_t probe, int64_t sent_us);
void native_write_echo(struct json_writer *w, const struct event_echo *echo);

#endif
