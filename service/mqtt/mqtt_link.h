/* service/mqtt/mqtt_link.h - the inside of mqtt_client, shared by its four files and nobody
 * else: mqtt_client.c (making, using, ending), mqtt_callbacks.c (what Paho tells),
 * mqtt_keeper.c (the thread that connects, subscribes, beats and sends), mqtt_sender.c (what is
 * to be sent).
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
    MQTT_LINK_OWNED_MAX = MQTT_CLIENT_TOPICS_MAX + 16,
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
    char *heartbeat_topic; /* NULL: none */
    char address[300];     /* "host:port", for messages */
    MQTTAsync paho;
    pthread_t keeper;
    bool keeper_started;

    pthread_mutex_t delivery; /* held while the owner's `message` runs */
    bool closed;              /* under delivery: hand out nothing more */

    pthread_mutex_t mutex;
    pthread_cond_t wake; /* for the keeper, on the monotonic clock */
    pthread_cond_t news; /* for waiting callers, on the monotonic clock */
    /* Under mutex: */
    enum mqtt_link_phase phase;
    bool stopping;
    bool disconnected; /* the orderly disconnect has ended */
    bool subscribe_due;
    bool subscribing;
    int64_t attempt_us; /* when to connect, or since when connecting */
    int64_t subscribe_us;
    int64_t heartbeat_due_us;
    int64_t beat_us;      /* the stamp in the last heartbeat that left, */
    int64_t heard_us;     /* Paho's thread: when anything came last, monotonic */
    int64_t beat_back_us; /* and in the last one that came back */
    int64_t backoff_us;
    uint64_t attempts;
    bool closing; /* no more messages are taken over */
    bool worn;    /* this handle of Paho's was connected, or hangs: not to be used again */
    struct mqtt_outgoing *outgoing_first, *outgoing_last; /* in the order to be sent */
    struct mqtt_outgoing *outgoing_unsent; /* the first that Paho does not have; NULL: none */
    uint64_t pending;                      /* how many there are */
    size_t pending_bytes;
    uint64_t in_flight; /* of them, Paho's */
    char tls_error[MQTT_CLIENT_ERROR_MAX / 2];
    struct mqtt_client_state state;

    atomic_uint_fast64_t received;
};

/* mqtt_callbacks.c */

/* Have Paho tell this client of messages and of lost connections. Returns Paho's code. */
int mqtt_callbacks_install(struct mqtt_client *client);
/* Fill in the callbacks for one operation, those of the client's MQTT version. */
void mqtt_callbacks_connect(struct mqtt_client *client, MQTTAsync_connectOptions *options);
void mqtt_callbacks_tls(struct mqtt_client *client, MQTTAsync_SSLOptions *options);
void mqtt_callbacks_subscribe(struct mqtt_client *client, MQTTAsync_responseOptions *options);
void mqtt_callbacks_send(struct mqtt_client *client, struct mqtt_outgoing *message,
                         MQTTAsync_responseOptions *options);
void mqtt_callbacks_disconnect(struct mqtt_client *client,
                               MQTTAsync_disconnectOptions *options);

void mqtt_link_lock(struct mqtt_client *client);
void mqtt_link_unlock(struct mqtt_client *client);
/* Wait for a condition of the client, at most until lab_clock_monotonic_us() is until_us. Under
 * mutex. */
void mqtt_link_wait(struct mqtt_client *client, pthread_cond_t *condition, int64_t until_us);
/* "doing host:port: reason". Under mutex. */
void mqtt_link_note_error(struct mqtt_client *client, const char *doing, const char *reason);
/* The link went down, or did not come up; the keeper tries again. Under mutex. */
void mqtt_link_go_down(struct mqtt_client *client);
/* A connection attempt failed. */
void mqtt_link_stayed_down(struct mqtt_client *client, const char *reason);
/* All subscriptions are accepted, or one is refused. */
void mqtt_link_subscribed(struct mqtt_client *client, const char *refused_filter);

/* mqtt_keeper.c */

/* Start the thread. Returns false when there can be none. */
bool mqtt_keeper_start(struct mqtt_client *client);
/* End it; nothing connects any more. Twice does no harm. */
void mqtt_keeper_stop(struct mqtt_client *client);
/* Publish text on the presence topic, if there is one. */
void mqtt_link_say(struct mqtt_client *client, const char *text);

/* mqtt_client.c */

/* Make a handle of Paho's, in place of the one before. Not under mutex. */
MUST_USE enum status mqtt_client_make_handle(struct mqtt_client *client, struct err *err);

/* mqtt_sender.c */

/* Is it one that may be published to? */
bool mqtt_sender_is_topic(const char *topic);
struct mqtt_sender_way {
    int qos;
    bool retained;
    bool urgent;   /* before all that waits, whatever the bounds */
    bool fleeting; /* with this connection or never */
};
/* Copy a message to the end of what is to be sent. Statuses as of mqtt_client_publish() and,
 * for what is fleeting, mqtt_client_publish_now(). */
MUST_USE enum status mqtt_sender_add(struct mqtt_client *client, const char *topic,
                                     const void *payload, size_t bytes,
                                     struct mqtt_sender_way way);
/* Is there a message that Paho can take? Under mutex. */
bool mqtt_sender_has_work(const struct mqtt_client *client);
/* Hand the next one to Paho. There must be one. Under mutex, which is released meanwhile. */
void mqtt_sender_send_next(struct mqtt_client *client);
enum mqtt_sender_outcome {
    MQTT_SENDER_ARRIVED,
    MQTT_SENDER_REFUSED,    /* the broker does not want it: given up */
    MQTT_SENDER_INTERRUPTED /* the connection was lost: sent again with the next one */
};
void mqtt_sender_outcome(struct mqtt_outgoing *message, enum mqtt_sender_outcome outcome);
/* Everything not acknowledged is to be sent anew, but for what is fleeting; Paho has none of it
 * any more. Under mutex. */
void mqtt_sender_rewind(struct mqtt_client *client);
/* Forget what is left. Paho has none of it any more. */
void mqtt_sender_finish(struct mqtt_client *client);

#endif
