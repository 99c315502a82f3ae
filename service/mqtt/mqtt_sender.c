/* service/mqtt/mqtt_sender.c - queue of outgoing messages, in order, until the broker
 * acknowledges them.
 *
 * Paho keeps unacknowledged messages, too. But 1.3.12 frees topic and payload of a message
 * whose write failed and sends it again after the reconnection, reading freed memory. So Paho
 * never holds a message beyond one connection: the handle is replaced when the connection is
 * lost (mqtt_connection.c), and unacknowledged messages are sent again from here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "logger/storage/lock.h"
#include "service/mqtt/mqtt_link.h"
#include "service/tool/lab_clock.h"

enum {
    PAYLOAD_MAX = 268435455,          /* MQTT's own limit */
    WINDOW = MQTT_CLIENT_RECEIVE_MAX, /* messages that Paho has at once */
    HANDED_MAX = 5,   /* lost this often with the connection, a message is sent alone; */
    ALONE_MAX = 5,    /* lost this often alone, it breaks the connection and is given up */
    COUNT_US = 10000, /* within which those published are counted, */
    MANY_HZ = 1000,   /* and beyond which rate they are many, */
    REST_US = 1000    /* the pause behind that */
};

struct mqtt_outgoing {
    struct mqtt_outgoing *next, *previous;
    struct mqtt_client *client;
    unsigned handed; /* how often it was handed to Paho */
    struct mqtt_send_mode mode;
    int bytes;
    size_t payload_at; /* offset in text, behind the topic */
    char text[];
};

static bool is_utf8(const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        uint32_t code = 0;
        const size_t n = utf8_next(text, left, &code);
        if (n == 0) {
            return false;
        }
        text += n;
        left -= n;
    }
    return true;
}

bool mqtt_sender_is_topic(const char *topic)
{
    return topic && topic[0] != '\0' && strlen(topic) < 65536 && strpbrk(topic, "+#") == NULL &&
           is_utf8(topic);
}

static struct mqtt_outgoing *make_outgoing(struct mqtt_client *client, const char *topic,
                                           const void *payload, size_t bytes)
{
    const size_t topic_bytes = strlen(topic) + 1;
    struct mqtt_outgoing *m = malloc(sizeof *m + topic_bytes + bytes);
    if (m) {
        *m = (struct mqtt_outgoing){
            .client = client, .bytes = (int)bytes, .payload_at = topic_bytes};
        memcpy(m->text, topic, topic_bytes);
        if (bytes > 0) {
            memcpy(m->text + topic_bytes, payload, bytes);
        }
    }
    return m;
}

/* Inserts m before `before`, or at the end. Under mutex. */
static void insert_before(struct mqtt_client *client, struct mqtt_outgoing *m,
                          struct mqtt_outgoing *before)
{
    m->next = before;
    m->previous = before ? before->previous : client->outgoing_last;
    *(m->previous ? &m->previous->next : &client->outgoing_first) = m;
    *(before ? &before->previous : &client->outgoing_last) = m;
    client->pending++;
    client->pending_bytes += (size_t)m->bytes;
}

/* Under mutex. */
static void unlink_outgoing(struct mqtt_client *client, struct mqtt_outgoing *m)
{
    *(m->previous ? &m->previous->next : &client->outgoing_first) = m->next;
    *(m->next ? &m->next->previous : &client->outgoing_last) = m->previous;
    client->pending--;
    client->pending_bytes -= (size_t)m->bytes;
    if (client->pending == 0) {
        (void)pthread_cond_broadcast(&client->changed);
    }
}

enum status mqtt_sender_add(struct mqtt_client *client, const char *topic, const void *payload,
                            size_t bytes, struct mqtt_send_mode mode)
{
    if (!mqtt_sender_is_topic(topic) || mode.qos < 0 || mode.qos > 2 || bytes > PAYLOAD_MAX) {
        return STATUS_E_ARG;
    }
    struct mqtt_outgoing *m = make_outgoing(client, topic, payload, bytes);
    if (m) {
        m->mode = mode;
    }
    lock_acquire(&client->mutex);
    const bool full = client->pending >= (uint64_t)client->options.buffer_count ||
                      client->pending_bytes + bytes > MQTT_CLIENT_BUFFER_BYTES;
    enum status status = STATUS_OK;
    if (client->closing && !mode.urgent) {
        status = STATUS_E_IO;
    } else if (mode.droppable && client->phase != MQTT_LINK_UP) {
        status = STATUS_E_STALE;
    } else if (!m || (full && !mode.urgent)) {
        client->state.refused++;
        status = STATUS_E_FULL;
    } else {
        insert_before(client, m, mode.urgent ? client->outgoing_unsent : NULL);
        if (!client->outgoing_unsent || mode.urgent) {
            client->outgoing_unsent = m;
        }
        client->state.published++;
        m = NULL;
        if (!client->resting || mode.urgent || mode.droppable || mode.once) {
            (void)pthread_cond_signal(&client->wake);
        }
    }
    lock_release(&client->mutex);
    free(m);
    return status;
}

/* Paho no longer has it: the broker accepted or refused it. */
static void end_outgoing(struct mqtt_outgoing *m, uint64_t *counter)
{
    struct mqtt_client *client = m->client;
    lock_acquire(&client->mutex);
    const bool opens = client->in_flight-- == WINDOW || m->handed > HANDED_MAX;
    (*counter)++;
    unlink_outgoing(client, m);
    if (opens && client->outgoing_unsent) {
        (void)pthread_cond_signal(&client->wake);
    }
    lock_release(&client->mutex);
    free(m);
}

/* The message waits for the next connection; this one is useless now. */
static void interrupt_outgoing(struct mqtt_client *client)
{
    lock_acquire(&client->mutex);
    if (client->phase == MQTT_LINK_UP) {
        mqtt_link_set_error(client, "lost connection to", "writing failed");
        mqtt_link_go_down(client);
    }
    lock_release(&client->mutex);
}

static void finish_delivery(struct mqtt_outgoing *m)
{
    const struct mqtt_client_options *o = &m->client->options;
    if (m->mode.once && o->arrived) {
        o->arrived(o->context, m->text, m->text + m->payload_at, (size_t)m->bytes);
    }
    end_outgoing(m, &m->client->state.acknowledged);
}

MQTT_LINK_CALLBACKS(on_sent, success, finish_delivery(context))

static void on_send_failure5(void *context, MQTTAsync_failureData5 *data)
{
    struct mqtt_outgoing *m = context;
    if (data && data->reasonCode >= MQTTREASONCODE_UNSPECIFIED_ERROR) {
        end_outgoing(m, &m->client->state.failed);
    } else {
        interrupt_outgoing(m->client);
    }
}

static void on_send_failure3(void *context, MQTTAsync_failureData *data)
{
    const struct mqtt_outgoing *m = context;
    (void)data; /* MQTT 3.1.1 cannot refuse a message */
    interrupt_outgoing(m->client);
}

/* Called under mutex, which it releases while it calls Paho. */
static int hand_over(struct mqtt_client *client, struct mqtt_outgoing *m)
{
    client->outgoing_unsent = m->next;
    client->in_flight++;
    m->handed++;
    MQTTAsync_responseOptions response = MQTTAsync_responseOptions_initializer;
    MQTT_LINK_SET(client, &response, m, on_sent, on_send_failure);
    const bool expires = client->v5 && m->mode.expiry_s > 0;
    if (expires) {
        MQTTProperty expiry = {.identifier = MQTTPROPERTY_CODE_MESSAGE_EXPIRY_INTERVAL};
        expiry.value.integer4 = m->mode.expiry_s;
        (void)MQTTProperties_add(&response.properties, &expiry);
    }
    lock_release(&client->mutex);
    mqtt_link_enter_paho();
    /* When it succeeds, m may be gone before the call returns. */
    const int rc = MQTTAsync_send(client->paho, m->text, m->bytes, m->text + m->payload_at,
                                  m->mode.qos, m->mode.retained || expires ? 1 : 0, &response);
    mqtt_link_leave_paho();
    MQTTProperties_free(&response.properties);
    lock_acquire(&client->mutex);
    return rc;
}

/* Under mutex. */
static void give_up(struct mqtt_client *client, struct mqtt_outgoing *m)
{
    client->state.failed++;
    unlink_outgoing(client, m);
    free(m);
}

/* Links that are cut often take messages with them that are good. One that the broker does not
 * stand takes the link down by itself: no other may be under way with it. Under mutex. */
static bool may_send(const struct mqtt_client *client, const struct mqtt_outgoing *m)
{
    const struct mqtt_outgoing *first = client->outgoing_first;
    const bool alone = m->handed >= HANDED_MAX || first->handed > HANDED_MAX;
    return client->in_flight < WINDOW && (first == m || !alone);
}

bool mqtt_sender_send_next(struct mqtt_client *client)
{
    struct mqtt_outgoing *m = client->outgoing_unsent;
    if (!m || !may_send(client, m)) {
        return false;
    }
    if (m->handed >= HANDED_MAX + ALONE_MAX) {
        client->outgoing_unsent = m->next;
        give_up(client, m);
    } else if (hand_over(client, m) != MQTTASYNC_SUCCESS && client->phase == MQTT_LINK_UP) {
        /* Paho has noticed the lost connection, or has no memory: start a new connection. */
        mqtt_link_set_error(client, "lost connection to", "cannot send");
        mqtt_link_go_down(client);
    }
    return true;
}

int64_t mqtt_sender_rest(struct mqtt_client *client, int64_t next_us)
{
    const int64_t now_us = lab_clock_monotonic_us();
    const uint64_t published = client->state.published;
    if (now_us - client->counted_us >= COUNT_US) {
        client->many = (int64_t)(published - client->counted) * 1000000 >
                       (now_us - client->counted_us) * MANY_HZ;
        client->counted_us = now_us;
        client->counted = published;
    }
    client->resting = client->many && published != client->rested;
    client->rested = published;
    return client->resting && now_us + REST_US < next_us ? now_us + REST_US : next_us;
}

void mqtt_sender_rewind(struct mqtt_client *client)
{
    for (struct mqtt_outgoing *m = client->outgoing_first; m;) {
        struct mqtt_outgoing *next = m->next;
        if (m->mode.droppable || (m->mode.once && m->handed > 0)) {
            give_up(client, m);
        }
        m = next;
    }
    client->outgoing_unsent = client->outgoing_first;
    client->in_flight = 0;
}

void mqtt_sender_finish(struct mqtt_client *client)
{
    while (client->outgoing_first) {
        give_up(client, client->outgoing_first);
    }
}
