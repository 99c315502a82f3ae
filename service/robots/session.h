/* service/robots/session.h - a command's conversation with a broker: its client, and a bounded
 * queue from Paho's thread to the command's own.
 */
#ifndef SERVICE_ROBOTS_SESSION_H
#define SERVICE_ROBOTS_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/mqtt/mqtt_client.h"

struct session {
    struct mqtt_client *client;      /* NULL: none */
    struct mqtt_client_state state;  /* at the end */
    atomic_uint_least64_t malformed; /* messages that could not be read: counted by the owner */

    pthread_mutex_t mutex;
    pthread_cond_t arrived; /* on the monotonic clock */
    char *items;            /* [capacity][item_bytes] */
    size_t item_bytes, capacity, first, count;
    uint64_t overflow; /* items that found no room */
};

/* Make the queue, of at most capacity items of item_bytes. STATUS_E_NOMEM. In every case the
 * owner ends with session_finish(); one without a queue needs neither. */
MUST_USE enum status session_init(struct session *s, size_t item_bytes, size_t capacity);
void session_finish(struct session *s);

/* Begin to connect; false after a message on stderr. */
bool session_open(struct session *s, const struct mqtt_client_options *options);

/* Say offline and disconnect; *s keeps the client's last state. */
void session_close(struct session *s, int timeout_ms);

/* Was there ever a connection? False after a message on stderr. */
bool session_was_connected(const struct session *s);

/* Copy an item in; false, and counted, when there is no room. Any thread. */
bool session_push(struct session *s, const void *item);

/* Take the oldest item out; false when there is none. */
bool session_pop(struct session *s, void *item);

/* Wait until an item is there or lab_clock_monotonic_us() reaches until_us. */
void session_wait(struct session *s, int64_t until_us);

/* Sleep until lab_clock_monotonic_us() reaches until_us; false when a stop signal came before.
 */
bool session_sleep(int64_t until_us);

/* Can this prefix and this pair be names in topics? room: bytes wanted behind the pair's. False
 * after a message on stderr. */
bool session_names_fit(const char *prefix, const char *pair, size_t room);

#endif
