/* service/daemon/gateway.c - moves messages from the broker into the inbox, publishes those
 * of the lab, and caches the states of robots' machines for display. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/codec_native.h"
#include "logger/message/json_scan.h"
#include "logger/message/json_write.h"
#include "logger/message/mission_request.h"
#include "logger/message/team_request.h"
#include "service/daemon/daemon_parts.h"
#include "service/mqtt/broker_arguments.h"
#include "service/mqtt/topic_list.h"
#include "service/tool/lab_clock.h"

enum {
    SEND_US = 100000,     /* between two looks whether the daemon stops */
    SEND_MAX_US = 2000000 /* for all threads but the lab's */
};

/* ---- machine states from robots ------------------------------------------------------ */

/* Splits "<prefix>/<pair>/<side>/machines"; false for any other topic. */
static bool split_topic(const char *prefix, const char *topic, char pair[EVENT_PAIR_MAX],
                        enum side *side)
{
    const size_t n = strlen(prefix);
    const char *id = topic + n + 1;
    if (strncmp(topic, prefix, n) != 0 || topic[n] != '/') {
        return false;
    }
    const char *slash = strchr(id, '/');
    if (!slash || slash - id >= EVENT_PAIR_MAX) {
        return false;
    }
    memcpy(pair, id, (size_t)(slash - id));
    pair[slash - id] = '\0';
    *side = strcmp(slash, "/real/machines") == 0      ? SIDE_REAL
            : strcmp(slash, "/virtual/machines") == 0 ? SIDE_VIRTUAL
                                                      : SIDE_COUNT;
    return *side < SIDE_COUNT;
}

static bool is_object(const char *text, size_t bytes)
{
    struct json_scan s;
    json_scan_start(&s, text, bytes, 16);
    return json_scan_peek(&s) == JSON_KIND_OBJECT && json_scan_skip(&s, NULL, NULL) &&
           json_scan_finish(&s);
}

/* Stores a message on "<prefix>/<pair>/<side>/machines"; an empty one deletes the old state.
 * False for any other topic. A message that is no JSON object, too long, or of an unknown pair
 * is dropped. */
static bool store_robot_state(struct daemon *d, const char *topic, const char *payload,
                              size_t bytes)
{
    char id[EVENT_PAIR_MAX];
    enum side side = SIDE_COUNT;
    if (!split_topic(d->file->broker.prefix, topic, id, &side)) {
        return false;
    }
    const long pair = lab_find(d->lab, id);
    const bool good =
        pair >= 0 && bytes <= WEB_MACHINES_MAX && (bytes == 0 || is_object(payload, bytes));
    char *text = good && bytes > 0 ? malloc(bytes) : NULL;
    if (text) {
        memcpy(text, payload, bytes);
    }
    (void)pthread_mutex_lock(&d->lock);
    if (good && (text || bytes == 0)) {
        struct robot_state *state = &d->gateway.robots[pair][side];
        char *old = state->text;
        *state = (struct robot_state){text, bytes};
        text = old;
    }
    (void)pthread_mutex_unlock(&d->lock);
    free(text);
    return true;
}

size_t gateway_read_robot(void *daemon, size_t pair, enum side side, char out[WEB_MACHINES_MAX])
{
    struct daemon *d = daemon;
    (void)pthread_mutex_lock(&d->lock);
    const struct robot_state *state = &d->gateway.robots[pair][side];
    const size_t bytes = state->bytes;
    if (bytes > 0) {
        memcpy(out, state->text, bytes);
    }
    (void)pthread_mutex_unlock(&d->lock);
    return bytes;
}

/* ---- from the broker ---- */

static bool is_sample(const struct daemon *d, const char *topic)
{
    return codec_is_sample(&d->gateway.codecs, d->file->broker.prefix, topic);
}

/* Serves both connections, on Paho's thread, so it must not wait. */
static void receive_message(void *context, const char *topic, const void *payload, size_t bytes,
                            int qos, bool retained, bool dup, uint16_t packet_id)
{
    struct daemon *d = context;
    struct message m = {.qos = qos,
                        .retained = retained,
                        .dup = dup,
                        .packet_id = packet_id,
                        .payload = payload,
                        .stored_bytes = bytes,
                        .payload_bytes = bytes};
    const size_t topic_bytes = strlen(topic);
    if (topic_bytes >= sizeof m.topic || lab_line_is(d->file->broker.prefix, topic)) {
        atomic_fetch_add_explicit(&d->gateway.ignored, 1, memory_order_relaxed);
        return;
    }
    if (store_robot_state(d, topic, payload, bytes)) {
        return;
    }
    memcpy(m.topic, topic, topic_bytes + 1);
    if (bytes > MESSAGE_PAYLOAD_MAX) {
        m.stored_bytes = MESSAGE_PAYLOAD_MAX;
        atomic_fetch_add_explicit(&d->gateway.oversized, 1, memory_order_relaxed);
    }
    const enum inbox_kind kind = is_sample(d, topic) ? INBOX_SAMPLE : INBOX_EVENT;
    if (kind == INBOX_SAMPLE && standby_is_shared(d)) {
        return; /* it is not replicated */
    }
    /* Without an acknowledgement the broker keeps the message until the journal can be
     * written. */
    if (inbox_add(d->inbox, &m, kind) != STATUS_OK && kind == INBOX_EVENT) {
        mqtt_client_refuse(d->gateway.client, "the journal cannot be written");
    }
}

/* Lab and journal must both know the context of messages, or none is accepted. Otherwise a
 * restart and every replay would read them in the previous context. */
static void record_or_refuse(const struct daemon *d, const char *what, const char *payload,
                             size_t bytes)
{
    if (inbox_offer(d->inbox, what, payload, bytes) != STATUS_OK) {
        mqtt_client_refuse(d->gateway.client, "the journal cannot be written");
    }
}

/* The next messages may have waited at the broker, or in the socket of a frozen process. */
static void record_silence(void *context, int64_t silent_us)
{
    const struct daemon *d = context;
    char payload[64];
    record_or_refuse(d, "away", payload,
                     JSON_FORMAT(payload, sizeof payload, JSON_SECONDS("away_s", silent_us)));
}

/* A frozen process receives on neither connection. If only telemetry was held up, no reply has
 * waited. */
void gateway_record_frozen(void *context, int64_t silent_us)
{
    const struct daemon *d = context;
    if (!gateway_client(d) || mqtt_client_silent_us(gateway_client(d)) < silent_us / 2) {
        return;
    }
    if (standby_is_shared(d)) { /* the lab thread must not wait for the database */
        char payload[64];
        inbox_record(d->inbox, "away", payload,
                     JSON_FORMAT(payload, sizeof payload, JSON_SECONDS("away_s", silent_us)));
    } else {
        record_silence(context, silent_us);
    }
}

/* The packet ids that follow belong to this session. */
static void record_session(void *context, bool resumed, int64_t silent_us, int64_t unsure_us)
{
    const struct daemon *d = context;
    char payload[128];
    const size_t bytes =
        JSON_FORMAT(payload, sizeof payload, JSON("resumed", resumed),
                    JSON_BOOL("persistent", d->file->broker.session_expiry_s > 0),
                    JSON_SECONDS("away_s", silent_us),
                    JSON_IF(unsure_us >= 0, JSON_SECONDS("unsure_s", unsure_us)));
    record_or_refuse(d, "session", payload, bytes);
}

/* ---- echoes of our commands ---------------------------------------------------------- */

/* Returns the robot of a team that this pair is; NULL: none. */
static const char *find_member(const struct daemon *d, const char *pair, const char **team)
{
    for (size_t k = 0; k < d->params.team_count; k++) {
        const struct team_params *p = &d->params.teams[k];
        for (size_t i = 0; i < p->robot_count; i++) {
            if (strcmp(p->robots[i].pair, pair) == 0) {
                *team = p->name;
                return p->robots[i].name;
            }
        }
    }
    return NULL;
}

/* Splits "<prefix>/<pair>/<side>/command". */
static bool split_command(const char *prefix, const char *topic, char pair[EVENT_PAIR_MAX],
                          enum side *side)
{
    char machines[MESSAGE_TOPIC_MAX];
    const char *word = strrchr(topic, '/');
    if (!word || strcmp(word, "/command") != 0) {
        return false;
    }
    const int n =
        snprintf(machines, sizeof machines, "%.*s/machines", (int)(word - topic), topic);
    return n > 0 && (size_t)n < sizeof machines && split_topic(prefix, machines, pair, side);
}

/* Records that a team's command arrived at the broker; otherwise it is sent again after a
 * start. On Paho's thread. */
static void record_arrival(void *context, const char *topic, const void *payload, size_t bytes)
{
    const struct daemon *d = context;
    char pair[EVENT_PAIR_MAX];
    char text[256];
    enum side side = SIDE_COUNT;
    const char *team = NULL;
    struct event event = {.kind = EVENT_KIND_COUNT};
    struct message m = {.topic = "t/p/command",
                        .payload = payload,
                        .stored_bytes = bytes,
                        .payload_bytes = bytes};
    const char *robot = split_command(d->file->broker.prefix, topic, pair, &side)
                            ? find_member(d, pair, &team)
                            : NULL;
    if (!robot || codec_native.decode("t", &m, codec_copy_event, &event) == 0 ||
        event.kind != EVENT_COMMAND) {
        return;
    }
    const size_t used = JSON_FORMAT(
        text, sizeof text, JSON("team", team), JSON("op", team_op_name(TEAM_OP_SENT)),
        JSON("robot", robot), JSON("id", event.command.id), JSON("side", side_name(side)));
    if (used > 0) {
        inbox_record(d->inbox, "request", text, used);
    }
}

/* Topic filters: streams, and all others. */
struct subscription {
    struct topic_list samples, others;
};

static void add_topic(struct subscription *s, const char *prefix, const char *filter, int qos)
{
    topic_list_add(qos == 0 ? &s->samples : &s->others, prefix, filter, qos);
}

static void add_foreign(struct subscription *s, const struct codec_set *set)
{
    struct codec_pair pair;
    struct codec_place place;
    for (size_t k = 0; set->foreign && set->foreign(set->context, k, &pair); k++) {
        for (size_t i = 0; pair.codec->place(pair.options, i, &place); i++) {
            if (!place.silent) {
                add_topic(s, "", place.filter, place.qos);
            }
        }
    }
}

/* Lists all topics that the lab subscribes to. */
static void list_topics(const struct daemon *d, struct subscription *s)
{
    const char *prefix = d->file->broker.prefix;
    const struct codec_set *set = &d->gateway.codecs;
    for (size_t i = 0; i < set->count; i++) {
        for (const struct codec_topic *t = set->codec[i]->topics; t->filter; t++) {
            add_topic(s, prefix, t->filter, t->qos);
        }
    }
    topic_list_add(&s->others, prefix, "+/+/machines", 0);
    for (size_t i = 0; lab_team_count(d->lab) > 0 && i < team_request_topic_count; i++) {
        add_topic(s, prefix, team_request_topics[i], 1);
    }
    for (size_t i = 0; i < lab_pair_count(d->lab); i++) {
        if (lab_missions(d->lab, i)) {
            add_topic(s, prefix, mission_request_topic, 1);
            break;
        }
    }
    add_foreign(s, set);
}

/* Two connections would receive a message twice if it matched filters of both. A broker may
 * also identify clients by user name (use_username_as_clientid) or certificate: then a second
 * connection of one user disconnects the first. */
static bool may_come_apart(const struct broker_options *broker, const struct subscription *s)
{
    const bool nameless = !broker->username[0] && !broker->tls.cert_file[0];
    return (nameless || broker->telemetry_username[0]) &&
           !topic_list_meet(&s->samples, &s->others);
}

static void merge_subscriptions(struct subscription *s)
{
    for (size_t i = 0; i < s->samples.count && i < MQTT_CLIENT_TOPICS_MAX; i++) {
        topic_list_add(&s->others, "", s->samples.filter[i], 0);
    }
    s->samples.count = 0;
}

/* A clean session: missed telemetry is lost. */
static enum status start_telemetry(struct daemon *d, const struct topic_list *samples,
                                   struct err *err)
{
    const struct broker_options *broker = &d->file->broker;
    char id[LAB_NAME_MAX + 16];
    (void)snprintf(id, sizeof id, "%s-telemetry", broker->client_id);
    struct mqtt_client_options options = broker_client_options(broker, id);
    if (broker->telemetry_username[0]) {
        options.user = broker->telemetry_username;
        options.password_file =
            broker->telemetry_password_file[0] ? broker->telemetry_password_file : NULL;
    }
    options.topics = samples->topic;
    options.topic_count = samples->count;
    options.message = receive_message;
    options.silence = gateway_record_frozen;
    options.context = d;
    return mqtt_client_create(&d->gateway.telemetry, &options, err);
}

/* A process that was frozen must not take the broker's connection of the next owner. */
static bool may_connect(void *context)
{
    const struct daemon *d = context;
    return partition_may_connect(d->standby.partition);
}

/* The persistent session may still have subscriptions from a time without the second
 * connection, so filters of samples are unsubscribed here. */
static enum status start_main(struct daemon *d, const struct subscription *s, struct err *err)
{
    const struct broker_options *broker = &d->file->broker;
    char presence[LAB_PREFIX_MAX + 16];
    (void)snprintf(presence, sizeof presence, "%s/connection", broker->prefix);
    struct mqtt_client_options options = broker_client_options(broker, broker->client_id);
    options.persistent = broker->session_expiry_s > 0;
    options.session_expiry_s = broker->session_expiry_s;
    options.presence = presence;
    options.online = "{\"state\":\"online\"}";
    options.offline = "{\"state\":\"offline\"}";
    options.topics = s->others.topic;
    options.topic_count = s->others.count;
    options.former = s->samples.topic;
    options.former_count = s->samples.count;
    options.message = receive_message;
    options.silence = record_silence;
    options.accepted = record_session;
    options.arrived = lab_team_count(d->lab) > 0 ? record_arrival : NULL;
    options.may_connect = standby_is_shared(d) ? may_connect : NULL;
    options.context = d;
    const enum status status = mqtt_client_create(&d->gateway.client, &options, err);
    atomic_store(&d->gateway.connects, status == STATUS_OK);
    return status;
}

struct mqtt_client *gateway_client(const struct daemon *d)
{
    return atomic_load(&d->gateway.connects) ? d->gateway.client : NULL;
}

void gateway_read_state(const struct daemon *d, struct mqtt_client_state *state)
{
    struct mqtt_client *client = gateway_client(d);
    *state = (struct mqtt_client_state){.heartbeat_rtt_us = -1};
    if (client) {
        mqtt_client_read_state(client, state);
    }
}

enum status gateway_open(struct daemon *d, struct err *err)
{
    struct codec_sink *sink = &d->gateway.codecs.sink;
    lab_codecs(d->lab, &d->gateway.codecs);
    d->gateway.room = d->gateway.codecs.foreign ? malloc(MESSAGE_PAYLOAD_MAX) : NULL;
    if (d->gateway.codecs.foreign && !d->gateway.room) {
        return err_no_memory(err, "broker", "no memory");
    }
    *sink = (struct codec_sink){.send = d->gateway.answer,
                                .send_context = d,
                                .room = d->gateway.room,
                                .room_bytes = MESSAGE_PAYLOAD_MAX};
    return STATUS_OK;
}

enum status gateway_connect(struct daemon *d, struct err *err)
{
    struct subscription *s = calloc(1, sizeof *s);
    if (!s) {
        return err_no_memory(err, "broker", "no memory");
    }
    list_topics(d, s);
    /* One connection is enough for a lab without telemetry. */
    if (standby_is_shared(d) || !may_come_apart(&d->file->broker, s)) {
        merge_subscriptions(s);
    }
    enum status status = start_main(d, s, err);
    if (status == STATUS_OK && s->samples.count > 0) {
        status = start_telemetry(d, &s->samples, err);
    }
    free(s);
    return status;
}

/* Waits until a message may be sent. False: it may not, because another daemon owns the lab. */
static bool await_send(struct daemon *d)
{
    if (!standby_is_shared(d) || !gateway_client(d)) {
        return gateway_client(d) != NULL;
    }
    const bool in_lab = d->thread.runs && pthread_equal(pthread_self(), d->thread.thread);
    const int64_t until_us = lab_clock_monotonic_us() + SEND_MAX_US;
    enum status status;
    do {
        status = partition_await_send(d->standby.partition, SEND_US);
        if (in_lab) { /* it waits for the database, and does not hang */
            atomic_store(&d->maintenance.lab_beats, true);
        }
    } while (status == STATUS_E_EMPTY && !atomic_load(&d->thread.stop) &&
             (in_lab || lab_clock_monotonic_us() < until_us));
    return status == STATUS_OK;
}

enum status gateway_send(struct daemon *d, const char *rest, const char *payload, size_t bytes,
                         enum gateway_delivery delivery)
{
    char topic[MESSAGE_TOPIC_MAX];
    const int n = snprintf(topic, sizeof topic, "%s/%s", d->file->broker.prefix, rest);
    if (n < 0 || (size_t)n >= sizeof topic) {
        return STATUS_E_ARG;
    }
    return gateway_send_whole(d, topic, payload, bytes, delivery);
}

enum status gateway_send_whole(struct daemon *d, const char *topic, const char *payload,
                               size_t bytes, enum gateway_delivery delivery)
{
    struct mqtt_client *client = gateway_client(d);
    if (!await_send(d)) {
        return STATUS_E_STALE;
    }
    switch (delivery) {
    case GATEWAY_NOW:
        return mqtt_client_publish_now(client, topic, payload, bytes);
    case GATEWAY_ONCE:
        return mqtt_client_publish_once(client, topic, payload, bytes);
    case GATEWAY_SURE:
    case GATEWAY_RETAINED:
        break;
    }
    return mqtt_client_publish(client, topic, payload, bytes, 1, delivery == GATEWAY_RETAINED);
}

enum status gateway_send_expiring(struct daemon *d, const char *rest, const char *payload,
                                  size_t bytes, uint32_t expiry_s)
{
    char topic[MESSAGE_TOPIC_MAX];
    const int n = snprintf(topic, sizeof topic, "%s/%s", d->file->broker.prefix, rest);
    if (n < 0 || (size_t)n >= sizeof topic) {
        return STATUS_E_ARG;
    }
    return await_send(d) ? mqtt_client_publish_expiring(gateway_client(d), topic, payload,
                                                        bytes, expiry_s)
                         : STATUS_E_STALE;
}

void gateway_leave(struct daemon *d, int timeout_ms)
{
    if (d->gateway.telemetry) {
        mqtt_client_stop(d->gateway.telemetry, 0); /* there is nothing to send */
    }
    if (gateway_client(d)) {
        mqtt_client_stop(gateway_client(d), timeout_ms);
    }
}

void gateway_close(struct daemon *d)
{
    mqtt_client_destroy(d->gateway.telemetry);
    mqtt_client_destroy(gateway_client(d));
    for (size_t i = 0; d->gateway.robots && i < d->params.pair_count; i++) {
        free(d->gateway.robots[i][SIDE_REAL].text);
        free(d->gateway.robots[i][SIDE_VIRTUAL].text);
    }
    free(d->gateway.robots);
    free(d->gateway.room);
}
