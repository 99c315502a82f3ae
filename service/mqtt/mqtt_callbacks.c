/* Each of Paho's callbacks exists twice: for MQTT 5 and for 3.1.1. */
#include "service/mqtt/mqtt_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "service/cli/lab_clock.h"

void mqtt_link_lock(struct mqtt_client *client)
{
    (void)pthread_mutex_lock(&client->mutex);
}

void mqtt_link_unlock(struct mqtt_client *client)
{
    (void)pthread_mutex_unlock(&client->mutex);
}

static void tell_owner(struct mqtt_client *client)
{
    if (client->options.changed) {
        client->options.changed(client->options.context);
    }
}

void mqtt_link_wait(struct mqtt_client *client, pthread_cond_t *condition, int64_t until_us)
{
    const struct timespec t = {until_us / 1000000, until_us % 1000000 * 1000};
    (void)pthread_cond_timedwait(condition, &client->mutex, &t);
}

void mqtt_link_note_error(struct mqtt_client *client, const char *doing, const char *reason)
{
    struct err whole = {0}; /* cuts long texts */
    const bool tls = client->tls_error[0] != '\0';
    (void)err_set(&whole, STATUS_E_IO, "", 0, 0, "%s %s: %s%s%s", doing, client->address,
                  reason, tls ? ": " : "", tls ? client->tls_error : "");
    _Static_assert(sizeof whole.text <= sizeof client->state.error, "an error's text must fit");
    memcpy(client->state.error, whole.text, sizeof whole.text);
}

void mqtt_link_go_down(struct mqtt_client *client)
{
    client->phase = MQTT_LINK_DOWN;
    client->subscribing = false;
    client->state.connected = false;
    client->state.subscribed = false;
    /* Spread by a quarter, so that the clients of one broker do not return all at once. */
    const uint64_t seed = hash_text(client->options.client_id) + client->attempts;
    const uint64_t spread = hash_bytes(HASH_START, &seed, sizeof seed) % 256;
    client->attempt_us = lab_clock_monotonic_us() + client->backoff_us +
                         client->backoff_us * (int64_t)spread / 1024;
    client->backoff_us *= 2;
    if (client->backoff_us > MQTT_LINK_BACKOFF_MAX_US) {
        client->backoff_us = MQTT_LINK_BACKOFF_MAX_US;
    }
    (void)pthread_cond_signal(&client->wake);
    (void)pthread_cond_broadcast(&client->news);
}

static void came_up(struct mqtt_client *client, bool resumed)
{
    mqtt_link_lock(client);
    client->phase = MQTT_LINK_UP;
    client->worn = true;
    client->backoff_us = MQTT_LINK_BACKOFF_MIN_US;
    client->subscribe_due = true;
    client->subscribe_us = 0;
    client->heartbeat_due_us = 0;
    client->state.connected = true;
    client->state.resumed = resumed;
    client->state.connections++;
    (void)pthread_cond_signal(&client->wake);
    (void)pthread_cond_broadcast(&client->news);
    mqtt_link_unlock(client);
    tell_owner(client);
}

static void on_connect5(void *context, MQTTAsync_successData5 *data)
{
    came_up(context, data && data->alt.connect.sessionPresent != 0);
}

static void on_connect3(void *context, MQTTAsync_successData *data)
{
    came_up(context, data && data->alt.connect.sessionPresent != 0);
}

void mqtt_link_stayed_down(struct mqtt_client *client, const char *reason)
{
    mqtt_link_lock(client);
    client->state.failed_connections++;
    mqtt_link_note_error(client, "connecting to", reason);
    mqtt_link_go_down(client);
    mqtt_link_unlock(client);
    tell_owner(client);
}

static void on_connect_failure5(void *context, MQTTAsync_failureData5 *data)
{
    const char *reason = data && data->message ? data->message : "no answer";
    if (data && data->reasonCode >= MQTTREASONCODE_UNSPECIFIED_ERROR) {
        reason = MQTTReasonCode_toString(data->reasonCode);
    } else if (data && data->code >= (int)MQTTREASONCODE_UNSPECIFIED_ERROR) {
        /* 1.3.12 puts CONNACK's reason here. */
        reason = MQTTReasonCode_toString((enum MQTTReasonCodes)data->code);
    }
    mqtt_link_stayed_down(context, reason ? reason : "refused");
}

static void on_connect_failure3(void *context, MQTTAsync_failureData *data)
{
    /* CONNACK's return codes of MQTT 3.1.1, section 3.2.2.3. */
    static const char *const refusals[] = {NULL,
                                           "unacceptable protocol version",
                                           "client id rejected",
                                           "server unavailable",
                                           "bad user name or password",
                                           "not authorized"};
    const char *reason = data && data->message ? data->message : "no answer";
    if (data && data->code > 0 && data->code < (int)COUNT(refusals)) {
        reason = refusals[data->code];
    }
    mqtt_link_stayed_down(context, reason);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is the library's. */
static void on_connection_lost(void *context, char *cause)
{
    struct mqtt_client *client = context;
    mqtt_link_lock(client);
    if (client->phase == MQTT_LINK_UP) {
        mqtt_link_note_error(client, "lost connection to",
                             cause ? cause : "closed by the broker");
        mqtt_link_go_down(client);
    }
    mqtt_link_unlock(client);
    tell_owner(client);
}

/* MQTT 5: the broker says why before it closes the connection. */
static void on_sent_away(void *context, MQTTProperties *properties, enum MQTTReasonCodes reason)
{
    struct mqtt_client *client = context;
    (void)properties;
    const char *text = MQTTReasonCode_toString(reason);
    mqtt_link_lock(client);
    mqtt_link_note_error(client, "sent away by", text ? text : "no reason given");
    mqtt_link_unlock(client);
}

static int on_tls_error(const char *text, size_t bytes, void *context)
{
    struct mqtt_client *client = context;
    mqtt_link_lock(client);
    if (client->tls_error[0] == '\0') { /* the first tells the cause */
        const int shown =
            bytes < sizeof client->tls_error ? (int)bytes : (int)sizeof client->tls_error - 1;
        (void)snprintf(client->tls_error, sizeof client->tls_error, "%.*s", shown, text);
        client->tls_error[strcspn(client->tls_error, "\r\n")] = '\0';
    }
    mqtt_link_unlock(client);
    return 0;
}

void mqtt_link_subscribed(struct mqtt_client *client, const char *refused_filter)
{
    mqtt_link_lock(client);
    client->subscribing = false;
    if (client->phase == MQTT_LINK_UP && !refused_filter) {
        client->state.subscribed = true;
    } else if (refused_filter) {
        char doing[MQTT_CLIENT_ERROR_MAX / 2];
        (void)snprintf(doing, sizeof doing, "subscribing to '%.80s' at", refused_filter);
        mqtt_link_note_error(client, doing, "refused, does the broker's access list allow it?");
        client->subscribe_due = true;
        client->subscribe_us = lab_clock_monotonic_us() + MQTT_LINK_SUBSCRIBE_RETRY_US;
    }
    (void)pthread_cond_signal(&client->wake);
    (void)pthread_cond_broadcast(&client->news);
    mqtt_link_unlock(client);
    tell_owner(client);
}

static void on_subscribe5(void *context, MQTTAsync_successData5 *data)
{
    struct mqtt_client *client = context;
    const char *refused = NULL;
    for (int i = client->filter_count - 1; i >= 0; i--) {
        /* Paho fills in the list for more than one filter only, else it holds garbage. */
        const int code = client->filter_count == 1 ? (int)data->reasonCode
                                                   : (int)data->alt.sub.reasonCodes[i];
        refused = code > 2 ? client->filters[i] : refused;
    }
    mqtt_link_subscribed(client, refused);
}

static void on_subscribe3(void *context, MQTTAsync_successData *data)
{
    struct mqtt_client *client = context;
    const char *refused = NULL;
    for (int i = client->filter_count - 1; i >= 0; i--) {
        const int code = client->filter_count == 1 ? data->alt.qos : data->alt.qosList[i];
        refused = code > 2 ? client->filters[i] : refused;
    }
    mqtt_link_subscribed(client, refused);
}

static void on_subscribe_failure5(void *context, MQTTAsync_failureData5 *data)
{
    struct mqtt_client *client = context;
    (void)data;
    mqtt_link_subscribed(client, client->filters[0]);
}

static void on_subscribe_failure3(void *context, MQTTAsync_failureData *data)
{
    struct mqtt_client *client = context;
    (void)data;
    mqtt_link_subscribed(client, client->filters[0]);
}

static void on_sent5(void *context, MQTTAsync_successData5 *data)
{
    (void)data;
    mqtt_sender_outcome(context, MQTT_SENDER_ARRIVED);
}

static void on_sent3(void *context, MQTTAsync_successData *data)
{
    (void)data;
    mqtt_sender_outcome(context, MQTT_SENDER_ARRIVED);
}

static void on_send_failure5(void *context, MQTTAsync_failureData5 *data)
{
    const bool refused = data && data->reasonCode >= MQTTREASONCODE_UNSPECIFIED_ERROR;
    mqtt_sender_outcome(context, refused ? MQTT_SENDER_REFUSED : MQTT_SENDER_INTERRUPTED);
}

static void on_send_failure3(void *context, MQTTAsync_failureData *data)
{
    (void)data; /* MQTT 3.1.1 has no way to refuse a message */
    mqtt_sender_outcome(context, MQTT_SENDER_INTERRUPTED);
}

static void note_disconnected(struct mqtt_client *client)
{
    mqtt_link_lock(client);
    client->disconnected = true;
    (void)pthread_cond_broadcast(&client->news);
    mqtt_link_unlock(client);
}

static void on_disconnect5(void *context, MQTTAsync_successData5 *data)
{
    (void)data;
    note_disconnected(context);
}

static void on_disconnect3(void *context, MQTTAsync_successData *data)
{
    (void)data;
    note_disconnected(context);
}

static void on_disconnect_failure5(void *context, MQTTAsync_failureData5 *data)
{
    (void)data;
    note_disconnected(context);
}

static void on_disconnect_failure3(void *context, MQTTAsync_failureData *data)
{
    (void)data;
    note_disconnected(context);
}

static void take_heartbeat(struct mqtt_client *client, const char *payload, size_t bytes)
{
    char text[24];
    if (bytes == 0 || bytes >= sizeof text) {
        return;
    }
    memcpy(text, payload, bytes);
    text[bytes] = '\0';
    const int64_t left_us = strtoll(text, NULL, 10);
    const int64_t now_us = lab_clock_monotonic_us();
    mqtt_link_lock(client);
    if (left_us > 0 && left_us <= now_us) {
        client->state.heartbeat_rtt_us = now_us - left_us;
        client->state.heartbeat_us = now_us;
        client->beat_back_us = left_us;
        if (client->stopping) {
            (void)pthread_cond_broadcast(&client->news);
        }
    }
    mqtt_link_unlock(client);
}

/* The heartbeat comes back several times a second: a second without anything is an absence. */
static const int64_t SILENCE_US = 1000000;

static void note_silence(struct mqtt_client *client)
{
    const int64_t now_us = lab_clock_monotonic_us();
    const int64_t silent_us = now_us - client->heard_us;
    client->heard_us = now_us;
    if (silent_us > SILENCE_US && client->heartbeat_topic && client->options.silence) {
        (void)pthread_mutex_lock(&client->delivery);
        if (!client->closed) {
            client->options.silence(client->options.context, silent_us);
        }
        (void)pthread_mutex_unlock(&client->delivery);
    }
}

static int on_message(void *context, char *topic, int topic_bytes, MQTTAsync_message *message)
{
    struct mqtt_client *client = context;
    (void)topic_bytes; /* not 0 only when the topic holds a NUL, which MQTT forbids */
    const size_t bytes = message->payloadlen > 0 ? (size_t)message->payloadlen : 0;
    note_silence(client);
    if (client->heartbeat_topic && strcmp(topic, client->heartbeat_topic) == 0) {
        take_heartbeat(client, message->payload, bytes);
    } else if (client->options.message) {
        (void)pthread_mutex_lock(&client->delivery);
        if (!client->closed) {
            (void)atomic_fetch_add_explicit(&client->received, 1, memory_order_relaxed);
            client->options.message(client->options.context, topic,
                                    message->payload ? message->payload : "", bytes,
                                    message->qos, message->retained != 0, message->dup != 0);
        }
        (void)pthread_mutex_unlock(&client->delivery);
    }
    MQTTAsync_freeMessage(&message);
    MQTTAsync_free(topic);
    /* 0 would acknowledge at once and park the message until another packet arrives. */
    return 1;
}

int mqtt_callbacks_install(struct mqtt_client *client)
{
    const int rc =
        MQTTAsync_setCallbacks(client->paho, client, on_connection_lost, on_message, NULL);
    return rc == MQTTASYNC_SUCCESS && client->options.version == 5
               ? MQTTAsync_setDisconnected(client->paho, client, on_sent_away)
               : rc;
}

void mqtt_callbacks_connect(struct mqtt_client *client, MQTTAsync_connectOptions *options)
{
    options->context = client;
    if (client->options.version == 5) {
        options->onSuccess5 = on_connect5;
        options->onFailure5 = on_connect_failure5;
    } else {
        options->onSuccess = on_connect3;
        options->onFailure = on_connect_failure3;
    }
}

void mqtt_callbacks_tls(struct mqtt_client *client, MQTTAsync_SSLOptions *options)
{
    options->ssl_error_cb = on_tls_error;
    options->ssl_error_context = client;
}

void mqtt_callbacks_subscribe(struct mqtt_client *client, MQTTAsync_responseOptions *options)
{
    options->context = client;
    if (client->options.version == 5) {
        options->onSuccess5 = on_subscribe5;
        options->onFailure5 = on_subscribe_failure5;
    } else {
        options->onSuccess = on_subscribe3;
        options->onFailure = on_subscribe_failure3;
    }
}

void mqtt_callbacks_send(struct mqtt_client *client, struct mqtt_outgoing *message,
                         MQTTAsync_responseOptions *options)
{
    options->context = message;
    if (client->options.version == 5) {
        options->onSuccess5 = on_sent5;
        options->onFailure5 = on_send_failure5;
    } else {
        options->onSuccess = on_sent3;
        options->onFailure = on_send_failure3;
    }
}

void mqtt_callbacks_disconnect(struct mqtt_client *client, MQTTAsync_disconnectOptions *options)
{
    options->context = client;
    if (client->options.version == 5) {
        options->onSuccess5 = on_disconnect5;
        options->onFailure5 = on_disconnect_failure5;
    } else {
        options->onSuccess = on_disconnect3;
        options->onFailure = on_disconnect_failure3;
    }
}
