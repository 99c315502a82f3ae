/* logger/codec/codec_event.c - construction of events for the codecs of foreign protocols. */
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/text/text.h"
#include "logger/codec/codecs.h"
#include "logger/message/codec_native.h"

void codec_begin_event(struct event *event, const struct codec_pair *pair,
                       const struct message *message, enum event_kind kind, enum side side)
{
    *event = (struct event){.t_us = message->t_us, .kind = kind, .side = side};
    event->retained = message->retained;
    event->dup = message->dup;
    event->packet_id = message->packet_id;
    if (kind == EVENT_COMMAND || kind == EVENT_REPLY) {
        event->hash = message_hash(message);
    }
    (void)snprintf(event->pair, sizeof event->pair, "%s", pair->id);
    if (kind == EVENT_COMMAND) {
        event->command.source_us = LAB_TIME_NONE;
        event->command.seq = -1;
    } else if (kind == EVENT_REPLY) {
        event->reply.source_us = LAB_TIME_NONE;
        event->reply.source_start_us = LAB_TIME_NONE;
        event->reply.commands = -1;
    } else if (kind == EVENT_TELEMETRY) {
        event->telemetry.source_us = LAB_TIME_NONE;
        event->telemetry.seq = -1;
    } else if (kind == EVENT_CONNECTION) {
        event->connection.source_us = LAB_TIME_NONE;
    } else if (kind == EVENT_NOTE) {
        event->note.source_us = LAB_TIME_NONE;
    }
}

void codec_emit(const struct codec_pair *pair, struct event *event,
                const struct codec_sink *sink)
{
    char text[1024];
    struct json_writer w;
    /* One message may give several events, so each gets its own hash. */
    if (event->kind == EVENT_COMMAND || event->kind == EVENT_REPLY) {
        const char *id = event->kind == EVENT_COMMAND ? event->command.id : event->reply.id;
        event->hash = hash_bytes(event->hash, id, strlen(id));
    }
    const bool command = event->kind == EVENT_COMMAND && !event->command.raw;
    const bool reply = event->kind == EVENT_REPLY && !event->reply.raw;
    if (pair->repeated && (command || reply)) {
        json_write_start(&w, text, sizeof text, NULL, NULL);
        native_write(&w, event->kind, command ? (void *)&event->command : &event->reply);
        const size_t bytes = json_write_end(&w) ? w.used : 0;
        *(command ? &event->command.raw : &event->reply.raw) = bytes > 0 ? text : NULL;
        *(command ? &event->command.raw_bytes : &event->reply.raw_bytes) = bytes;
    }
    sink->emit(sink->context, event);
}

void codec_malformed(const struct codec_pair *pair, const struct message *message,
                     enum side side, const char *what, const struct codec_sink *sink,
                     enum fault fault, const char *format, ...)
{
    struct event e;
    codec_begin_event(&e, pair, message, EVENT_MALFORMED, side);
    (void)snprintf(e.malformed.what, sizeof e.malformed.what, "%s", what);
    e.malformed.fault = fault;
    TEXT_FORMAT(e.malformed.detail, sizeof e.malformed.detail, format);
    sink->emit(sink->context, &e);
}
