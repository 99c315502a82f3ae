/* logger/codec/sparkplug_rows.h - metrics of Sparkplug B as events, by the rows of a mapping
 * (mapping.h), and what goes out as metrics.
 *
 * A row sees a message as a JSON text of what it asks for:
 *
 *     {"kind": "DDATA", "timestamp": MS, "metrics": {NAME: VALUE, …}, "stamps": {NAME: MS, …},
 *      "held": {NAME: VALUE, …}}
 *
 * `metrics` and their own `stamps` are those in the message; `held` are the values that the
 * device told last, here or before. Each row is for the messages that have all metrics that it
 * needs, and at least one that it names: several may be, and each tells its event. Pure.
 */
#ifndef LOGGER_CODEC_SPARKPLUG_ROWS_H
#define LOGGER_CODEC_SPARKPLUG_ROWS_H

#include "logger/codec/mapping.h"
#include "logger/codec/sparkplug.h"
#include "logger/message/codec.h"

/* What a device said in a message; commands are this side's. */
struct sparkplug_received {
    const struct message *message;
    enum sparkplug_kind kind;
    enum side side;
    int64_t stamp_ms; /* -1: none */
    const struct sparkplug_metrics *metrics;
    const struct sparkplug_device *device;
};

/* Emit what the rows make of it. */
void sparkplug_emit_rows(const struct codec_pair *pair,
                         const struct sparkplug_received *received,
                         const struct codec_sink *sink);

/* A payload of a message out of a mapping, a JSON object of metrics, as one of Sparkplug's in
 * its place. False when it is none, or has no room. */
bool sparkplug_encode(struct codec_message *message, int64_t t_us);

#endif
