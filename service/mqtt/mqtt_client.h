/* service/mqtt/mqtt_client.h - one connection to a broker that stays up by itself.
 *
 * It wraps Paho's MQTTAsync with every measure that 1.3.12 needs:
 *   - an own heartbeat keeps the link busy (on a quiet one Paho sleeps up to 100 ms a message);
 *   - an own thread connects and reconnects with back-off (Paho never repeats the first
 *     attempt, and its automatic reconnect hides why it fails);
 *   - every connection subscribes again (after a crash the broker has forgotten everything);
 *   - a will, and an own "offline" message at an orderly stop (which fires no will);
 *   - messages published while the broker is away wait in a bounded buffer.
 *
 * `message` runs on Paho's thread, which acknowledges when it returns. It must not block,
 * because that would stop every publish of the process. It may call mqtt_client_publish(),
 * mqtt_client_refuse(), mqtt_client_silent_us() and mqtt_client_read_state() only. The same
 * holds for `silence` and `accepted`. All clients of a process share that thread, which reads a
 * packet of each in turn. The process must have unset http_proxy and https_proxy.
 */
#ifndef SERVICE_MQTT_MQTT_CLIENT_H
#define SERVICE_MQTT_MQTT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

enum {
    MQTT_CLIENT_TOPICS_MAX = 4096, /* subscriptions of one client */
    MQTT_CLIENT_ERROR_MAX = 256,   /* bytes of an error's text */
    MQTT_CLIENT_BUFFER_COUNT = 10000,
    MQTT_CLIENT_BUFFER_BYTES = 64 << 20, /* payloads that wait for the link */
    MQTT_CLIENT_PACKET_MAX = 256 << 10,  /* MQTT 5: the broker delivers no larger packet */
    /* properties of a message; more are counted, and none is used */
    MQTT_CLIENT_PROPERTIES_MAX = 64,
    MQTT_CLIENT_RECEIVE_MAX = 1000 /* unacknowledged messages in each direction */
};

/* A message arrived. Everything is borrowed for the call; payload is not terminated. packet_id:
 * MQTT's, 1..65535; 0 at QoS 0. */
typedef void mqtt_client_message(void *context, const char *topic, const void *payload,
                                 size_t bytes, int qos, bool retained, bool dup,
                                 uint16_t packet_id);

/* The broker accepted us; resumed: with the previous session, whose packet ids continue.
 * Nothing was received for silent_us. Acknowledgements of the last unsure_us may not have
 * reached the broker (-1: unknown). Called before the messages of this connection, on their
 * thread.
 */
typedef void mqtt_client_connected(void *context, bool resumed, int64_t silent_us,
                                   int64_t unsure_us);

/* The next message may have waited for silent_us: nothing was received for that long, or the
 * own heartbeat did not come back. The link was down, the process was frozen, or messages come
 * faster than they are received. Called before the message, on the same thread, and once a
 * second while this lasts. */
typedef void mqtt_client_silence(void *context, int64_t silent_us);

/* The broker has a message of mqtt_client_publish_once(). Everything is borrowed for the call.
 */
typedef void mqtt_client_arrived(void *context, const char *topic, const void *payload,
                                 size_t bytes);

/* Another program has the client id and took the connection over; text says so. It must return
 * at once and call nothing of the client. */
typedef void mqtt_client_evicted(void *context, const char *text);

struct mqtt_client_topic {
    const char *filter;
    int qos; /* 0..2 */
};

/* All texts are copied; zero means the default in brackets. */
struct mqtt_client_options {
    const char *host; /* name or address ["127.0.0.1"] */
    int port;         /* [1883, with TLS 8883] */
    const char *client_id;
    bool unique_id;            /* the client id is never used again: it leaves no marker */
    const char *protocol;      /* "5" or "3.1.1": the version of MQTT ["5"] */
    bool persistent;           /* the broker keeps the session while the client is away */
    uint32_t session_expiry_s; /* persistent, MQTT 5: how long [7 days] */
    int keep_alive_s;          /* [10] */
    int buffer_count;          /* messages that wait for the link [MQTT_CLIENT_BUFFER_COUNT] */

    const char *user;          /* NULL: anonymous */
    const char *password_file; /* first line; read at every attempt */
    bool tls;
    const char *ca_file; /* NULL: the system's authorities */
    const char *certificate_file;
    const char *key_file;

    const char *prefix;   /* heartbeat on <prefix>/heartbeat/<client_id>; NULL: none */
    int heartbeat_hz;     /* >= 5 keeps the link awake [10] */
    const char *presence; /* topic of the retained online and offline messages; NULL: none */
    const char *online;   /* published after each connection */
    const char *offline;  /* the will, also published at an orderly stop */

    const struct mqtt_client_topic *topics; /* [topic_count] */
    size_t topic_count;                     /* <= MQTT_CLIENT_TOPICS_MAX */
    /* [former_count] Topics to which a resumed session of an older program may still be
     * subscribed: unsubscribed. */
    const struct mqtt_client_topic *former;
    size_t former_count;             /* <= MQTT_CLIENT_TOPICS_MAX */
    mqtt_client_message *message;    /* NULL when nothing is subscribed */
    mqtt_client_silence *silence;    /* may be NULL; needs the heartbeat */
    mqtt_client_connected *accepted; /* may be NULL */
    mqtt_client_arrived *arrived;    /* may be NULL; must not block */
    mqtt_client_evicted *evicted;    /* may be NULL */
    /* May a connection be tried now? Asked again some milliseconds later; must return at once
     * and call nothing of the client. NULL: always. */
    bool (*may_connect)(void *context);
    void *context; /* passed to all callbacks */
};

struct mqtt_client_state {
    bool connected;                    /* the broker accepted the connection */
    bool resumed;                      /* and still had our session */
    bool subscribed;                   /* and accepted all our subscriptions */
    bool refusing;                     /* down until mqtt_client_resume() */
    char error[MQTT_CLIENT_ERROR_MAX]; /* the last error, "" when there was none */
    uint64_t connections;              /* accepted so far; reconnections are one less */
    uint64_t failed_connections;
    uint64_t published; /* accepted by mqtt_client_publish() */
    /* of these: acknowledged by the broker (QoS 0: written to the socket) */
    uint64_t acknowledged;
    uint64_t failed;          /* of these: given up */
    uint64_t refused;         /* not accepted: the buffer was full */
    uint64_t received;        /* handed to `message` */
    uint64_t crowded;         /* of these: with more than MQTT_CLIENT_PROPERTIES_MAX */
    uint64_t broken_writes;   /* failed writes of all clients of the process */
    int64_t heartbeat_rtt_us; /* round trip of the last heartbeat; -1 before the first */
};

struct mqtt_client;

/* Make a client and begin to connect; returns at once, whether there is a broker or not. *out
 * is set before the first callback, NULL after a failure. Returns STATUS_E_ARG for options that
 * cannot work, STATUS_E_IO when the password or TLS files cannot be read, STATUS_E_NOMEM. Cold
 * path: allocates and starts threads. */
MUST_USE enum status mqtt_client_create(struct mqtt_client **out,
                                        const struct mqtt_client_options *options,
                                        struct err *err);

/* Accept one message for sending; it is copied, and sent later when the link is down. Any
 * thread. Returns STATUS_E_FULL when the buffer is full (counted), STATUS_E_ARG for a topic or
 * QoS that MQTT does not allow, STATUS_E_IO after mqtt_client_stop(). */
MUST_USE enum status mqtt_client_publish(struct mqtt_client *client, const char *topic,
                                         const void *payload, size_t bytes, int qos,
                                         bool retained);

/* The same at QoS 1 for a message that must not arrive twice. It is given up if the link goes
 * down before the acknowledgement, because the broker may have it. */
MUST_USE enum status mqtt_client_publish_once(struct mqtt_client *client, const char *topic,
                                              const void *payload, size_t bytes);

/* The same at QoS 0 for a message that is useless later: STATUS_E_STALE while the link is down,
 * given up when it goes down before the message has left. Any thread. */
MUST_USE enum status mqtt_client_publish_now(struct mqtt_client *client, const char *topic,
                                             const void *payload, size_t bytes);

/* The same; a broker of MQTT 5 retains it for expiry_s (> 0), others do not retain it. Nothing
 * else removes it from a broker if this program dies. */
MUST_USE enum status mqtt_client_publish_expiring(struct mqtt_client *client, const char *topic,
                                                  const void *payload, size_t bytes,
                                                  uint32_t expiry_s);

/* Only within `message`, `silence` or `accepted`: this message cannot be accepted and is not
 * acknowledged; this silence or connection cannot be recorded. The link is cut, nothing more is
 * delivered, and it stays down until mqtt_client_resume(). A broker that keeps the session then
 * delivers this message and the later ones again. The next connection reports the silence, and
 * a session that began. why: for state.error. */
void mqtt_client_refuse(struct mqtt_client *client, const char *why);

/* Send nothing more: the link is cut, and published messages wait until mqtt_client_resume().
 * Any thread. */
void mqtt_client_hold(struct mqtt_client *client, const char *why);

/* Connect again after mqtt_client_refuse() or mqtt_client_hold(); any thread. No effect without
 * either. */
void mqtt_client_resume(struct mqtt_client *client);

/* Only within `message`, `silence` or `accepted` of any client: how long this one has received
 * nothing. */
int64_t mqtt_client_silent_us(const struct mqtt_client *client);

/* Any thread. */
void mqtt_client_read_state(struct mqtt_client *client, struct mqtt_client_state *state);

/* Wait until subscribed. Returns false after timeout_ms. Not from a callback. */
MUST_USE bool mqtt_client_wait_subscribed(struct mqtt_client *client, int timeout_ms);

/* Wait until everything published has been acknowledged or given up. Returns false after
 * timeout_ms. Not from a callback. */
MUST_USE bool mqtt_client_wait_sent(struct mqtt_client *client, int timeout_ms);

/* Publish offline, wait for acknowledgements, disconnect; at most about timeout_ms. No callback
 * runs after it. The broker keeps a persistent session. Not from a callback; once. */
void mqtt_client_stop(struct mqtt_client *client, int timeout_ms);

/* Stop at once if it was not stopped, and free. NULL is allowed. Not from a callback. */
void mqtt_client_destroy(struct mqtt_client *client);

#endif
