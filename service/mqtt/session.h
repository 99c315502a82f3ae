/* service/mqtt/session.h - a command's conversation with a broker: its client, and a bounded
 * queue of messages from Paho's thread to the command's own, which takes them apart.
 */
#ifndef SERVICE_MQTT_SESSION_H
#define SERVICE_MQTT_SESSION_H

#include <pthread.h>

#include "logger/message/codec.h"
#include "service/mqtt/mqtt_client.h"

enum { SESSION_MESSAGES_MAX = 16384 };

struct session { /* all zero: not open */
    struct mqtt_client *client;
    struct mqtt_client_state state; /* at the end */

    pthread_mutex_t mutex;
    pthread_cond_t arrived; /* on the monotonic clock */
    struct message *messages[SESSION_MESSAGES_MAX];
    size_t first, count;
    uint64_t overflow; /* messages that found no room */
};

/* Begin to connect, with the queue for what is subscribed to, and listen to stop signals; false
 * after a message on stderr. *s stays where it is. */
bool session_open(struct session *s, struct mqtt_client_options options);

/* Say offline and disconnect; *s keeps the client's last state. One that is not open stays so.
 */
void session_close(struct session *s, int timeout_ms);

/* Was there ever a connection? False after a message on stderr. */
bool session_was_connected(const struct session *s);

/* Wait until subscribed; false when lab_clock_monotonic_us() reaches until_us or a stop signal
 * comes before. */
bool session_await(struct session *s, int64_t until_us);

/* Hand all messages that have arrived to take, oldest first. */
void session_drain(struct session *s, void (*handle)(void *context, const struct message *m),
                   void *context);

/* Wait until a message is there or lab_clock_monotonic_us() reaches until_us. */
void session_wait(struct session *s, int64_t until_us);

/* "<prefix>/<pair>/<word>" */
void session_topic(char out[MESSAGE_TOPIC_MAX], const char *prefix, const char *pair,
                   const char *word);

/* Send a command to topic, at QoS 1. False when there is no room on its way to the broker. */
bool session_command(struct session *s, const char *topic, const struct event_command *command);

/* Sleep until lab_clock_monotonic_us() reaches until_us; false when a stop signal came before.
 */
bool session_sleep(int64_t until_us);

/* Can this prefix and this pair be names in topics? room: bytes wanted behind the pair's. False
 * after a message on stderr. */
bool session_names_fit(const char *prefix, const char *pair, size_t room);

#endif
