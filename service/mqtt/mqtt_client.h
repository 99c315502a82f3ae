/* service/mqtt/mqtt_client.h - one connection to a broker that stays up by itself.
 *
 * Wraps Paho's MQTTAsync and takes every measure that 1.3.12 needs:
 *   - an own heartbeat keeps the link busy (on a quiet one Paho sleeps up to 100 ms a message);
 *   - an own thread connects, first and again, with back-off (Paho never repeats the first
 *     attempt, and its automatic reconnect hides why it fails);
 *   - every connection subscribes anew (after a crash the broker has forgotten all of it);
 *   - a will and an own "offline" message at an orderly stop (which fires no will);
 *   - what is published while the broker is away waits in a bounded buffer.
 *
 * `message` runs on Paho's thread, which acknowledges when it returns: it must not block (that
 * would stop every publish of the process) and may call mqtt_client_publish() and
 * mqtt_client_read_state() only. The process must have unset http_proxy and https_proxy.
 */
#ifndef SERVICE_MQTT_MQTT_CLIENT_H
#define SERVICE_MQTT_MQTT_CLIENT_H

#include "base/err.h"
#include "service/mqtt/mqtt_options.h"

struct mqtt_client;

/* Make a client and begin to connect; returns at once, whether there is a broker or not.
 * Returns STATUS_E_ARG for options that cannot work, STATUS_E_IO when the password or TLS files
 * cannot be read, STATUS_E_NOMEM. Cold path: allocates and starts threads. */
MUST_USE enum status mqtt_client_create(struct mqtt_client **out,
                                        const struct mqtt_client_options *options,
                                        struct err *err);

/* Take over one message for sending; it is copied, and sent later when the link is down.
 * Any thread. Returns STATUS_E_FULL when the buffer is full (counted), STATUS_E_ARG for a topic
 * or QoS that MQTT does not allow, STATUS_E_IO after mqtt_client_stop(). */
MUST_USE enum status mqtt_client_publish(struct mqtt_client *client, const char *topic,
                                         const void *payload, size_t bytes, int qos,
                                         bool retained);

/* The same at QoS 0 for what is worth nothing later, now or never: STATUS_E_STALE while the
 * link is down, given up when it goes down before the message has left. Any thread. */
MUST_USE enum status mqtt_client_publish_now(struct mqtt_client *client, const char *topic,
                                             const void *payload, size_t bytes);

/* Any thread. */
void mqtt_client_read_state(struct mqtt_client *client, struct mqtt_client_state *state);

/* Wait until subscribed. Returns false after timeout_ms. Not from a callback. */
MUST_USE bool mqtt_client_wait_subscribed(struct mqtt_client *client, int timeout_ms);

/* Wait until everything published has been acknowledged or given up. Returns false after
 * timeout_ms. Not from a callback. */
MUST_USE bool mqtt_client_wait_sent(struct mqtt_client *client, int timeout_ms);

/* Say offline, wait for acknowledgements, disconnect; at most about timeout_ms. No callback
 * runs after it. The broker keeps a persistent session. Not from a callback; once. */
void mqtt_client_stop(struct mqtt_client *client, int timeout_ms);

/* Stop in haste when it was not stopped, and free. NULL is allowed. Not from a callback. */
void mqtt_client_destroy(struct mqtt_client *client);

#endif
