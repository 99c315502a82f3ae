#include "service/mqtt/mqtt_link.h"

#include <dirent.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "service/cli/lab_clock.h"

enum {
    PASSWORD_MAX = 1024,
    CONNECT_TIMEOUT_S = 10,
    CONNECT_STUCK_US = 30 * 1000000, /* an attempt without any outcome is given up */
    IDLE_US = 1000 * 1000
};

/* The first line of the password file. Returns false when there is none. */
static bool read_password(const char *path, char password[PASSWORD_MAX])
{
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    const bool read = fgets(password, PASSWORD_MAX, file) != NULL;
    (void)fclose(file);
    if (read) {
        password[strcspn(password, "\r\n")] = '\0';
    }
    return read;
}

static void fill_tls(struct mqtt_client *client, MQTTAsync_SSLOptions *tls)
{
    tls->trustStore = client->options.ca_file;
    tls->keyStore = client->options.certificate_file;
    tls->privateKey = client->options.key_file;
    tls->enableServerCertAuth = 1;
    tls->verify = 1; /* the certificate must be for this host */
    tls->disableDefaultTrustStore = client->options.ca_file ? 1 : 0;
    mqtt_callbacks_tls(client, tls);
}

static int start_connect(struct mqtt_client *client, const char *password)
{
    const struct mqtt_client_options *o = &client->options;
    const bool v5 = o->version == 5;
    MQTTAsync_connectOptions connect = MQTTAsync_connectOptions_initializer;
    const MQTTAsync_connectOptions connect5 = MQTTAsync_connectOptions_initializer5;
    if (v5) {
        connect = connect5;
        connect.cleanstart = o->persistent ? 0 : 1;
    } else {
        connect.MQTTVersion = MQTTVERSION_3_1_1;
        connect.cleansession = o->persistent ? 0 : 1;
    }
    mqtt_callbacks_connect(client, &connect);
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
    if (v5) {
        MQTTProperty expiry = {.identifier = MQTTPROPERTY_CODE_SESSION_EXPIRY_INTERVAL};
        expiry.value.integer4 = o->persistent ? o->session_expiry_s : 0;
        MQTTProperty receive = {.identifier = MQTTPROPERTY_CODE_RECEIVE_MAXIMUM};
        receive.value.integer2 = MQTT_CLIENT_RECEIVE_MAX;
        (void)MQTTProperties_add(&properties, &expiry);
        (void)MQTTProperties_add(&properties, &receive);
        connect.connectProperties = &properties;
    }
    const int rc = MQTTAsync_connect(client->paho, &connect);
    MQTTProperties_free(&properties);
    return rc;
}

/* A new handle for the next connection. Under mutex, which it releases meanwhile. */
static void renew_handle(struct mqtt_client *client)
{
    mqtt_link_unlock(client);
    const enum status status = mqtt_client_make_handle(client, NULL);
    mqtt_link_lock(client);
    if (status == STATUS_OK) {
        client->worn = false;
        mqtt_sender_rewind(client);
    } else {
        mqtt_link_note_error(client, "connecting to", "out of memory");
        client->attempt_us = lab_clock_monotonic_us() + MQTT_LINK_BACKOFF_MAX_US;
        mqtt_link_wait(client, &client->wake, client->attempt_us);
    }
}

static void try_connect(struct mqtt_client *client)
{
    char password[PASSWORD_MAX] = "";
    const char *path = client->options.password_file;
    if (path && !read_password(path, password)) {
        mqtt_link_stayed_down(client, "cannot read the password file");
        return;
    }
    const int rc = start_connect(client, path ? password : NULL);
    explicit_bzero(password, sizeof password);
    if (rc != MQTTASYNC_SUCCESS) {
        const char *reason = MQTTAsync_strerror(rc);
        mqtt_link_stayed_down(client, reason ? reason : "refused by the library");
    }
}

void mqtt_link_say(struct mqtt_client *client, const char *text)
{
    if (client->options.presence && text) {
        const struct mqtt_sender_way way = {.qos = 1, .retained = true, .urgent = true};
        const enum status status =
            mqtt_sender_add(client, client->options.presence, text, strlen(text), way);
        (void)status; /* without memory it stays unsaid */
    }
}

/* Is this a connection to the broker's port? */
static bool leads_to(int fd, int port)
{
    struct sockaddr_storage peer = {0};
    socklen_t bytes = sizeof peer;
    if (getpeername(fd, (struct sockaddr *)&peer, &bytes) != 0) {
        return false;
    }
    if (peer.ss_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, &peer, sizeof v4);
        return ntohs(v4.sin_port) == port;
    }
    if (peer.ss_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, &peer, sizeof v6);
        return ntohs(v6.sin6_port) == port;
    }
    return false;
}

/* Switch Nagle's algorithm off: else a message that follows an acknowledgement of ours waits up
 * to 40 ms for the broker's TCP to acknowledge that one. Paho does not do it, offers no option
 * for it and does not tell its socket, so it is found among all; on another socket it would do
 * no harm. */
static void send_at_once(const struct mqtt_client *client)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry = NULL;
    while (dir && (entry = readdir(dir)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        const int fd = (int)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] != '.' && leads_to(fd, client->options.port)) {
            const int on = 1;
            (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
}

static void subscribe_all(struct mqtt_client *client)
{
    if (client->filter_count == 0) {
        mqtt_link_subscribed(client, NULL);
        return;
    }
    MQTTAsync_responseOptions response = MQTTAsync_responseOptions_initializer;
    mqtt_callbacks_subscribe(client, &response);
    const int rc = MQTTAsync_subscribeMany(client->paho, client->filter_count, client->filters,
                                           client->qos, &response);
    if (rc != MQTTASYNC_SUCCESS) {
        mqtt_link_subscribed(client, client->filters[0]);
    }
}

static void send_beat(struct mqtt_client *client)
{
    char text[24];
    const int64_t now_us = lab_clock_monotonic_us();
    const int bytes = snprintf(text, sizeof text, "%" PRId64, now_us);
    mqtt_link_lock(client);
    client->beat_us = now_us;
    mqtt_link_unlock(client);
    (void)MQTTAsync_send(client->paho, client->heartbeat_topic, bytes, text, 0, 0, NULL);
}

/* One thing that is due, or a wait. Called under mutex, and releases it meanwhile. */
static void keep_once(struct mqtt_client *client)
{
    const int64_t now_us = lab_clock_monotonic_us();
    int64_t next_us = now_us + IDLE_US;
    if (client->phase == MQTT_LINK_CONNECTING) {
        if (now_us - client->attempt_us > CONNECT_STUCK_US) {
            client->worn = true;
            mqtt_link_note_error(client, "connecting to", "no outcome, trying again");
            mqtt_link_go_down(client);
        }
    } else if (client->phase == MQTT_LINK_DOWN && client->worn) {
        renew_handle(client);
        return;
    } else if (client->phase == MQTT_LINK_DOWN) {
        if (now_us >= client->attempt_us) {
            client->phase = MQTT_LINK_CONNECTING;
            client->attempt_us = now_us;
            client->attempts++;
            client->tls_error[0] = '\0';
            mqtt_link_unlock(client);
            try_connect(client);
            mqtt_link_lock(client);
            return;
        }
        next_us = client->attempt_us;
    } else if (client->subscribe_due && !client->subscribing &&
               now_us >= client->subscribe_us) {
        client->subscribe_due = false;
        client->subscribing = true;
        mqtt_link_unlock(client);
        send_at_once(client);
        subscribe_all(client);
        mqtt_link_say(client, client->options.online);
        mqtt_link_lock(client);
        return;
    } else if (client->heartbeat_topic && now_us >= client->heartbeat_due_us) {
        client->heartbeat_due_us = now_us + 1000000 / client->options.heartbeat_hz;
        mqtt_link_unlock(client);
        send_beat(client);
        mqtt_link_lock(client);
        return;
    } else if (mqtt_sender_has_work(client)) {
        mqtt_sender_send_next(client);
        return;
    } else if (client->heartbeat_topic) {
        next_us = client->heartbeat_due_us;
    }
    mqtt_link_wait(client, &client->wake, next_us);
}

static void *run_keeper_thread(void *context)
{
    struct mqtt_client *client = context;
    mqtt_link_lock(client);
    while (!client->stopping) {
        keep_once(client);
    }
    mqtt_link_unlock(client);
    return NULL;
}

bool mqtt_keeper_start(struct mqtt_client *client)
{
    client->keeper_started =
        pthread_create(&client->keeper, NULL, run_keeper_thread, client) == 0;
    return client->keeper_started;
}

void mqtt_keeper_stop(struct mqtt_client *client)
{
    mqtt_link_lock(client);
    client->stopping = true;
    (void)pthread_cond_signal(&client->wake);
    mqtt_link_unlock(client);
    if (client->keeper_started) {
        (void)pthread_join(client->keeper, NULL);
        client->keeper_started = false;
    }
}
