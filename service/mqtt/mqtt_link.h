/* service/mqtt/mqtt_link.h - state and lock of a connection, private to the files of
 * mqtt_client. mqtt_sender holds outgoing messages. mqtt_connection has the thread that
 * connects, subscribes, beats and sends, and Paho's callbacks.
 *
 * Locks: Paho calls back while it holds its own mutex. So nothing may call Paho while it holds
 * `mutex` or `delivery`, except from within a callback.
 */
#ifndef SERVICE_MQTT_MQTT_LINK_H
#define SERVICE_MQTT_MQTT_LINK_H

#include <pthread.h>
#include <stdatomic.h>

#include <MQTTAsync.h>

#include "service/mqtt/mqtt_client.h"

enum {
    MQTT_LINK_OWNED_MAX = 2 * MQTT_CLIENT_TOPICS_MAX + 16,
    MQTT_LINK_BACKOFF_MIN_US = 100 * 1000,
    /* reconnect within seconds, without flooding the broker */
    MQTT_LINK_BACKOFF_MAX_US = 2 * 1000 * 1000,
    MQTT_LINK_SUBSCRIBE_RETRY_US = 5 * 1000 * 1000
};

/* A message from mqtt_client_publish() to its acknowledgement. */
struct mqtt_outgoing;

enum mqtt_link_phase { MQTT_LINK_DOWN, MQTT_LINK_CONNECTING, MQTT_LINK_UP };

struct mqtt_client {
    struct mqtt_client_options options; /* texts point into owned */
    char *owned[MQTT_LINK_OWNED_MAX];
    size_t owned_count;
    char *filters[MQTT_CLIENT_TOPICS_MAX + 1]; /* the heartbeat's included */
    int qos[MQTT_CLIENT_TOPICS_MAX + 1];
    int filter_count;
    char *former[MQTT_CLIENT_TOPICS_MAX];
    int former_count;
    char *heartbeat_topic; /* NULL: none */
    char marker[32];       /* distinguishes this client from others with its id */
    char address[300];     /* "host:port", for messages */
    bool v5;               /* MQTT 5, not 3.1.1 */
    MQTTAsync paho;
    pthread_t connection_thread;
    bool connection_thread_started;

    pthread_mutex_t delivery; /* held while the owner's `message` runs */
    bool closed;              /* under delivery: deliver nothing more */
    /* used by Paho's thread: deliver nothing before the next connection */
    bool refused;
    /* used by Paho's thread: a session began, and its record was refused */
    bool begun_untold;

    pthread_mutex_t mutex;
    pthread_cond_t wake;    /* wakes the connection thread, monotonic clock */
    pthread_cond_t changed; /* wakes waiting callers, monotonic clock */
    /* Under mutex: */
    enum mqtt_link_phase phase;
    bool stopping;
    bool disconnected; /* the orderly disconnect has ended */
    bool subscribe_due;
    bool subscribing;
    int64_t attempt_us; /* time of the next attempt, or start of the current one */
    int64_t up_us;      /* lab time of the last connection */
    bool rival;         /* when it began, the last marker was another program's */
    bool sent_away;     /* the broker has given its reason for ending the last one */
    int64_t subscribe_us;
    int64_t heartbeat_due_us;
    int64_t beat_us;      /* stamp of the last heartbeat that left, */
    int64_t beat_back_us; /* and in the last one that came back */
    _Atomic int64_t
        received_us; /* lab_clock_now_us() when anything came last; Paho's thread sets it */
    /* Paho's thread's: messages that come now passed the broker at this time or later;
     * INT64_MAX: none is old, because the session is new */
    int64_t passed_us;
    int64_t reported_us; /* Paho's thread's: time of the last report of silence */
    int64_t backoff_us;
    uint64_t attempts;
    bool closing; /* no more messages are accepted */
    bool worn;    /* this handle of Paho's was connected, or hangs: not to be used again */
    struct mqtt_outgoing *outgoing_first, *outgoing_last; /* in sending order */
    /* first message that Paho does not have; NULL: none */
    struct mqtt_outgoing *outgoing_unsent;
    uint64_t pending; /* messages in this list */
    size_t pending_bytes;
    uint64_t in_flight; /* of these: handed to Paho */
    bool resting;       /* the connection thread resumes by itself, mqtt_sender_rest() */
    bool many;          /* the rate of messages is high */
    int64_t counted_us; /* start of the count; at that time this many were published: */
    uint64_t counted;
    uint64_t rested; /* count of published messages at the last rest */
    char tls_error[MQTT_CLIENT_ERROR_MAX / 2];
    struct mqtt_client_state state;

    atomic_uint_fast64_t received, crowded;
};

/* Paho has two forms of each callback and calls the one of the connection's MQTT version: name5
 * and name3. If their arguments do not matter (success or failure), both do the same; `context`
 * is what the options carried. */
#define MQTT_LINK_CALLBACKS(name, paho_name, what)                                             \
    static void name##5(void *context, MQTTAsync_##paho_name##Data5 *data)                     \
    {                                                                                          \
        (void)data;                                                                            \
        what;                                                                                  \
    }                                                                                          \
    static void name##3(void *context, MQTTAsync_##paho_name##Data *data)                      \
    {                                                                                          \
        (void)data;                                                                            \
        what;                                                                                  \
    }

/* Set these two callbacks for one operation, in the form of the client's MQTT version. */
#define MQTT_LINK_SET(client, to, given, success, failure)                                     \
    do {                                                                                       \
        (to)->context = (given);                                                               \
        if ((client)->v5) {                                                                    \
            (to)->onSuccess5 = success##5;                                                     \
            (to)->onFailure5 = failure##5;                                                     \
        } else {                                                                               \
            (to)->onSuccess = success##3;                                                      \
            (to)->onFailure = failure##3;                                                      \
        }                                                                                      \
    } while (0)

/* ---- mqtt_client.c ---- */

/* Around each call of Paho that adds a command or destroys a handle. Paho (1.3.12) has one list
 * of commands for all connections of the process: it appends to the list under one mutex, and
 * MQTTAsync_destroy() removes a handle's commands from it under another. Not under `mutex` or
 * `delivery`, nor within a callback. */
void mqtt_link_enter_paho(void);
void mqtt_link_leave_paho(void);

/* Wait for a condition, tested under mutex at each change, until lab_clock_monotonic_us() is
 * until_us. Returns whether it became true. */
bool mqtt_link_wait_until(struct mqtt_client *client, bool (*is_so)(const struct mqtt_client *),
                          int64_t until_us);
/* Set "doing host:port: reason". Under mutex. */
void mqtt_link_set_error(struct mqtt_client *client, const char *doing, const char *reason);
/* The link went down or did not come up; the connection thread tries again. Under mutex. */
void mqtt_link_go_down(struct mqtt_client *client);

/* ---- mqtt_sender.c ---- */

/* May one publish to this topic? */
bool mqtt_sender_is_topic(const char *topic);
struct mqtt_send_mode {
    int qos;
    bool retained;
    uint32_t expiry_s; /* > 0: retained for this long, if the broker speaks MQTT 5 */
    bool urgent;       /* before all waiting messages, beyond all bounds */
    bool droppable;    /* sent on this connection or never */
    bool once;         /* not repeated if the broker may have it */
};
/* Append a copy of a message to the queue. Statuses as of mqtt_client_publish() and, for
 * droppable ones, mqtt_client_publish_now(). */
MUST_USE enum status mqtt_sender_add(struct mqtt_client *client, const char *topic,
                                     const void *payload, size_t bytes,
                                     struct mqtt_send_mode mode);
/* Hand the next message to Paho. Under mutex, which is released meanwhile. Returns false when
 * Paho can accept none. */
bool mqtt_sender_send_next(struct mqtt_client *client);
/* Called when nothing is left to hand over; next_us: time of the next work. Returns the time at
 * which to continue. Handing over messages one by one costs several times as much, because
 * Paho's threads wake each other and wait for each other. So at thousands a second they wait
 * for a millisecond, until the returned time, and `resting` is set. Droppable messages and
 * commands do not wait. Under mutex. */
int64_t mqtt_sender_rest(struct mqtt_client *client, int64_t next_us);
/* Send everything unacknowledged again, except droppable messages; Paho has none of it any
 * more. Under mutex. */
void mqtt_sender_rewind(struct mqtt_client *client);
/* Discard the remaining messages. Paho has none of them any more. */
void mqtt_sender_finish(struct mqtt_client *client);

/* ---- mqtt_write.c ---- */

/* The number of failed writes of all connections of this process; each cut its connection. */
uint64_t mqtt_write_count_broken(void);

/* ---- mqtt_connection.c ---- */

/* Cut the connection at once, so that nothing is acknowledged any more. */
void mqtt_connection_cut(const struct mqtt_client *client);
/* Make a Paho handle to replace the previous one. Not under mutex. */
MUST_USE enum status mqtt_connection_make_handle(struct mqtt_client *client, struct err *err);
/* Start the thread. Returns false when that fails. */
bool mqtt_connection_start(struct mqtt_client *client);
/* End the thread; nothing connects any more. Calling it twice does no harm. */
void mqtt_connection_stop(struct mqtt_client *client);
/* Disconnect in order; waits for that until until_us at most. */
void mqtt_connection_leave(struct mqtt_client *client, int64_t until_us);
/* Publish text on the presence topic, if there is one. */
void mqtt_connection_announce(struct mqtt_client *client, const char *text);

#endif
