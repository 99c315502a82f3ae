/* service/daemon/gateway.h - between the broker and the lab: what is subscribed to, what is
 * published.
 *
 * Receiving: everything the codecs of the lab listen to goes into the inbox as it came; nothing
 * is looked at here. Commands, replies, connections and echoes come at QoS 1 through a session
 * that the broker keeps while the daemon is away; telemetry comes at QoS 0, so that a robot's
 * stream cannot fill that session's queue and push commands out of it.
 */
#ifndef SERVICE_DAEMON_GATEWAY_H
#define SERVICE_DAEMON_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/lab_file.h"
#include "service/daemon/inbox.h"
#include "service/daemon/robot_states.h"
#include "service/mqtt/mqtt_client.h"
#include "twin/lab.h"

struct gateway;

struct gateway_counts {
    uint64_t oversized; /* payloads longer than MESSAGE_PAYLOAD_MAX: cut */
    uint64_t ignored;   /* messages whose topic is too long, or the daemon's own */
};

/* Connect in the background, subscribe and hand everything to inbox, but for the robots' own
 * machine states, which go to states. All are borrowed for the life of the gateway. Errors as
 * of mqtt_client_create(). */
MUST_USE enum status gateway_start(const struct broker_options *broker, const struct lab *lab,
                                   struct inbox *inbox, struct robot_states *states,
                                   struct gateway **out, struct err *err);

/* A message under the prefix, "<prefix>/<rest>" or "<prefix>/<pair>/<what>". What goes out at
 * QoS 0 (efforts, probes, fidelity) is worth nothing later: it is sent now or never. Any
 * thread; errors as of mqtt_client_publish() and mqtt_client_publish_now(). */
MUST_USE enum status gateway_send(struct gateway *gateway, const char *rest,
                                  const char *payload, size_t bytes, int qos, bool retained);
MUST_USE enum status gateway_publish(struct gateway *gateway, const char *pair,
                                     const char *what, const char *payload, size_t bytes,
                                     int qos, bool retained);

void gateway_read_state(struct gateway *gateway, struct mqtt_client_state *state);
void gateway_read_counts(struct gateway *gateway, struct gateway_counts *counts);

/* Say offline and disconnect; the broker keeps the session and what comes for it. No message
 * is taken after it. */
void gateway_stop(struct gateway *gateway, int timeout_ms);
void gateway_destroy(struct gateway *gateway); /* NULL is allowed */

#endif
