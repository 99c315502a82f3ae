#include "service/mqtt/mqtt_link.h"

#include <string.h>

#include "base/hash.h"
#include "logger/storage/lock.h"
#include "service/cli/lab_clock.h"

void mqtt_link_lock(struct mqtt_client *client)
{
    (void)pthread_mutex_lock(&client->mutex);
}

void mqtt_link_unlock(struct mqtt_client *client)
{
    (void)pthread_mutex_unlock(&client->mutex);
}

bool mqtt_link_wait_until(struct mqtt_client *client, bool (*is_so)(const struct mqtt_client *),
                          int64_t until_us)
{
    mqtt_link_lock(client);
    while (!is_so(client) && lab_clock_monotonic_us() < until_us) {
        lock_wait(&client->news, &client->mutex, until_us);
    }
    const bool so = is_so(client);
    mqtt_link_unlock(client);
    return so;
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
