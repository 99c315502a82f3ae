#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/numbers/hash.h"
#include "logger/storage/lock.h"
#include "service/mqtt/mqtt_link.h"
#include "service/tool/lab_clock.h"

enum { BEAT_WAIT_MS = 300, SESSION_EXPIRY_S = 7 * 24 * 3600 };

/* ---- helpers for all files of the client --------------------------------------------- */

static pthread_mutex_t paho_lock = PTHREAD_MUTEX_INITIALIZER;

void mqtt_link_enter_paho(void)
{
    lock_acquire(&paho_lock);
}

void mqtt_link_leave_paho(void)
{
    lock_release(&paho_lock);
}

bool mqtt_link_wait_until(struct mqtt_client *client, bool (*is_so)(const struct mqtt_client *),
                          int64_t until_us)
{
    lock_acquire(&client->mutex);
    while (!is_so(client) && lab_clock_monotonic_us() < until_us) {
        lock_wait(&client->changed, &client->mutex, until_us);
    }
    const bool so = is_so(client);
    lock_release(&client->mutex);
    return so;
}

void mqtt_link_set_error(struct mqtt_client *client, const char *doing, const char *reason)
{
    struct err whole = {0}; /* truncates long texts */
    const bool tls = client->tls_error[0] != '\0';
    (void)err_set(&whole, STATUS_E_IO, FAULT_NOT_CONNECTED, "", "%s %s: %s%s%s", doing,
                  client->address, reason, tls ? ": " : "", tls ? client->tls_error : "");
    _Static_assert(sizeof whole.text <= sizeof client->state.error, "an error's text must fit");
    memcpy(client->state.error, whole.text, sizeof whole.text);
}

void mqtt_link_go_down(struct mqtt_client *client)
{
    client->phase = MQTT_LINK_DOWN;
    client->subscribing = false;
    client->state.connected = false;
    client->state.subscribed = false;
    /* The delay varies by a quarter, so that the clients of one broker do not return all at
     * once. */
    const uint64_t seed = hash_text(client->options.client_id) + client->attempts;
    const uint64_t spread = hash_bytes(HASH_START, &seed, sizeof seed) % 256;
    client->attempt_us = lab_clock_monotonic_us() + client->backoff_us +
                         client->backoff_us * (int64_t)spread / 1024;
    client->backoff_us *= 2;
    if (client->backoff_us > MQTT_LINK_BACKOFF_MAX_US) {
        client->backoff_us = MQTT_LINK_BACKOFF_MAX_US;
    }
    (void)pthread_cond_signal(&client->wake);
    (void)pthread_cond_broadcast(&client->changed);
}

/* ---- from its options to its end ---- */

/* Copies a text for the life of the client; NULL stays NULL. *failed is set when out of memory.
 */
static char *own_text(struct mqtt_client *client, const char *text, bool *failed)
{
    if (!text) {
        return NULL;
    }
    char *copy = client->owned_count < MQTT_LINK_OWNED_MAX ? strdup(text) : NULL;
    if (copy) {
        client->owned[client->owned_count++] = copy;
    } else {
        *failed = true;
    }
    return copy;
}

static enum status check_options(const struct mqtt_client_options *o, struct err *err)
{
    if (!o->client_id || !o->client_id[0]) {
        return err_set(err, STATUS_E_ARG, FAULT_MISSING_KEY, "client id", "is missing");
    }
    if (o->protocol && strcmp(o->protocol, "5") != 0 && strcmp(o->protocol, "3.1.1") != 0) {
        return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_VALUE, "MQTT version",
                       "%s is neither 5 nor 3.1.1", o->protocol);
    }
    if (o->port < 0 || o->port > 65535) {
        return err_set(err, STATUS_E_ARG, FAULT_OUT_OF_RANGE, "port",
                       "%d is not within 1 .. 65535", o->port);
    }
    if (o->host && strlen(o->host) > 253) {
        return err_set(err, STATUS_E_ARG, FAULT_TOO_LONG, "host",
                       "is longer than a host's name can be");
    }
    if (o->topic_count > MQTT_CLIENT_TOPICS_MAX || o->former_count > MQTT_CLIENT_TOPICS_MAX) {
        return err_set(err, STATUS_E_ARG, FAULT_TOO_MANY, "topics", "are more than %d",
                       MQTT_CLIENT_TOPICS_MAX);
    }
    if ((o->presence && !mqtt_sender_is_topic(o->presence)) ||
        (o->prefix && !mqtt_sender_is_topic(o->prefix))) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_TOPIC, "prefix",
                       "must not be empty nor hold + or #");
    }
    if (o->password_file && !o->user) {
        return err_set(err, STATUS_E_ARG, FAULT_NEEDS_KEY, "password file",
                       "is given without a user");
    }
    const struct {
        const char *what;
        const char *path;
    } files[] = {{"password file", o->password_file},
                 {"CA file", o->ca_file},
                 {"certificate file", o->certificate_file},
                 {"key file", o->key_file}};
    for (size_t i = 0; i < COUNT(files); i++) {
        if (files[i].path && access(files[i].path, R_OK) != 0) {
            return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, files[i].path,
                           "%s cannot be read: %s", files[i].what, strerrordesc_np(errno));
        }
    }
    return STATUS_OK;
}

/* Copies the options into the client and replaces zeros by defaults. */
static enum status copy_options(struct mqtt_client *client, const struct mqtt_client_options *o)
{
    bool failed = false;
    struct mqtt_client_options *own = &client->options;
    *own = *o;
    own->host = o->host ? o->host : "127.0.0.1";
    const char **const texts[] = {&own->host,          &own->client_id, &own->user,
                                  &own->password_file, &own->ca_file,   &own->certificate_file,
                                  &own->key_file,      &own->prefix,    &own->presence,
                                  &own->online,        &own->offline};
    for (size_t i = 0; i < COUNT(texts); i++) {
        *texts[i] = own_text(client, *texts[i], &failed);
    }
    own->topics = own->former = NULL;
    own->port = o->port ? o->port : (o->tls ? 8883 : 1883);
    own->protocol = NULL;
    client->v5 = !o->protocol || o->protocol[0] == '5';
    own->keep_alive_s = o->keep_alive_s > 0 ? o->keep_alive_s : 10;
    own->buffer_count = o->buffer_count > 0 ? o->buffer_count : MQTT_CLIENT_BUFFER_COUNT;
    own->heartbeat_hz = o->heartbeat_hz > 0 ? o->heartbeat_hz : 10;
    own->session_expiry_s = o->session_expiry_s ? o->session_expiry_s : SESSION_EXPIRY_S;
    for (size_t i = 0; i < o->topic_count; i++) {
        client->filters[client->filter_count] = own_text(client, o->topics[i].filter, &failed);
        client->qos[client->filter_count++] = o->topics[i].qos;
    }
    for (size_t i = 0; i < o->former_count; i++) {
        client->former[client->former_count++] = own_text(client, o->former[i].filter, &failed);
    }
    if (o->prefix) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
            /* Without a random generator the time still makes the id unique. */
            random = (uint64_t)lab_clock_now_us();
        }
        (void)snprintf(client->marker, sizeof client->marker, "\"client %016" PRIx64 "\"",
                       random);
        char topic[1024];
        (void)snprintf(topic, sizeof topic, "%s/heartbeat/%s", o->prefix, o->client_id);
        client->heartbeat_topic = own_text(client, topic, &failed);
        client->filters[client->filter_count] = client->heartbeat_topic;
        client->qos[client->filter_count++] = 1; /* behind messages that wait */
    }
    return failed ? STATUS_E_NOMEM : STATUS_OK;
}

static void format_address(struct mqtt_client *client)
{
    const struct mqtt_client_options *o = &client->options;
    const bool bare_v6 = strchr(o->host, ':') && o->host[0] != '[';
    (void)snprintf(client->address, sizeof client->address, "%s%s%s:%d", bare_v6 ? "[" : "",
                   o->host, bare_v6 ? "]" : "", o->port);
}

static void init_locks(struct mqtt_client *client)
{
    lock_init_condition(&client->wake);
    lock_init_condition(&client->changed);
    lock_init(&client->mutex);
    (void)pthread_mutex_init(&client->delivery, NULL);
}

enum status mqtt_client_create(struct mqtt_client **out,
                               const struct mqtt_client_options *options, struct err *err)
{
    enum status status = check_options(options, err);
    if (status != STATUS_OK) {
        return status;
    }
    struct mqtt_client *client = calloc(1, sizeof *client);
    if (!client) {
        return err_no_memory(err, "mqtt client", "out of memory");
    }
    init_locks(client);
    client->backoff_us = MQTT_LINK_BACKOFF_MIN_US;
    client->state.heartbeat_rtt_us = -1;
    client->received_us = lab_clock_now_us();
    client->passed_us = INT64_MAX;
    status = copy_options(client, options);
    if (status == STATUS_OK) {
        format_address(client);
        status = mqtt_connection_make_handle(client, err);
    }
    *out = client; /* callbacks may come before this returns */
    if (status == STATUS_OK) {
        status = mqtt_connection_start(client)
                     ? STATUS_OK
                     : err_set(err, STATUS_E_NOMEM, FAULT_NO_THREAD, "mqtt client",
                               "cannot start a thread");
    }
    if (status != STATUS_OK) {
        mqtt_client_destroy(client);
        *out = NULL;
    }
    return status;
}

enum status mqtt_client_publish(struct mqtt_client *client, const char *topic,
                                const void *payload, size_t bytes, int qos, bool retained)
{
    const struct mqtt_send_mode mode = {.qos = qos, .retained = retained};
    return mqtt_sender_add(client, topic, payload, bytes, mode);
}

enum status mqtt_client_publish_once(struct mqtt_client *client, const char *topic,
                                     const void *payload, size_t bytes)
{
    const struct mqtt_send_mode mode = {.qos = 1, .once = true};
    return mqtt_sender_add(client, topic, payload, bytes, mode);
}

enum status mqtt_client_publish_now(struct mqtt_client *client, const char *topic,
                                    const void *payload, size_t bytes)
{
    const struct mqtt_send_mode mode = {.droppable = true};
    return mqtt_sender_add(client, topic, payload, bytes, mode);
}

enum status mqtt_client_publish_expiring(struct mqtt_client *client, const char *topic,
                                         const void *payload, size_t bytes, uint32_t expiry_s)
{
    const struct mqtt_send_mode mode = {.droppable = true, .expiry_s = expiry_s};
    return mqtt_sender_add(client, topic, payload, bytes, mode);
}

static int64_t after_ms(int timeout_ms)
{
    return lab_clock_monotonic_us() + (int64_t)timeout_ms * 1000;
}

void mqtt_client_read_state(struct mqtt_client *client, struct mqtt_client_state *state)
{
    lock_acquire(&client->mutex);
    *state = client->state;
    lock_release(&client->mutex);
    state->received = atomic_load_explicit(&client->received, memory_order_relaxed);
    state->crowded = atomic_load_explicit(&client->crowded, memory_order_relaxed);
    state->broken_writes = mqtt_write_count_broken();
}

int64_t mqtt_client_silent_us(const struct mqtt_client *client)
{
    return lab_clock_now_us() - client->received_us;
}

static enum mqtt_link_phase stay_down(struct mqtt_client *client, const char *why)
{
    lock_acquire(&client->mutex);
    client->state.refusing = true;
    mqtt_link_set_error(client, "acknowledging nothing to", why);
    const enum mqtt_link_phase phase = client->phase;
    lock_release(&client->mutex);
    return phase;
}

void mqtt_client_hold(struct mqtt_client *client, const char *why)
{
    if (stay_down(client, why) != MQTT_LINK_DOWN) {
        mqtt_connection_cut(client);
    }
}

void mqtt_client_refuse(struct mqtt_client *client, const char *why)
{
    client->refused = true;
    (void)stay_down(client, why);
    mqtt_connection_cut(client); /* also of a link that is down for us, but not for Paho */
}

void mqtt_client_resume(struct mqtt_client *client)
{
    lock_acquire(&client->mutex);
    if (client->state.refusing) {
        client->state.refusing = false;
        client->attempt_us = 0;
        (void)pthread_cond_signal(&client->wake);
    }
    lock_release(&client->mutex);
}

static bool is_subscribed(const struct mqtt_client *client)
{
    return client->state.subscribed;
}

bool mqtt_client_wait_subscribed(struct mqtt_client *client, int timeout_ms)
{
    return mqtt_link_wait_until(client, is_subscribed, after_ms(timeout_ms));
}

static bool has_sent_all(const struct mqtt_client *client)
{
    return client->pending == 0;
}

bool mqtt_client_wait_sent(struct mqtt_client *client, int timeout_ms)
{
    return mqtt_link_wait_until(client, has_sent_all, after_ms(timeout_ms));
}

/* Paho leaks what is still in its queue when a client is destroyed, so wait until nothing of
 * ours is there. */
static bool is_beat_back(const struct mqtt_client *client)
{
    return client->beat_back_us >= client->beat_us || client->phase != MQTT_LINK_UP;
}

void mqtt_client_stop(struct mqtt_client *client, int timeout_ms)
{
    const int64_t until_us = after_ms(timeout_ms);
    lock_acquire(&client->mutex);
    client->closing = true;
    const bool up = client->phase == MQTT_LINK_UP;
    lock_release(&client->mutex);
    if (up) {
        (void)mqtt_link_wait_until(client, has_sent_all, until_us);
        mqtt_connection_announce(client, client->options.offline);
        (void)mqtt_link_wait_until(client, has_sent_all, until_us);
    }
    mqtt_connection_stop(client);
    (void)mqtt_link_wait_until(client, is_beat_back, after_ms(BEAT_WAIT_MS));
    mqtt_connection_leave(client, until_us + 200000);
    (void)pthread_mutex_lock(&client->delivery);
    /* messages after this are not acknowledged, so the broker keeps them */
    client->closed = true;
    (void)pthread_mutex_unlock(&client->delivery);
    lock_acquire(&client->mutex);
    client->phase = MQTT_LINK_DOWN;
    client->state.connected = false;
    client->state.subscribed = false;
    lock_release(&client->mutex);
}

void mqtt_client_destroy(struct mqtt_client *client)
{
    if (!client) {
        return;
    }
    mqtt_connection_stop(client);
    if (client->paho) {
        mqtt_link_enter_paho();
        MQTTAsync_destroy(&client->paho);
        mqtt_link_leave_paho();
    }
    mqtt_sender_finish(client);
    for (size_t i = 0; i < client->owned_count; i++) {
        free(client->owned[i]);
    }
    (void)pthread_cond_destroy(&client->wake);
    (void)pthread_cond_destroy(&client->changed);
    (void)pthread_mutex_destroy(&client->mutex);
    (void)pthread_mutex_destroy(&client->delivery);
    free(client);
}
