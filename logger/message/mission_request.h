/* logger/message/mission_request.h - missions and their cancelling, as payloads.
 *
 * They come on "<prefix>/<pair>/mission", and in the daemon's own lines with their "pair"
 * (docs/protocol/mission.md). Only the head is read here; what a kind needs is read by
 * twin/mission. Pure.
 */
#ifndef LOGGER_MESSAGE_MISSION_REQUEST_H
#define LOGGER_MESSAGE_MISSION_REQUEST_H

#include "logger/message/payload.h"

enum { MISSION_ID_LENGTH_MAX = 40 }; /* bytes of an id; those of its commands are longer */

/* The topic to subscribe to, at QoS 1, below the prefix. */
extern const char mission_request_topic[];

/* A line of the daemon: {"pair", "by", "mission": the message}. */
extern const struct payload_kind mission_order_kind;

/* Decodes a message on the topic; false, with nothing emitted, if the topic is another. */
bool mission_request_decode(const char *prefix, const struct message *message, event_emit *emit,
                            void *context);

#endif
