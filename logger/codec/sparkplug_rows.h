/* logger/codec/sparkplug_rows.h - Sparkplug B metrics to events and back, by the rows of a
 * mapping (mapping.h).
 *
 * A row sees each message as a JSON text of the metrics that it asks for:
 *
 *   {"kind": "DDATA", "timestamp": MS, "metrics": {NAME: VALUE, …}, "stamps": {NAME: MS, …},
 *    "held": {NAME: VALUE, …}}
 *
 * `metrics` and their own `stamps` come from this message; `held` are the last values that the
 * device sent, in this message or before. A row applies if the message has all metrics that the
 * row requires and at least one that it names. Several rows can apply, and each gives its
 * event. Pure.
 */
#ifndef LOGGER_CODEC_SPARKPLUG_ROWS_H
#define LOGGER_CODEC_SPARKPLUG_ROWS_H

#include "logger/codec/mapping.h"
#include "logger/codec/sparkplug.h"
#include "logger/message/codec.h"

/* A device's message, decoded. Commands are not received, because Tandem sends them. */
struct sparkplug_received {
    const struct message *message;
    enum sparkplug_kind kind;
    enum side side;
    int64_t stamp_ms; /* -1: none */
    const struct sparkplug_metrics *metrics;
    const struct sparkplug_device *device;
};

/* Emits the events that the rows make of the message. */
void sparkplug_emit_rows(const struct codec_pair *pair,
                         const struct sparkplug_received *received,
                         const struct codec_sink *sink);

/* Replaces the message's payload, a JSON object of metrics, by its Sparkplug encoding. False if
 * it is not such an object or does not fit. */
bool sparkplug_encode(struct codec_message *message, int64_t t_us);

#endif
