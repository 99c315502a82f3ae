/* tests/support/mqtt_fixture.h - MQTT clients at a broker of the test's own, and what they
 * received. */
#ifndef TESTS_SUPPORT_MQTT_FIXTURE_H
#define TESTS_SUPPORT_MQTT_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/mqtt/mqtt_client.h"
#include "service/tool/lab_clock.h"
#include "tests/support/broker.h"
#include "tests/support/check.h"

enum { STORED_MAX = 4096, UP_MS = 20000 };
#define wait_subscribed(client) mqtt_client_wait_subscribed(client, wait_limit_ms(UP_MS))
#define wait_sent(client)       mqtt_client_wait_sent(client, wait_limit_ms(UP_MS))

/* Messages that a client received, under its own lock. */
struct inbox {
    pthread_mutex_t mutex;
    size_t count;
    char last[256];
    size_t seen[STORED_MAX]; /* how often the payload "n" came */
    int64_t worst_us;      /* latest payload "@<monotonic time>" */
    atomic_long slow_ms;   /* duration of one callback */
    struct mqtt_client *refuser;
    unsigned refusals, connections; /* messages to refuse, and callbacks about them: */
    bool resumed[8];
};

static inline void store_message(void *context, const char *topic, const void *payload,
                                 size_t bytes, int qos, bool retained, bool dup,
                                 uint16_t packet_id)
{
    struct inbox *in = context;
    (void)topic;
    (void)qos;
    (void)retained;
    (void)dup;
    (void)packet_id;
    pass_time_ms(atomic_load(&in->slow_ms));
    (void)pthread_mutex_lock(&in->mutex);
    in->count++;
    (void)snprintf(in->last, sizeof in->last, "%.*s", (int)bytes, (const char *)payload);
    const unsigned long n = strtoul(in->last, NULL, 10);
    if (in->last[0] == '@') {
        const int64_t late_us = lab_clock_monotonic_us() - strtoll(in->last + 1, NULL, 10);
        in->worst_us = late_us > in->worst_us ? late_us : in->worst_us;
    } else if (n < STORED_MAX) {
        in->seen[n]++;
    }
    (void)pthread_mutex_unlock(&in->mutex);
}

static inline void inbox_init(struct inbox *in)
{
    memset(in, 0, sizeof *in);
    (void)pthread_mutex_init(&in->mutex, NULL);
}

static inline size_t inbox_count(struct inbox *in)
{
    (void)pthread_mutex_lock(&in->mutex);
    const size_t count = in->count;
    (void)pthread_mutex_unlock(&in->mutex);
    return count;
}

/* A copy of the last payload, valid until the next call. */
static inline const char *inbox_last(struct inbox *in)
{
    static char copy[sizeof in->last];
    (void)pthread_mutex_lock(&in->mutex);
    memcpy(copy, in->last, sizeof copy);
    (void)pthread_mutex_unlock(&in->mutex);
    return copy;
}

static inline bool inbox_wait(struct inbox *in, size_t count, int timeout_ms)
{
    for (int64_t end_us = 0; inbox_count(in) < count && wait_more(&end_us, timeout_ms);) {
    }
    return inbox_count(in) >= count;
}

static const struct mqtt_client_topic all_topics[] = {{"t/#", 1}};

static inline struct mqtt_client_options options_for(const struct broker *b, const char *id,
                                                     struct inbox *in)
{
    return (struct mqtt_client_options){.port = b->port,
                                        .client_id = id,
                                        .prefix = "lab",
                                        .topics = in ? all_topics : NULL,
                                        .topic_count = in ? 1 : 0,
                                        .message = in ? store_message : NULL,
                                        .context = in};
}

static inline struct mqtt_client *make_client(const char *row,
                                       const struct mqtt_client_options *options)
{
    struct mqtt_client *client = NULL;
    struct err err = {0};
    CHECK_INT(row, mqtt_client_create(&client, options, &err), STATUS_OK);
    if (!client) {
        (void)fprintf(stderr, "%s: %s %s\n", row, err.where, err.text);
    }
    return client;
}

static inline void end_client(struct mqtt_client *client)
{
    mqtt_client_stop(client, 2000);
    mqtt_client_destroy(client);
}

static inline int publish_text(struct mqtt_client *client, const char *topic, const char *text)
{
    return (int)mqtt_client_publish(client, topic, text, strlen(text), 1, false);
}

static inline bool wait_error(struct mqtt_client *client, const char *part,
                              struct mqtt_client_state *state)
{
    int64_t end_us = 0;
    do {
        mqtt_client_read_state(client, state);
        if (strstr(state->error, part)) {
            return true;
        }
    } while (wait_more(&end_us, 10000));
    (void)fprintf(stderr, "error is \"%s\", want \"%s\"\n", state->error, part);
    return false;
}

#endif
