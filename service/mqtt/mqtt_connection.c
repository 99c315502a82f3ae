/* service/mqtt/mqtt_connection.c - one MQTT connection: its thread connects, subscribes and
 * sends; Paho's callbacks deliver messages. */
#include <dirent.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "config/options/option_file.h"
#include "logger/storage/lock.h"
#include "service/mqtt/mqtt_link.h"
#include "service/tool/lab_clock.h"

enum {
    PASSWORD_MAX = 1024,
    CONNECT_TIMEOUT_S = 10,
    CONNECT_STUCK_US = 30 * 1000000, /* an attempt without any outcome is given up */
    SOON_US = 5 * 1000000,           /* after a connection was made */
    IDLE_US = 1000 * 1000,
    ASK_AGAIN_US = 20000 /* whether a connection may be tried */
};

/* ---- callbacks of Paho --------------------------------------------------------------- */

/* A returned heartbeat proves that the broker has all acknowledgements sent before it. The
 * margin covers that another thread sends them. */
static const int64_t MARGIN_US = 100000;

static void notify_accepted(struct mqtt_client *client, bool resumed)
{
    const int64_t now_us = lab_clock_now_us();
    lock_acquire(&client->mutex);
    const int64_t beat_back_us = client->beat_back_us;
    lock_release(&client->mutex);
    (void)pthread_mutex_lock(&client->delivery);
    if (client->options.accepted && !client->closed) {
        client->options.accepted(client->options.context, resumed, now_us - client->received_us,
                                 beat_back_us > 0 ? now_us - beat_back_us + MARGIN_US : -1);
    }
    (void)pthread_mutex_unlock(&client->delivery);
}

static void came_up(struct mqtt_client *client, bool resumed)
{
    /* The last heartbeat of an earlier connection bounds the wait of a session's messages. */
    if (!resumed) {
        client->passed_us = INT64_MAX;
    } else if (client->passed_us > client->received_us) {
        client->passed_us = client->received_us;
    }
    client->refused = false;
    resumed = resumed && !client->begun_untold;
    notify_accepted(client, resumed);
    client->begun_untold = client->refused && !resumed;
    /* This connection's record has the absence until now. */
    client->reported_us = lab_clock_now_us();
    lock_acquire(&client->mutex);
    client->up_us = client->reported_us;
    client->sent_away = false;
    client->phase = MQTT_LINK_UP;
    client->worn = true;
    client->backoff_us = MQTT_LINK_BACKOFF_MIN_US;
    client->subscribe_due = !client->refused; /* otherwise the link is being cut */
    client->subscribe_us = 0;
    client->heartbeat_due_us = 0;
    client->state.connected = !client->refused;
    client->state.resumed = resumed;
    client->state.connections++;
    (void)pthread_cond_signal(&client->wake);
    (void)pthread_cond_broadcast(&client->changed);
    lock_release(&client->mutex);
}

static void on_connect5(void *context, MQTTAsync_successData5 *data)
{
    came_up(context, data && data->alt.connect.sessionPresent != 0);
}

static void on_connect3(void *context, MQTTAsync_successData *data)
{
    came_up(context, data && data->alt.connect.sessionPresent != 0);
}

static void record_failed_attempt(struct mqtt_client *client, const char *reason)
{
    lock_acquire(&client->mutex);
    client->state.failed_connections++;
    mqtt_link_set_error(client, "connecting to", reason);
    mqtt_link_go_down(client);
    lock_release(&client->mutex);
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
    record_failed_attempt(context, reason ? reason : "refused");
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
    record_failed_attempt(context, reason);
}

/* Two programs with one client id disconnect each other for ever: reconnect slowly, and report
 * the reason. Under mutex. */
static void record_rival(struct mqtt_client *client, const char *doing, const char *reason)
{
    char text[MQTT_CLIENT_ERROR_MAX];
    (void)snprintf(text, sizeof text,
                   "%sanother program has the client id '%.60s': each needs its own", reason,
                   client->options.client_id);
    mqtt_link_set_error(client, doing, text);
    client->backoff_us = MQTT_LINK_BACKOFF_MAX_US;
    if (client->options.evicted) {
        client->options.evicted(client->options.context, client->state.error);
    }
}

/* MQTT 3.1.1 has no reason code for a take-over, and mosquitto 2.0.11 sends none in MQTT 5. So
 * a rival is only assumed if it has left its marker, check_marker(). Under mutex. */
static void record_loss(struct mqtt_client *client, const char *cause)
{
    if (client->sent_away) {
        return; /* the broker has given the reason */
    }
    if (client->rival && lab_clock_now_us() - client->up_us < SOON_US) {
        record_rival(client, "lost connection to", "");
    } else {
        mqtt_link_set_error(client, "lost connection to", cause);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is the library's. */
static void on_connection_lost(void *context, char *cause)
{
    struct mqtt_client *client = context;
    lock_acquire(&client->mutex);
    if (client->phase == MQTT_LINK_UP) {
        if (!client->state.refusing) { /* otherwise the reason is known */
            record_loss(client, cause ? cause : "closed by the broker");
        }
        mqtt_link_go_down(client);
    }
    lock_release(&client->mutex);
}

/* MQTT 5: the broker gives its reason before it closes the connection. */
static void on_sent_away(void *context, MQTTProperties *properties, enum MQTTReasonCodes reason)
{
    struct mqtt_client *client = context;
    (void)properties;
    const char *text = MQTTReasonCode_toString(reason);
    lock_acquire(&client->mutex);
    client->sent_away = true;
    if (reason == MQTTREASONCODE_SESSION_TAKEN_OVER) {
        record_rival(client, "sent away by", "session taken over: ");
    } else {
        mqtt_link_set_error(client, "sent away by", text ? text : "no reason given");
    }
    lock_release(&client->mutex);
}

static int on_tls_error(const char *text, size_t bytes, void *context)
{
    struct mqtt_client *client = context;
    lock_acquire(&client->mutex);
    if (client->tls_error[0] == '\0') { /* the first error has the cause */
        const int shown =
            bytes < sizeof client->tls_error ? (int)bytes : (int)sizeof client->tls_error - 1;
        (void)snprintf(client->tls_error, sizeof client->tls_error, "%.*s", shown, text);
        client->tls_error[strcspn(client->tls_error, "\r\n")] = '\0';
    }
    lock_release(&client->mutex);
    return 0;
}

static void record_subscribed(struct mqtt_client *client, const char *refused_filter)
{
    lock_acquire(&client->mutex);
    client->subscribing = false;
    if (client->phase == MQTT_LINK_UP && !refused_filter) {
        client->state.subscribed = true;
    } else if (refused_filter) {
        char doing[MQTT_CLIENT_ERROR_MAX / 2];
        (void)snprintf(doing, sizeof doing, "subscribing to '%.80s' at", refused_filter);
        mqtt_link_set_error(client, doing, "refused, does the broker's access list allow it?");
        client->subscribe_due = true;
        client->subscribe_us = lab_clock_monotonic_us() + MQTT_LINK_SUBSCRIBE_RETRY_US;
    }
    (void)pthread_cond_signal(&client->wake);
    (void)pthread_cond_broadcast(&client->changed);
    lock_release(&client->mutex);
}

static void on_subscribe5(void *context, MQTTAsync_successData5 *data)
{
    struct mqtt_client *client = context;
    const char *refused = NULL;
    for (int i = client->filter_count - 1; i >= 0; i--) {
        /* Paho fills the list for more than one filter only; for one it is garbage. */
        const int code = client->filter_count == 1 ? (int)data->reasonCode
                                                   : (int)data->alt.sub.reasonCodes[i];
        refused = code > 2 ? client->filters[i] : refused;
    }
    record_subscribed(client, refused);
}

static void on_subscribe3(void *context, MQTTAsync_successData *data)
{
    struct mqtt_client *client = context;
    const char *refused = NULL;
    for (int i = client->filter_count - 1; i >= 0; i--) {
        const int code = client->filter_count == 1 ? data->alt.qos : data->alt.qosList[i];
        refused = code > 2 ? client->filters[i] : refused;
    }
    record_subscribed(client, refused);
}

static void record_not_subscribed(struct mqtt_client *client)
{
    record_subscribed(client, client->filters[0]);
}

MQTT_LINK_CALLBACKS(on_subscribe_failure, failure, record_not_subscribed(context))

/* A heartbeat of this connection came back. Messages behind it passed the broker after it. */
static void handle_heartbeat(struct mqtt_client *client, const char *payload, size_t bytes)
{
    char text[24];
    if (bytes == 0 || bytes >= sizeof text) {
        return;
    }
    memcpy(text, payload, bytes);
    text[bytes] = '\0';
    const int64_t left_us = strtoll(text, NULL, 10);
    const int64_t now_us = lab_clock_now_us();
    lock_acquire(&client->mutex);
    if (left_us >= client->up_us && left_us <= now_us) {
        client->state.heartbeat_rtt_us = now_us - left_us;
        client->beat_back_us = left_us;
        client->passed_us = left_us;
        if (client->stopping) {
            (void)pthread_cond_broadcast(&client->changed);
        }
    }
    lock_release(&client->mutex);
}

/* The retained message on the heartbeat's topic is the marker of the program that connected
 * last with this client id. If it was ours and is no longer, another program runs. */
static void check_marker(struct mqtt_client *client, const char *payload, size_t bytes)
{
    lock_acquire(&client->mutex);
    client->rival =
        client->state.connections > 1 &&
        (bytes != strlen(client->marker) || memcmp(payload, client->marker, bytes) != 0);
    lock_release(&client->mutex);
}

/* The heartbeat returns several times a second, so a second without it is an absence. */
static const int64_t SILENCE_US = 1000000;

/* If the silence cannot be recorded, the time of the last message stays, and the next
 * connection reports it. While messages keep coming that may have waited for longer, their
 * longest wait is reported once a second. */
static void report_silence(struct mqtt_client *client)
{
    const int64_t now_us = lab_clock_now_us();
    const int64_t silent_us = now_us - client->received_us;
    const int64_t waited_us = now_us - client->passed_us;
    const bool waited = waited_us > SILENCE_US && now_us - client->reported_us > SILENCE_US;
    if ((silent_us > SILENCE_US || waited) && client->heartbeat_topic &&
        client->options.silence) {
        client->reported_us = now_us;
        (void)pthread_mutex_lock(&client->delivery);
        if (!client->closed) {
            client->options.silence(client->options.context,
                                    waited_us > silent_us ? waited_us : silent_us);
        }
        (void)pthread_mutex_unlock(&client->delivery);
    }
    client->received_us = client->refused ? client->received_us : now_us;
}

static int on_message(void *context, char *topic, int topic_bytes, MQTTAsync_message *message)
{
    struct mqtt_client *client = context;
    (void)topic_bytes; /* not 0 only when the topic holds a NUL, which MQTT forbids */
    const size_t bytes = message->payloadlen > 0 ? (size_t)message->payloadlen : 0;
    if (!client->refused) {
        report_silence(client);
    }
    if (client->refused) {
        /* The link is cut: messages still in the socket come again, behind the refused one. */
    } else if (client->heartbeat_topic && strcmp(topic, client->heartbeat_topic) == 0) {
        if (message->retained) {
            check_marker(client, message->payload, bytes);
        } else {
            handle_heartbeat(client, message->payload, bytes);
        }
    } else if (client->options.message) {
        (void)pthread_mutex_lock(&client->delivery);
        if (client->closed && message->qos > 0) {
            mqtt_client_refuse(client, "stopped"); /* Paho would acknowledge it otherwise */
        } else if (!client->closed) {
            (void)atomic_fetch_add_explicit(&client->received, 1, memory_order_relaxed);
            (void)atomic_fetch_add_explicit(
                &client->crowded, message->properties.count > MQTT_CLIENT_PROPERTIES_MAX,
                memory_order_relaxed);
            client->options.message(client->options.context, topic,
                                    message->payload ? message->payload : "", bytes,
                                    message->qos, message->retained != 0, message->dup != 0,
                                    (uint16_t)message->msgid);
        }
        (void)pthread_mutex_unlock(&client->delivery);
    }
    MQTTAsync_freeMessage(&message);
    MQTTAsync_free(topic);
    /* 0 would acknowledge at once and park the message until another packet arrives. */
    return 1;
}

/* ---- connecting ---- */

enum status mqtt_connection_make_handle(struct mqtt_client *client, struct err *err)
{
    const struct mqtt_client_options *o = &client->options;
    char uri[sizeof client->address + 8];
    (void)snprintf(uri, sizeof uri, "%s://%s", o->tls ? "ssl" : "tcp", client->address);

    MQTTAsync_createOptions create = MQTTAsync_createOptions_initializer;
    create.MQTTVersion = client->v5 ? MQTTVERSION_5 : MQTTVERSION_3_1_1;
    create.maxBufferedMessages = 2 * MQTT_CLIENT_RECEIVE_MAX; /* counted while connected, too */
    /* Create the new handle first: Paho ends its threads with the last handle. */
    MQTTAsync worn = client->paho;
    client->paho = NULL;
    int rc = MQTTAsync_createWithOptions(&client->paho, uri, o->client_id,
                                         MQTTCLIENT_PERSISTENCE_NONE, NULL, &create);
    if (rc == MQTTASYNC_SUCCESS) {
        rc = MQTTAsync_setCallbacks(client->paho, client, on_connection_lost, on_message, NULL);
    }
    if (rc == MQTTASYNC_SUCCESS && client->v5) {
        rc = MQTTAsync_setDisconnected(client->paho, client, on_sent_away);
    }
    if (worn) {
        mqtt_link_enter_paho();
        MQTTAsync_destroy(&worn);
        mqtt_link_leave_paho();
    }
    if (rc != MQTTASYNC_SUCCESS) {
        const char *reason = MQTTAsync_strerror(rc);
        return err_set(err, STATUS_E_ARG, FAULT_BAD_ADDRESS, client->address, "%s",
                       reason ? reason : "refused by the library");
    }
    return STATUS_OK;
}

static void fill_tls(struct mqtt_client *client, MQTTAsync_SSLOptions *tls)
{
    tls->trustStore = client->options.ca_file;
    tls->keyStore = client->options.certificate_file;
    tls->privateKey = client->options.key_file;
    tls->enableServerCertAuth = 1;
    tls->verify = 1; /* the certificate must be for this host */
    tls->disableDefaultTrustStore = client->options.ca_file ? 1 : 0;
    tls->ssl_error_cb = on_tls_error;
    tls->ssl_error_context = client;
}

static int start_connect(struct mqtt_client *client, const char *password)
{
    const struct mqtt_client_options *o = &client->options;
    MQTTAsync_connectOptions connect = MQTTAsync_connectOptions_initializer;
    const MQTTAsync_connectOptions connect5 = MQTTAsync_connectOptions_initializer5;
    if (client->v5) {
        connect = connect5;
        connect.cleanstart = o->persistent ? 0 : 1;
    } else {
        connect.MQTTVersion = MQTTVERSION_3_1_1;
        connect.cleansession = o->persistent ? 0 : 1;
    }
    MQTT_LINK_SET(client, &connect, client, on_connect, on_connect_failure);
    connect.keepAliveInterval = o->keep_alive_s;
    connect.connectTimeout = CONNECT_TIMEOUT_S;
    connect.maxInflight = MQTT_CLIENT_RECEIVE_MAX;
    connect.username = o->user;
    connect.password = password;
    MQTTAsync_willOptions will = MQTTAsync_willOptions_initializer;
    if (o->presence && o->offline) {
        will.topicName = o->presence;
        will.message = o->offline;
        will.retained = 1;
        will.qos = 1;
        connect.will = &will;
    }
    MQTTAsync_SSLOptions tls = MQTTAsync_SSLOptions_initializer;
    if (o->tls) {
        fill_tls(client, &tls);
        connect.ssl = &tls;
    }
    MQTTProperties properties = MQTTProperties_initializer;
    if (client->v5) {
        MQTTProperty expiry = {.identifier = MQTTPROPERTY_CODE_SESSION_EXPIRY_INTERVAL};
        expiry.value.integer4 = o->persistent ? o->session_expiry_s : 0;
        MQTTProperty receive = {.identifier = MQTTPROPERTY_CODE_RECEIVE_MAXIMUM};
        receive.value.integer2 = MQTT_CLIENT_RECEIVE_MAX;
        MQTTProperty packet = {.identifier = MQTTPROPERTY_CODE_MAXIMUM_PACKET_SIZE};
        packet.value.integer4 = MQTT_CLIENT_PACKET_MAX;
        (void)MQTTProperties_add(&properties, &packet);
        (void)MQTTProperties_add(&properties, &expiry);
        (void)MQTTProperties_add(&properties, &receive);
        connect.connectProperties = &properties;
    }
    mqtt_link_enter_paho();
    const int rc = MQTTAsync_connect(client->paho, &connect);
    mqtt_link_leave_paho();
    MQTTProperties_free(&properties);
    return rc;
}

/* Makes a new handle for the next connection. Under mutex, which it releases meanwhile. */
static void renew_handle(struct mqtt_client *client)
{
    lock_release(&client->mutex);
    const enum status status = mqtt_connection_make_handle(client, NULL);
    lock_acquire(&client->mutex);
    if (status == STATUS_OK) {
        client->worn = false;
        mqtt_sender_rewind(client);
    } else {
        mqtt_link_set_error(client, "connecting to", "out of memory");
        client->attempt_us = lab_clock_monotonic_us() + MQTT_LINK_BACKOFF_MAX_US;
        lock_wait(&client->wake, &client->mutex, client->attempt_us);
    }
}

static void try_connect(struct mqtt_client *client)
{
    char password[PASSWORD_MAX] = "";
    const char *path = client->options.password_file;
    if (path && !(text_file_first_line(path, password, sizeof password) && password[0])) {
        record_failed_attempt(client, "cannot read the password file");
        return;
    }
    const int rc = start_connect(client, path ? password : NULL);
    explicit_bzero(password, sizeof password);
    if (rc != MQTTASYNC_SUCCESS) {
        const char *reason = MQTTAsync_strerror(rc);
        record_failed_attempt(client, reason ? reason : "refused by the library");
    }
}

void mqtt_connection_announce(struct mqtt_client *client, const char *text)
{
    if (client->options.presence && text) {
        const struct mqtt_send_mode mode = {.qos = 1, .retained = true, .urgent = true};
        const enum status status =
            mqtt_sender_add(client, client->options.presence, text, strlen(text), mode);
        (void)status; /* without memory the announcement is skipped */
    }
}

/* Is this a connection to the broker's port? The port has the same place in IPv4 and IPv6
 * addresses. */
static bool leads_to(int fd, int port)
{
    union {
        struct sockaddr_storage any;
        struct sockaddr_in6 v6;
    } peer = {0};
    socklen_t bytes = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &bytes) == 0 &&
           (peer.any.ss_family == AF_INET || peer.any.ss_family == AF_INET6) &&
           ntohs(peer.v6.sin6_port) == port;
}

/* Calls act for every socket of ours to the broker's port, because Paho does not reveal its
 * own. */
static void for_sockets(const struct mqtt_client *client, void (*act)(int fd))
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry = NULL;
    while (dir && (entry = readdir(dir)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        const int fd = (int)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] != '.' && leads_to(fd, client->options.port)) {
            act(fd);
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
}

static void cut_socket(int fd)
{
    (void)shutdown(fd, SHUT_RDWR);
}

void mqtt_connection_cut(const struct mqtt_client *client)
{
    for_sockets(client, cut_socket);
}

static void set_no_delay(int fd)
{
    const int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* Switches Nagle's algorithm off. Otherwise a message after an acknowledgement of ours waits up
 * to 40 ms for the broker's TCP to acknowledge that one. Paho has no option for it; on another
 * socket it does no harm. */
static void send_at_once(const struct mqtt_client *client)
{
    for_sockets(client, set_no_delay);
}

static void subscribe_all(struct mqtt_client *client)
{
    if (client->former_count > 0 && client->options.persistent) {
        /* Lost with the connection, it is sent again with the next one. */
        mqtt_link_enter_paho();
        (void)MQTTAsync_unsubscribeMany(client->paho, client->former_count, client->former,
                                        NULL);
        mqtt_link_leave_paho();
    }
    if (client->filter_count == 0) {
        record_subscribed(client, NULL);
        return;
    }
    MQTTAsync_responseOptions response = MQTTAsync_responseOptions_initializer;
    MQTT_LINK_SET(client, &response, client, on_subscribe, on_subscribe_failure);
    mqtt_link_enter_paho();
    const int rc = MQTTAsync_subscribeMany(client->paho, client->filter_count, client->filters,
                                           client->qos, &response);
    mqtt_link_leave_paho();
    if (rc != MQTTASYNC_SUCCESS) {
        record_subscribed(client, client->filters[0]);
    }
}

/* The marker is published after the subscription, which delivers the existing one. The broker
 * keeps it, so client ids that are used once leave none. */
static void leave_marker(struct mqtt_client *client)
{
    if (client->heartbeat_topic && !client->options.unique_id) {
        mqtt_link_enter_paho();
        (void)MQTTAsync_send(client->paho, client->heartbeat_topic, (int)strlen(client->marker),
                             client->marker, 0, 1, NULL);
        mqtt_link_leave_paho();
    }
}

/* With QoS 0 it would overtake messages that wait at the broker. */
static void send_beat(struct mqtt_client *client)
{
    char text[24];
    const int64_t now_us = lab_clock_now_us();
    const int bytes = snprintf(text, sizeof text, "%" PRId64, now_us);
    lock_acquire(&client->mutex);
    client->beat_us = now_us;
    lock_release(&client->mutex);
    mqtt_link_enter_paho();
    (void)MQTTAsync_send(client->paho, client->heartbeat_topic, bytes, text, 1, 0, NULL);
    mqtt_link_leave_paho();
}

static bool may_connect(const struct mqtt_client *client)
{
    return !client->options.may_connect || client->options.may_connect(client->options.context);
}

/* Does one thing that is due, or waits. Called under mutex, and releases it meanwhile. */
static void serve_connection(struct mqtt_client *client)
{
    const int64_t now_us = lab_clock_monotonic_us();
    int64_t next_us = now_us + IDLE_US;
    if (client->phase == MQTT_LINK_CONNECTING) {
        if (now_us - client->attempt_us > CONNECT_STUCK_US) {
            client->worn = true;
            mqtt_link_set_error(client, "connecting to", "no outcome, trying again");
            mqtt_link_go_down(client);
        }
    } else if (client->phase == MQTT_LINK_DOWN && client->worn) {
        renew_handle(client);
        return;
    } else if (client->phase == MQTT_LINK_DOWN && !client->state.refusing) {
        if (now_us >= client->attempt_us && !may_connect(client)) {
            client->attempt_us = now_us + ASK_AGAIN_US;
        } else if (now_us >= client->attempt_us) {
            client->phase = MQTT_LINK_CONNECTING;
            client->attempt_us = now_us;
            client->attempts++;
            client->tls_error[0] = '\0';
            lock_release(&client->mutex);
            try_connect(client);
            lock_acquire(&client->mutex);
            return;
        }
        next_us = client->attempt_us;
    } else if (client->subscribe_due && !client->subscribing &&
               now_us >= client->subscribe_us) {
        client->subscribe_due = false;
        client->subscribing = true;
        lock_release(&client->mutex);
        send_at_once(client);
        subscribe_all(client);
        leave_marker(client);
        mqtt_connection_announce(client, client->options.online);
        lock_acquire(&client->mutex);
        return;
    } else if (client->heartbeat_topic && now_us >= client->heartbeat_due_us) {
        client->heartbeat_due_us = now_us + 1000000 / client->options.heartbeat_hz;
        lock_release(&client->mutex);
        send_beat(client);
        lock_acquire(&client->mutex);
        return;
    } else if (!client->state.refusing && mqtt_sender_send_next(client)) {
        return;
    } else if (client->heartbeat_topic) {
        next_us = mqtt_sender_rest(client, client->heartbeat_due_us);
    }
    lock_wait(&client->wake, &client->mutex, next_us);
    client->resting = false;
}

static void *run_connection_thread(void *context)
{
    struct mqtt_client *client = context;
    lock_acquire(&client->mutex);
    while (!client->stopping) {
        serve_connection(client);
    }
    lock_release(&client->mutex);
    return NULL;
}

bool mqtt_connection_start(struct mqtt_client *client)
{
    client->connection_thread_started =
        pthread_create(&client->connection_thread, NULL, run_connection_thread, client) == 0;
    return client->connection_thread_started;
}

void mqtt_connection_stop(struct mqtt_client *client)
{
    lock_acquire(&client->mutex);
    client->stopping = true;
    (void)pthread_cond_signal(&client->wake);
    lock_release(&client->mutex);
    if (client->connection_thread_started) {
        (void)pthread_join(client->connection_thread, NULL);
        client->connection_thread_started = false;
    }
}

/* ---- leaving ---- */

static void signal_disconnected(struct mqtt_client *client)
{
    lock_acquire(&client->mutex);
    client->disconnected = true;
    (void)pthread_cond_broadcast(&client->changed);
    lock_release(&client->mutex);
}

MQTT_LINK_CALLBACKS(on_disconnect, success, signal_disconnected(context))
MQTT_LINK_CALLBACKS(on_disconnect_failure, failure, signal_disconnected(context))

static bool has_disconnected(const struct mqtt_client *client)
{
    return client->disconnected;
}

void mqtt_connection_leave(struct mqtt_client *client, int64_t until_us)
{
    MQTTAsync_disconnectOptions options = MQTTAsync_disconnectOptions_initializer;
    const MQTTAsync_disconnectOptions options5 = MQTTAsync_disconnectOptions_initializer5;
    if (client->v5) {
        options = options5;
    }
    MQTT_LINK_SET(client, &options, client, on_disconnect, on_disconnect_failure);
    options.timeout = 100; /* ms for what is still in flight; the caller has waited before */
    mqtt_link_enter_paho();
    const int rc = MQTTAsync_disconnect(client->paho, &options);
    mqtt_link_leave_paho();
    if (rc == MQTTASYNC_SUCCESS) {
        (void)mqtt_link_wait_until(client, has_disconnected, until_us);
    }
}
