/* Paho's MQTTAsync without a network: packets between the daemon and the broker take their
 * time, keep their order on a connection, and are gone when it is cut. One thread of Paho's
 * calls back; who calls Paho meanwhile waits, as with the real one. MQTT 5 alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <MQTTAsync.h>

#include "service/mqtt/mqtt_link.h"
#include "tests/sim/daemon/simulation.h"

enum packet_kind {
    /* to the broker */
    PACKET_CONNECT,
    PACKET_SUBSCRIBE,
    PACKET_UNSUBSCRIBE,
    PACKET_PUBLISH,
    PACKET_PUBACK,
    PACKET_DISCONNECT,
    /* to the client */
    PACKET_CONNACK,
    PACKET_REFUSED,
    PACKET_SUBACK,
    PACKET_MESSAGE,
    PACKET_SENT,
    PACKET_FAILED,
    PACKET_LOST,
    PACKET_LEFT
};

struct packet {
    struct packet *next;
    int64_t made_us, at_us;
    enum packet_kind kind;
    struct handle *handle;
    MQTTAsync_onSuccess5 *success;
    MQTTAsync_onFailure5 *failure;
    void *context;
    bool flag; /* clean, or resumed */
    int count; /* of filters, QoS */
    struct sim_message message;
    size_t bytes;
    char *text; /* owned: payload, or filters */
};

struct handle {
    int link;
    bool connected; /* as the client sees it */
    void *context;
    MQTTAsync_connectionLost *lost;
    MQTTAsync_messageArrived *arrived;
};

struct link {
    struct handle *handle; /* of the connection that the broker has; NULL: none */
    struct packet *to_broker, *to_client;
    int64_t hangs_until_us, mute_until_us, last_us[2];
    char filters[FILTERS_MAX][TOPIC_MAX];
    uint32_t filter_count;
};

static struct link links[LINKS];
static int paho_task = -1;
static bool calls_back;
static int reason_codes[2 * FILTERS_MAX]; /* of a SUBACK */

/* ---- packets ---- */

static void free_packet(struct packet *p)
{
    free(p->text);
    free(p);
}

static struct packet *make_packet(struct handle *h, enum packet_kind kind)
{
    struct packet *p = calloc(1, sizeof *p);
    if (!p) {
        abort();
    }
    p->kind = kind;
    p->handle = h;
    p->made_us = world->t_us;
    return p;
}

static void append_packet(struct packet **list, struct packet *p)
{
    while (*list) {
        list = &(*list)->next;
    }
    *list = p;
}

/* On its way, behind those before it. */
static void send_packet(struct packet *p, bool to_client)
{
    struct link *l = &links[p->handle->link];
    const double slow = chance(0.01) ? 50000.0 : 400.0;
    p->at_us = world->t_us + 50 + (int64_t)draw_mean(slow);
    p->at_us = p->at_us > l->hangs_until_us ? p->at_us : l->hangs_until_us + 1;
    p->at_us = to_client && p->at_us < l->mute_until_us ? l->mute_until_us : p->at_us;
    p->at_us = p->at_us > l->last_us[to_client] ? p->at_us : l->last_us[to_client] + 1;
    l->last_us[to_client] = p->at_us;
    append_packet(to_client ? &l->to_client : &l->to_broker, p);
    if (to_client) {
        schedule_wake(links);
    }
}

/* For the client alone, whatever the network does. */
static void send_client(struct packet *p, int64_t at_us)
{
    p->at_us = at_us;
    append_packet(&links[p->handle->link].to_client, p);
    schedule_wake(links);
}

static void drop_packets(struct packet **list, const struct handle *h)
{
    while (*list) {
        struct packet *p = *list;
        if (!h || p->handle == h) {
            *list = p->next;
            free_packet(p);
        } else {
            list = &p->next;
        }
    }
}

/* ---- the network, as the broker and the scenario see it ---- */

bool link_is_up(int link)
{
    return links[link].handle != NULL;
}

void link_listen(int link, const char *filter)
{
    struct link *l = &links[link];
    if (l->filter_count < FILTERS_MAX) {
        (void)snprintf(l->filters[l->filter_count++], TOPIC_MAX, "%s", filter);
    }
}

bool link_hears(int link, const char *topic)
{
    const struct link *l = &links[link];
    for (uint32_t i = 0; i < l->filter_count; i++) {
        if (broker_topic_fits(l->filters[i], topic)) {
            return true;
        }
    }
    return false;
}

static void drop_connection(struct link *l)
{
    l->handle = NULL;
    l->filter_count = 0;
    drop_packets(&l->to_broker, NULL);
}

void link_cut(int link, int64_t noticed_us)
{
    struct link *l = &links[link];
    struct handle *h = l->handle;
    if (!h) {
        return;
    }
    drop_connection(l);
    drop_packets(&l->to_client, h);
    send_client(make_packet(h, PACKET_LOST), noticed_us);
}

void link_hang(int link, int64_t until_us)
{
    if (!schedule_runs()) {
        return;
    }
    links[link].hangs_until_us = until_us;
    for (struct packet *p = links[link].to_broker; p; p = p->next) {
        p->at_us = p->at_us > until_us ? p->at_us : until_us;
    }
    links[link].last_us[0] = links[link].last_us[1] = until_us;
}

/* Messages of the broker are lost, and in the end the connection. */
void link_mute(int link, int64_t until_us)
{
    if (schedule_runs()) {
        links[link].mute_until_us = until_us;
    }
}

void link_deliver(int link, const struct sim_message *message)
{
    struct packet *p = make_packet(links[link].handle, PACKET_MESSAGE);
    p->message = *message;
    send_packet(p, true);
}

static int32_t find_command(const char *text)
{
    const char *id = strstr(text, "\"id\":\"c");
    return id ? (int32_t)strtol(id + 7, NULL, 10) : -1;
}

static void answer_packet(const struct packet *to, enum packet_kind kind)
{
    struct packet *p = make_packet(to->handle, kind);
    p->success = to->success;
    p->failure = to->failure;
    p->context = to->context;
    p->count = to->count;
    send_packet(p, true);
}

static void connect_arrives(struct packet *p)
{
    struct link *l = &links[p->handle->link];
    if (!world->broker.up) {
        answer_packet(p, PACKET_REFUSED);
        return;
    }
    if (l->handle) {
        link_cut(p->handle->link, world->t_us);
    }
    l->handle = p->handle;
    struct packet *ack = make_packet(p->handle, PACKET_CONNACK);
    ack->success = p->success;
    ack->context = p->context;
    ack->flag = p->handle->link == LINK_MAIN && world->broker.now.session && !p->flag;
    send_packet(ack, true);
    (void)broker_connected(p->handle->link, p->flag);
    broker_pump();
}

static void publish_arrives(struct packet *p)
{
    const char *topic = p->message.topic;
    const bool command = strstr(topic, "/command") != NULL;
    const int32_t index = command ? find_command(p->text) : -1;
    ledger_daemon_publishes(topic, p->text, p->made_us);
    if (index >= 0 || strstr(topic, "/heartbeat/")) {
        broker_publish(topic, p->text, p->message.qos, false, index);
    } else {
        sim_trace(topic, p->text, p->bytes);
    }
    if (p->message.qos > 0) {
        answer_packet(p, PACKET_SENT);
    }
}

static void deliver_packet(struct packet *p)
{
    const char *filter = p->text;
    struct link *l = &links[p->handle->link];
    if (p->kind != PACKET_CONNECT && l->handle != p->handle) {
        return;
    }
    switch ((int)p->kind) {
    case PACKET_CONNECT:
        connect_arrives(p);
        break;
    case PACKET_SUBSCRIBE:
    case PACKET_UNSUBSCRIBE:
        for (int i = 0; i < p->count; i++, filter += strlen(filter) + 1) {
            if (p->kind == PACKET_SUBSCRIBE) {
                broker_subscribed(p->handle->link, filter + 1, filter[0] - '0');
            } else {
                broker_unsubscribed(filter + 1);
            }
        }
        answer_packet(p, PACKET_SUBACK);
        break;
    case PACKET_PUBLISH:
        publish_arrives(p);
        break;
    case PACKET_PUBACK:
        broker_acknowledged(p->message.mid);
        break;
    case PACKET_DISCONNECT:
    default:
        drop_connection(l);
        break;
    }
}

int64_t link_next_us(void)
{
    int64_t next_us = INT64_MAX;
    for (int i = 0; i < LINKS; i++) {
        next_us = links[i].to_broker ? min_us(next_us, links[i].to_broker->at_us) : next_us;
        next_us =
            links[i].mute_until_us > 0 ? min_us(next_us, links[i].mute_until_us) : next_us;
    }
    return next_us;
}

void link_run(void)
{
    for (int i = 0; i < LINKS; i++) {
        if (links[i].mute_until_us > 0 && links[i].mute_until_us <= world->t_us) {
            links[i].mute_until_us = 0;
            link_cut(i, world->t_us);
        }
        while (links[i].to_broker && links[i].to_broker->at_us <= world->t_us) {
            struct packet *p = links[i].to_broker;
            links[i].to_broker = p->next;
            deliver_packet(p);
            free_packet(p);
        }
    }
}

/* ---- Paho's thread ---- */

static void hand_message(struct packet *p)
{
    const struct sim_message *m = &p->message;
    struct handle *h = p->handle;
    MQTTAsync_message *message = calloc(1, sizeof *message);
    char *topic = strdup(m->topic);
    if (!message || !topic) {
        abort();
    }
    message->payload = malloc(m->bytes + 1U);
    message->payloadlen = m->bytes;
    memcpy(message->payload, m->payload, m->bytes);
    message->qos = m->qos;
    message->retained = m->retained;
    message->dup = m->dup;
    message->msgid = m->mid;
    const uint16_t mid = m->mid;
    const bool acknowledges = m->qos > 0;
    (void)h->arrived(h->context, topic, 0, message);
    if (acknowledges && links[h->link].handle == h) {
        struct packet *ack = make_packet(h, PACKET_PUBACK);
        ack->message.mid = mid;
        send_packet(ack, false);
    }
}

static void call_back(struct packet *p)
{
    struct handle *h = p->handle;
    MQTTAsync_successData5 success = MQTTAsync_successData5_initializer;
    MQTTAsync_failureData5 failure = MQTTAsync_failureData5_initializer;
    failure.code = -1;
    switch ((int)p->kind) {
    case PACKET_CONNACK:
        h->connected = true;
        success.alt.connect.sessionPresent = p->flag;
        p->success(p->context, &success);
        break;
    case PACKET_SUBACK:
        success.alt.sub.reasonCodes = (enum MQTTReasonCodes *)(void *)reason_codes;
        success.alt.sub.reasonCodeCount = p->count;
        if (p->success) {
            p->success(p->context, &success);
        }
        break;
    case PACKET_MESSAGE:
        hand_message(p);
        break;
    case PACKET_REFUSED:
    case PACKET_FAILED:
        if (p->failure) {
            p->failure(p->context, &failure);
        }
        break;
    case PACKET_LOST:
        if (h->connected) {
            h->connected = false;
            h->lost(h->context, NULL);
        } else if (p->failure) {
            p->failure(p->context, &failure);
        }
        break;
    default:
        h->connected = p->kind == PACKET_LEFT ? false : h->connected;
        if (p->success) {
            p->success(p->context, &success);
        }
        break;
    }
}

static struct packet *next_packet(int64_t *next_us)
{
    struct packet **best = NULL;
    *next_us = INT64_MAX;
    for (int i = 0; i < LINKS; i++) {
        if (links[i].to_client && links[i].to_client->at_us < *next_us) {
            best = &links[i].to_client;
            *next_us = (*best)->at_us;
        }
    }
    struct packet *p = best && *next_us <= world->t_us ? *best : NULL;
    if (p) {
        *best = p->next;
    }
    return p;
}

static void *run_paho(void *context)
{
    (void)context;
    paho_task = schedule_current();
    for (;;) {
        int64_t next_us = 0;
        struct packet *p = next_packet(&next_us);
        if (!p) {
            schedule_wait(links, next_us);
            continue;
        }
        calls_back = true;
        call_back(p);
        calls_back = false;
        free_packet(p);
        schedule_wake(&calls_back);
        schedule_point();
    }
    return NULL;
}

/* ---- what the daemon calls ---- */

static void enter_paho(void)
{
    schedule_point();
    while (calls_back && schedule_current() != paho_task) {
        schedule_wait(&calls_back, INT64_MAX);
    }
}

int MQTTAsync_createWithOptions(MQTTAsync *out, const char *uri, const char *id, int type,
                                void *persistence, MQTTAsync_createOptions *options)
{
    static bool started;
    (void)uri;
    (void)type;
    (void)persistence;
    (void)options;
    enter_paho();
    struct handle *h = calloc(1, sizeof *h);
    if (!h) {
        abort();
    }
    h->link = strstr(id, "-telemetry") ? LINK_TELEMETRY : LINK_MAIN;
    *out = h;
    if (!started) {
        schedule_spawn(run_paho, NULL);
        started = true;
    }
    return MQTTASYNC_SUCCESS;
}

int MQTTAsync_setCallbacks(MQTTAsync handle, void *context, MQTTAsync_connectionLost *lost,
                           MQTTAsync_messageArrived *arrived, MQTTAsync_deliveryComplete *done)
{
    struct handle *h = handle;
    (void)done;
    h->context = context;
    h->lost = lost;
    h->arrived = arrived;
    return MQTTASYNC_SUCCESS;
}

int MQTTAsync_setDisconnected(MQTTAsync handle, void *context, MQTTAsync_disconnected *reported)
{
    (void)handle;
    (void)context;
    (void)reported;
    return MQTTASYNC_SUCCESS;
}

void MQTTAsync_destroy(MQTTAsync *handle)
{
    struct handle *h = *handle;
    enter_paho();
    struct link *l = &links[h->link];
    drop_packets(&l->to_broker, h);
    drop_packets(&l->to_client, h);
    if (l->handle == h) {
        drop_connection(l);
    }
    free(h);
    *handle = NULL;
}

int MQTTAsync_connect(MQTTAsync handle, const MQTTAsync_connectOptions *options)
{
    struct handle *h = handle;
    enter_paho();
    struct packet *p = make_packet(h, PACKET_CONNECT);
    p->success = options->onSuccess5;
    p->failure = options->onFailure5;
    p->context = options->context;
    p->flag = options->cleanstart != 0;
    send_packet(p, false);
    return MQTTASYNC_SUCCESS;
}

static int send_subscription(struct handle *h, enum packet_kind kind, int count,
                             char *const *filters, const int *qos,
                             MQTTAsync_responseOptions *response)
{
    size_t used = 0;
    enter_paho();
    if (!h->connected) {
        return MQTTASYNC_DISCONNECTED;
    }
    struct packet *p = make_packet(h, kind);
    p->count = count;
    p->text = malloc((size_t)count * TOPIC_MAX + 1);
    for (int i = 0; i < count; i++) {
        used += 1U + (size_t)snprintf(p->text + used, TOPIC_MAX, "%d%s", qos ? qos[i] : 0,
                                      filters[i]);
    }
    if (response) {
        p->success = response->onSuccess5;
        p->failure = response->onFailure5;
        p->context = response->context;
    }
    send_packet(p, false);
    return MQTTASYNC_SUCCESS;
}

int MQTTAsync_subscribeMany(MQTTAsync handle, int count, char *const *filters, const int *qos,
                            MQTTAsync_responseOptions *response)
{
    return send_subscription(handle, PACKET_SUBSCRIBE, count, filters, qos, response);
}

int MQTTAsync_unsubscribeMany(MQTTAsync handle, int count, char *const *filters,
                              MQTTAsync_responseOptions *response)
{
    return send_subscription(handle, PACKET_UNSUBSCRIBE, count, filters, NULL, response);
}

/* If the connection is cut and the client does not know yet, its writes are lost. */
int MQTTAsync_send(MQTTAsync handle, const char *topic, int bytes, const void *payload, int qos,
                   int retained, MQTTAsync_responseOptions *response)
{
    struct handle *h = handle;
    enter_paho();
    if (!h->connected) {
        return MQTTASYNC_DISCONNECTED;
    }
    const bool cut = links[h->link].handle != h;
    struct packet *p = make_packet(h, PACKET_PUBLISH);
    p->message.qos = (uint8_t)qos;
    p->message.retained = retained != 0;
    (void)snprintf(p->message.topic, TOPIC_MAX, "%s", topic);
    p->bytes = (size_t)bytes;
    p->text = calloc(1, p->bytes + 1);
    memcpy(p->text, payload, p->bytes);
    if (response) {
        p->success = response->onSuccess5;
        p->failure = response->onFailure5;
        p->context = response->context;
    }
    if (response && (qos == 0 || (cut && chance(0.5)))) {
        struct packet *reported =
            make_packet(h, cut && chance(0.5) ? PACKET_FAILED : PACKET_SENT);
        reported->success = p->success;
        reported->failure = p->failure;
        reported->context = p->context;
        if (qos > 0) {
            reported->kind = PACKET_FAILED;
        }
        send_client(reported, world->t_us);
    }
    if (cut) {
        free_packet(p);
    } else {
        send_packet(p, false);
    }
    return MQTTASYNC_SUCCESS;
}

int MQTTAsync_disconnect(MQTTAsync handle, const MQTTAsync_disconnectOptions *options)
{
    struct handle *h = handle;
    enter_paho();
    if (!h->connected) {
        return MQTTASYNC_DISCONNECTED;
    }
    struct packet *reported = make_packet(h, PACKET_LEFT);
    reported->success = options->onSuccess5;
    reported->failure = options->onFailure5;
    reported->context = options->context;
    if (links[h->link].handle == h) {
        send_packet(make_packet(h, PACKET_DISCONNECT), false);
    }
    send_client(reported, world->t_us + options->timeout * INT64_C(1000));
    return MQTTASYNC_SUCCESS;
}

void MQTTAsync_freeMessage(MQTTAsync_message **message)
{
    free((*message)->payload);
    free(*message);
    *message = NULL;
}

void MQTTAsync_free(void *memory)
{
    free(memory);
}

/* The product cuts sockets, of which there are none: all connections to the broker's port. */
void __wrap_mqtt_connection_cut(const struct mqtt_client *client);
void __wrap_mqtt_connection_cut(const struct mqtt_client *client)
{
    (void)client;
    for (int link = 0; link < LINKS; link++) {
        link_cut(link, world->t_us);
    }
}
