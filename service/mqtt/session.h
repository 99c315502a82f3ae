/* service/mqtt/session.h - a command's connection to a broker: its client, and a bounded queue
 * of messages from Paho's thread to the command's own thread.
 */
#ifndef SERVICE_MQTT_SESSION_H
#define SERVICE_MQTT_SESSION_H

#include <pthread.h>

#include "logger/message/codec.h"
#include "service/mqtt/mqtt_client.h"

enum {
    SESSION_MESSAGES_MAX = 16384,
    SESSION_ID_MAX = 320 /* bytes of a client id with its NUL */
};

struct session { /* all zero: not open */
    struct mqtt_client *client;
    struct mqtt_client_state state; /* state at the end */
    int64_t evicted_us;             /* last report that another program has the client id */

    pthread_mutex_t mutex;
    pthread_cond_t arrived; /* on the monotonic clock */
    struct message *messages[SESSION_MESSAGES_MAX];
    size_t first, count;
    uint64_t overflow; /* messages dropped because the queue was full */
};

/* Begin to connect, with a queue for subscribed messages, and handle stop signals; false after
 * a message on stderr. *s must not move. The client id becomes "<prefix>.<id>" with dots for
 * slashes; with unique_id the process and a random number follow. Another program with the same
 * one is reported on stderr. */
bool session_open(struct session *s, struct mqtt_client_options options);

/* Publish offline and disconnect; *s keeps the client's last state. No effect when not open. */
void session_close(struct session *s, int timeout_ms);

/* Was there ever a connection? False after a message on stderr. */
bool session_was_connected(const struct session *s);

/* Wait until subscribed; false when lab_clock_monotonic_us() reaches until_us or a stop signal
 * arrives first. */
bool session_await(struct session *s, int64_t until_us);

/* Pass all arrived messages to handle, oldest first. */
void session_drain(struct session *s, void (*handle)(void *context, const struct message *m),
                   void *context);

/* Wait until a message is there or lab_clock_monotonic_us() reaches until_us. */
void session_wait(struct session *s, int64_t until_us);

/* Format "<prefix>/<pair>/<word>". */
void session_topic(char out[MESSAGE_TOPIC_MAX], const char *prefix, const char *pair,
                   const char *word);

/* Send a command to topic, at QoS 1. False when the client's buffer is full. */
bool session_command(struct session *s, const char *topic, const struct event_command *command);

/* Sleep until lab_clock_monotonic_us() reaches until_us; false when a stop signal arrives
 * first.
 */
bool session_sleep(int64_t until_us);

/* Can this prefix and this pair be parts of topics? room: bytes needed behind the pair's. False
 * after a message on stderr. */
bool session_names_fit(const char *prefix, const char *pair, size_t room);

#endif
