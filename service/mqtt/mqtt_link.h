/* service/mqtt/mqtt_link.h - the inside of mqtt_client, for its own files alone: what they all
 * know of one connection, and its lock. mqtt_sender has what is to be sent, mqtt_connection the
 * thread that connects, subscribes, beats and sends, and what Paho tells.
 *
 * Locks: Paho calls back while it holds its own mutex, so nothing may call Paho while it holds
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
    MQTT_LINK_BACKOFF_MAX_US = 2 * 1000 * 1000, /* back within seconds, and no storm */
    MQTT_LINK_SUBSCRIBE_RETRY_US = 5 * 1000 * 1000
};

/* One message, from mqtt_client_publish() to its acknowledgement. */
struct mqtt_outgoing;

enum mqtt_link_phase { MQTT_LINK_DOWN, MQTT_LINK_CONNECTING, MQTT_LINK_UP };

struct mqtt_client {
    struct mqtt_client_options options; /* texts point into owned */
    char *owned[MQTT_LINK_OWNED_MAX];
    size_t owned_count;
    char *filters[MQTT_CLIENT_TOPICS_MAX + 1]; /* with the heartbeat's */
    int qos[MQTT_CLIENT_TOPICS_MAX + 1];
    int filter_count;
    char *former[MQTT_CLIENT_TOPICS_MAX];
    int former_count;
    char *heartbeat_topic; /* NULL: none */
    char marker[32];       /* of this client among all that have its id */
    char address[300];     /* "host:port", for messages */
    bool v5;               /* MQTT 5, not 3.1.1 */
    MQTTAsync paho;
    pthread_t connection_thread;
    bool connection_thread_started;

    pthread_mutex_t delivery; /* held while the owner's `message` runs */
    bool closed;              /* under delivery: hand out nothing more */
    bool refused;             /* Paho's thread's: nor until the next connection */
    bool begun_untold;        /* Paho's thread's: a session began, and that was refused */

    pthread_mutex_t mutex;
    pthread_cond_t wake;    /* for the keeper, on the monotonic clock */
    pthread_cond_t changed; /* for waiting callers, on the monotonic clock */
    /* Under mutex: */
    enum mqtt_link_phase phase;
    bool stopping;
    bool disconnected; /* the orderly disconnect has ended */
    bool subscribe_due;
    bool subscribing;
    int64_t attempt_us; /* when to connect, or since when connecting */
    int64_t up_us;      /* of the last connection */
    bool rival;         /* at its begin the last marker was another program's */
    bool sent_away;     /* the broker has said why it ended the last one */
    int64_t subscribe_us;
    int64_t heartbeat_due_us;
    int64_t beat_us; /* the stamp in the last heartbeat that left, */
    _Atomic int64_t
        received_us; /* lab_clock_now_us() when anything came last; Paho's thread sets it */
    int64_t beat_back_us; /* and in the last one that came back */
    /* When anything came last before a session was resumed whose backlog is not over; 0: none
     * is. Paho's thread sets it. */
    _Atomic int64_t backlog_us;
    int64_t silence_told_us; /* Paho's thread's */
    int64_t backoff_us;
    uint64_t attempts;
    bool closing; /* no more messages are taken over */
    bool worn;    /* this handle of Paho's was connected, or hangs: not to be used again */
    struct mqtt_outgoing *outgoing_first, *outgoing_last; /* in the order to be sent */
    struct mqtt_outgoing *outgoing_unsent; /* the first that Paho does not have; NULL: none */
    uint64_t pending;                      /* how many there are */
    size_t pending_bytes;
    uint64_t in_flight; /* of them, Paho's */
    bool resting;       /* the keeper comes back by itself, mqtt_sender_rest() */
    bool many;          /* so many were published of late, */
    int64_t counted_us; /* since then, when it was so many: */
    uint64_t counted;
    uint64_t rested; /* published when it last rested */
    char tls_error[MQTT_CLIENT_ERROR_MAX / 2];
    struct mqtt_client_state state;

    atomic_uint_fast64_t received, crowded;
};

/* Paho has each callback in two forms, of which it calls the one of the connection's MQTT
 * version: name5 and name3. Where it does not matter what they are told (success or failure),
 * both do the same; `context` is what the options carried. */
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

/* Have Paho call these two for one operation, in the form of the client's MQTT version. */
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

/* Wait until it is so, asked under mutex at each news, at most until lab_clock_monotonic_us()
 * is until_us. Returns whether it came to be so. */
bool mqtt_link_wait_until(struct mqtt_client *client, bool (*is_so)(const struct mqtt_client *),
                          int64_t until_us);
/* "doing host:port: reason". Under mutex. */
void mqtt_link_set_error(struct mqtt_client *client, const char *doing, const char *reason);
/* The link went down, or did not come up; the keeper tries again. Under mutex. */
void mqtt_link_go_down(struct mqtt_client *client);

/* ---- mqtt_sender.c ---- */

/* Is it one that may be published to? */
bool mqtt_sender_is_topic(const char *topic);
struct mqtt_send_mode {
    int qos;
    bool retained;
    bool urgent;    /* before all that waits, whatever the bounds */
    bool droppable; /* with this connection or never */
    bool once;      /* not again when the broker may have it */
};
/* Copy a message to the end of what is to be sent. Statuses as of mqtt_client_publish() and,
 * for what is fleeting, mqtt_client_publish_now(). */
MUST_USE enum status mqtt_sender_add(struct mqtt_client *client, const char *topic,
                                     const void *payload, size_t bytes,
                                     struct mqtt_send_mode mode);
/* Hand the next message to Paho. Under mutex, which is released meanwhile. Returns false when
 * there is none that Paho can take. */
bool mqtt_sender_send_next(struct mqtt_client *client);
/* Nothing is left to be handed over; next_us: when something else is due. Handed over one by
 * one as they come, messages cost several times as much, for Paho's threads then wake each
 * other and wait for each other: where thousands a second come, some wait for a
 * millisecond, until the time returned, and resting is set. Not those that are worth nothing
 * later, nor commands. Under mutex. */
int64_t mqtt_sender_rest(struct mqtt_client *client, int64_t next_us);
/* Everything not acknowledged is to be sent anew, but for what is fleeting; Paho has none of it
 * any more. Under mutex. */
void mqtt_sender_rewind(struct mqtt_client *client);
/* Forget what is left. Paho has none of it any more. */
void mqtt_sender_finish(struct mqtt_client *client);

/* ---- mqtt_write.c ---- */

/* Failed writes of all connections of this process, each of which cut its connection. */
uint64_t mqtt_write_count_broken(void);

/* ---- mqtt_connection.c ---- */

/* Cut the connection as it is, so that nothing is acknowledged any more. */
void mqtt_connection_cut(const struct mqtt_client *client);
/* Make a handle of Paho's, in place of the one before. Not under mutex. */
MUST_USE enum status mqtt_connection_make_handle(struct mqtt_client *client, struct err *err);
/* Start the thread. Returns false when there can be none. */
bool mqtt_connection_start(struct mqtt_client *client);
/* End it; nothing connects any more. Twice does no harm. */
void mqtt_connection_stop(struct mqtt_client *client);
/* Leave the broker in good order; waits for that at most until until_us. */
void mqtt_connection_leave(struct mqtt_client *client, int64_t until_us);
/* Publish text on the presence topic, if there is one. */
void mqtt_connection_announce(struct mqtt_client *client, const char *text);

#endif
