/* logger/message/team_request.h - requests to a team, as payloads.
 *
 * A robot's own controller sends them on "<prefix>/<team>/request", jobs come on
 * "<prefix>/<team>/job", and the daemon's own lines have both (docs/protocol/team.md). Pure.
 */
#ifndef LOGGER_MESSAGE_TEAM_REQUEST_H
#define LOGGER_MESSAGE_TEAM_REQUEST_H

#include "logger/message/payload.h"

extern const struct payload_kind team_request_kind; /* lock, unlock, alive; start, stop */
extern const struct payload_kind team_job_kind;
extern const struct payload_kind team_order_kind; /* any request, with its "team" */

/* The topics to subscribe to for teams, at QoS 1, below the prefix. */
extern const char *const team_request_topics[];
extern const size_t team_request_topic_count;

/* Decodes a message on one of them; false, with nothing emitted, if the topic is another. */
bool team_request_decode(const char *prefix, const struct message *message, event_emit *emit,
                         void *context);

/* Has this line of the daemon's the member: is it about a "team", or a "mission"? */
bool team_request_has(const struct message *message, const char *member);

#endif
