#include "service/mqtt/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "logger/message/codec_native.h"
#include "logger/storage/lock.h"
#include "service/tool/commands.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum { SLICE_US = 50 * 1000, SLICE_MS = 100 }; /* longest delay before a signal is noticed */

/* Runs on Paho's thread. A payload that is too long is truncated; payload_bytes still has its
 * length. */
static void receive_message(void *context, const char *topic, const void *payload, size_t bytes,
                            int qos, bool retained, bool dup, uint16_t packet_id)
{
    struct session *s = context;
    const size_t copied_bytes = bytes < MESSAGE_PAYLOAD_MAX ? bytes : MESSAGE_PAYLOAD_MAX;
    struct message *m = malloc(sizeof *m + copied_bytes);
    if (m) {
        *m = (struct message){.t_us = lab_clock_now_us(),
                              .qos = qos,
                              .retained = retained,
                              .dup = dup,
                              .packet_id = packet_id,
                              .payload = memcpy(m + 1, payload, copied_bytes),
                              .stored_bytes = copied_bytes,
                              .payload_bytes = bytes};
        (void)snprintf(m->topic, sizeof m->topic, "%s", topic);
    }
    (void)pthread_mutex_lock(&s->mutex);
    if (m && s->count < SESSION_MESSAGES_MAX) {
        s->messages[(s->first + s->count++) % SESSION_MESSAGES_MAX] = m;
        (void)pthread_cond_signal(&s->arrived);
    } else {
        s->overflow++;
        free(m);
    }
    (void)pthread_mutex_unlock(&s->mutex);
}

static struct message *pop_message(struct session *s)
{
    struct message *m = NULL;
    (void)pthread_mutex_lock(&s->mutex);
    if (s->count > 0) {
        m = s->messages[s->first];
        s->first = (s->first + 1) % SESSION_MESSAGES_MAX;
        s->count--;
    }
    (void)pthread_mutex_unlock(&s->mutex);
    return m;
}

void session_drain(struct session *s, void (*handle)(void *context, const struct message *m),
                   void *context)
{
    struct message *m = NULL;
    while ((m = pop_message(s))) {
        handle(context, m);
        free(m);
    }
}

enum { REPORT_AGAIN_US = 60 * 1000000 };

/* Runs on Paho's thread. */
static void report_eviction(void *context, const char *text)
{
    struct session *s = context;
    const int64_t now_us = lab_clock_monotonic_us();
    if (s->evicted_us == 0 || now_us - s->evicted_us > REPORT_AGAIN_US) {
        complain("%s", text);
        s->evicted_us = now_us;
    }
}

/* Labs of one broker differ in their prefix. A level of a topic cannot hold '/'. */
static void write_client_id(char out[SESSION_ID_MAX], const struct mqtt_client_options *o)
{
    uint32_t random = 0;
    const size_t prefix = o->prefix ? strlen(o->prefix) : 0;
    (void)snprintf(out, SESSION_ID_MAX, "%s%s%s", prefix > 0 ? o->prefix : "",
                   prefix > 0 ? "." : "", o->client_id);
    for (char *at = out; at < out + prefix && *at; at++) {
        *at = *at == '/' ? '.' : *at;
    }
    if (o->unique_id) {
        const size_t used = strlen(out);
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
            random = (uint32_t)lab_clock_monotonic_us();
        }
        (void)snprintf(out + used, SESSION_ID_MAX - used, "-%ld-%08" PRIx32, (long)getpid(),
                       random);
    }
}

bool session_open(struct session *s, struct mqtt_client_options options)
{
    struct err err = {0};
    char id[SESSION_ID_MAX];
    stop_signal_install();
    lock_init_condition(&s->arrived);
    (void)pthread_mutex_init(&s->mutex, NULL);
    write_client_id(id, &options);
    options.client_id = id;
    options.message = receive_message;
    options.evicted = report_eviction;
    options.context = s;
    if (mqtt_client_create(&s->client, &options, &err) == STATUS_OK) {
        return true;
    }
    return complain_err(&err);
}

void session_close(struct session *s, int timeout_ms)
{
    if (s->client) {
        mqtt_client_read_state(s->client, &s->state);
        mqtt_client_stop(s->client, timeout_ms);
        mqtt_client_destroy(s->client);
        s->client = NULL;
        for (struct message *m = pop_message(s); m; m = pop_message(s)) {
            free(m);
        }
        (void)pthread_cond_destroy(&s->arrived);
        (void)pthread_mutex_destroy(&s->mutex);
    }
}

bool session_was_connected(const struct session *s)
{
    return s->state.connections > 0 ||
           complain("%s", s->state.error[0] ? s->state.error : "was never connected");
}

bool session_await(struct session *s, int64_t until_us)
{
    bool subscribed = false;
    while (!subscribed && !stop_signal_raised() && lab_clock_monotonic_us() < until_us) {
        subscribed = mqtt_client_wait_subscribed(s->client, SLICE_MS);
    }
    return subscribed;
}

void session_topic(char out[MESSAGE_TOPIC_MAX], const char *prefix, const char *pair,
                   const char *word)
{
    (void)snprintf(out, MESSAGE_TOPIC_MAX, "%s/%s/%s", prefix, pair, word);
}

bool session_command(struct session *s, const char *topic, const struct event_command *command)
{
    char payload[EVENT_RAW_MAX];
    struct json_writer w;
    json_write_start(&w, payload, sizeof payload, NULL, NULL);
    native_write(&w, EVENT_COMMAND, command);
    return json_write_end(&w) &&
           mqtt_client_publish(s->client, topic, payload, w.used, 1, false) == STATUS_OK;
}

void session_wait(struct session *s, int64_t until_us)
{
    (void)pthread_mutex_lock(&s->mutex);
    while (s->count == 0 && lab_clock_monotonic_us() < until_us) {
        lock_wait(&s->arrived, &s->mutex, until_us);
    }
    (void)pthread_mutex_unlock(&s->mutex);
}

bool session_sleep(int64_t until_us)
{
    while (!stop_signal_raised() && lab_clock_monotonic_us() < until_us) {
        const int64_t slice_us = lab_clock_monotonic_us() + SLICE_US;
        lab_clock_sleep_until_us(slice_us < until_us ? slice_us : until_us);
    }
    return !stop_signal_raised();
}

bool session_names_fit(const char *prefix, const char *pair, size_t room)
{
    if (strlen(prefix) < CODEC_PREFIX_MAX - EVENT_PAIR_MAX && pair[0] &&
        strlen(pair) + room < EVENT_PAIR_MAX && !strpbrk(pair, "/+#")) {
        return true;
    }
    return complain(
        "--prefix and --pair: shorter ones without / + # in the pair were expected");
}
