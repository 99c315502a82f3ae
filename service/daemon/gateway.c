#include "service/daemon/gateway.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/codecs.h"
#include "service/mqtt/broker_client.h"

static const char online[] = "{\"state\":\"online\"}";
static const char offline[] = "{\"state\":\"offline\"}";

struct gateway {
    char prefix[LAB_PREFIX_MAX];
    struct codec_set codecs;
    struct inbox *inbox;
    struct robot_states *states;
    struct mqtt_client *client;
    _Atomic uint64_t oversized, ignored;
};

static bool is_sample(const struct gateway *g, const char *topic)
{
    bool sample = false;
    for (size_t i = 0; !sample && i < g->codecs.count; i++) {
        sample = g->codecs.codec[i]->is_sample(g->prefix, topic);
    }
    return sample;
}

/* Runs on Paho's thread: must not wait. */
static void take_message(void *context, const char *topic, const void *payload, size_t bytes,
                         int qos, bool retained, bool dup)
{
    struct gateway *g = context;
    struct message m = {.qos = qos,
                        .retained = retained,
                        .dup = dup,
                        .payload = payload,
                        .kept_bytes = bytes,
                        .payload_bytes = bytes};
    const size_t topic_bytes = strlen(topic);
    if (topic_bytes >= sizeof m.topic || lab_line_is(g->prefix, topic)) {
        atomic_fetch_add_explicit(&g->ignored, 1, memory_order_relaxed);
        return;
    }
    if (robot_states_take(g->states, g->prefix, topic, payload, bytes)) {
        return;
    }
    memcpy(m.topic, topic, topic_bytes + 1);
    if (bytes > MESSAGE_PAYLOAD_MAX) {
        m.kept_bytes = MESSAGE_PAYLOAD_MAX;
        atomic_fetch_add_explicit(&g->oversized, 1, memory_order_relaxed);
    }
    inbox_take(g->inbox, &m, is_sample(g, topic) ? INBOX_SAMPLE : INBOX_EVENT);
}

/* What comes next may have waited at the broker, or in the socket of a frozen process: the lab
 * has to know, so it goes into the journal. */
static void note_silence(void *context, int64_t silent_us)
{
    struct gateway *g = context;
    char payload[64];
    struct json_writer w;
    json_write_start(&w, payload, sizeof payload, NULL, NULL);
    json_write_object(&w, NULL);
    json_write_seconds(&w, "away_s", silent_us);
    json_write_close(&w);
    (void)json_write_end(&w);
    inbox_note(g->inbox, "away", payload, w.used);
}

static void add_topic(const struct gateway *g, const char *filter, int qos,
                      char filters[][MESSAGE_TOPIC_MAX], struct mqtt_client_topic *topics,
                      size_t *count)
{
    assert(*count < MQTT_CLIENT_TOPICS_MAX);
    (void)snprintf(filters[*count], MESSAGE_TOPIC_MAX, "%s/%s", g->prefix, filter);
    topics[*count] = (struct mqtt_client_topic){filters[*count], qos};
    (*count)++;
}

static enum status connect_client(struct gateway *g, const struct broker_options *broker,
                                  struct err *err)
{
    char filters[MQTT_CLIENT_TOPICS_MAX][MESSAGE_TOPIC_MAX];
    struct mqtt_client_topic topics[MQTT_CLIENT_TOPICS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < g->codecs.count; i++) {
        for (const struct codec_topic *t = g->codecs.codec[i]->topics; t->filter; t++) {
            add_topic(g, t->filter, t->qos, filters, topics, &count);
        }
    }
    add_topic(g, "+/+/machines", 0, filters, topics, &count);
    char presence[LAB_PREFIX_MAX + 16];
    (void)snprintf(presence, sizeof presence, "%s/connection", g->prefix);
    struct mqtt_client_options options = broker_client_options(broker, broker->client_id);
    options.persistent = broker->session_expiry_s > 0;
    options.session_expiry_s = broker->session_expiry_s;
    options.prefix = g->prefix;
    options.presence = presence;
    options.online = online;
    options.offline = offline;
    options.topics = topics;
    options.topic_count = count;
    options.message = take_message;
    options.silence = note_silence;
    options.context = g;
    return mqtt_client_create(&g->client, &options, err);
}

enum status gateway_start(const struct broker_options *broker, const struct lab *lab,
                          struct inbox *inbox, struct robot_states *states,
                          struct gateway **out, struct err *err)
{
    struct gateway *g = calloc(1, sizeof *g);
    if (!g) {
        return err_set(err, STATUS_E_NOMEM, "gateway", 0, 0, "no memory");
    }
    memcpy(g->prefix, broker->prefix, sizeof g->prefix);
    lab_codecs(lab, &g->codecs);
    g->inbox = inbox;
    g->states = states;
    const enum status status = connect_client(g, broker, err);
    if (status != STATUS_OK) {
        free(g);
        return status;
    }
    *out = g;
    return STATUS_OK;
}

enum status gateway_send(struct gateway *g, const char *rest, const char *payload, size_t bytes,
                         int qos, bool retained)
{
    char topic[MESSAGE_TOPIC_MAX];
    const int n = snprintf(topic, sizeof topic, "%s/%s", g->prefix, rest);
    if (n < 0 || (size_t)n >= sizeof topic) {
        return STATUS_E_ARG;
    }
    return qos == 0 && !retained
               ? mqtt_client_publish_now(g->client, topic, payload, bytes)
               : mqtt_client_publish(g->client, topic, payload, bytes, qos, retained);
}

enum status gateway_publish(struct gateway *g, const char *pair, const char *what,
                            const char *payload, size_t bytes, int qos, bool retained)
{
    char rest[MESSAGE_TOPIC_MAX];
    const int n = snprintf(rest, sizeof rest, "%s/%s", pair, what);
    return n < 0 || (size_t)n >= sizeof rest
               ? STATUS_E_ARG
               : gateway_send(g, rest, payload, bytes, qos, retained);
}

void gateway_read_state(struct gateway *g, struct mqtt_client_state *state)
{
    mqtt_client_read_state(g->client, state);
}

void gateway_read_counts(struct gateway *g, struct gateway_counts *counts)
{
    counts->oversized = atomic_load_explicit(&g->oversized, memory_order_relaxed);
    counts->ignored = atomic_load_explicit(&g->ignored, memory_order_relaxed);
}

void gateway_stop(struct gateway *g, int timeout_ms)
{
    mqtt_client_stop(g->client, timeout_ms);
}

void gateway_destroy(struct gateway *g)
{
    if (g) {
        mqtt_client_destroy(g->client);
        free(g);
    }
}
