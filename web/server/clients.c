#include "web/server/clients.h"

#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"
#include "web/http/address.h"

enum {
    KEY_BYTES = 16,
    PREFIX_BYTES = 8,    /* of an IPv6 address */
    REMEMBERED_MORE = 64 /* addresses without a connection whose haste is not forgotten */
};

/* One address. */
struct client_slot {
    unsigned char key[KEY_BYTES];
    unsigned connections;
    double left; /* requests that may come at once */
    int64_t at_ms;
};

struct client {
    struct client_slot *slot;
    bool crowded;
};

enum status clients_init(struct clients *c, const struct clients_params *params)
{
    *c = (struct clients){.params = *params,
                          .slot_count = (size_t)params->connections_total + REMEMBERED_MORE};
    c->slot = calloc(c->slot_count, sizeof *c->slot);
    (void)pthread_mutex_init(&c->lock, NULL);
    return c->slot ? STATUS_OK : STATUS_E_NOMEM;
}

void clients_clear(struct clients *c)
{
    if (c->slot) {
        (void)pthread_mutex_destroy(&c->lock);
        free(c->slot);
    }
}

static double burst_of(const struct clients *c)
{
    return (double)c->params.requests_per_s * CLIENTS_BURST_S;
}

static void key_of(const struct sockaddr *address, unsigned char key[KEY_BYTES])
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    address_bytes(address, key);
    if (memcmp(key, mapped, sizeof mapped) != 0) {
        memset(key + PREFIX_BYTES, 0, KEY_BYTES - PREFIX_BYTES);
    }
}

/* The address's, or that of one without connections that was heard least recently. There are
 * more slots than connections; NULL when that is not so. */
static struct client_slot *find_slot(struct clients *c, const unsigned char key[KEY_BYTES])
{
    struct client_slot *free_one = NULL;
    for (size_t i = 0; i < c->used; i++) {
        struct client_slot *slot = &c->slot[i];
        if (memcmp(slot->key, key, KEY_BYTES) == 0) {
            return slot;
        }
        if (slot->connections == 0 && (!free_one || slot->at_ms < free_one->at_ms)) {
            free_one = slot;
        }
    }
    if (c->used < c->slot_count) {
        free_one = &c->slot[c->used++];
    }
    if (free_one) {
        *free_one = (struct client_slot){.left = burst_of(c)};
        memcpy(free_one->key, key, KEY_BYTES);
    }
    return free_one;
}

struct client *clients_open(struct clients *c, const struct sockaddr *address)
{
    unsigned char key[KEY_BYTES];
    struct client *client = calloc(1, sizeof *client);
    if (!client) {
        return NULL;
    }
    key_of(address, key);
    lock_take(&c->lock);
    client->slot = find_slot(c, key);
    if (client->slot) {
        client->slot->connections++;
        client->crowded = c->params.connections_max > 0 &&
                          client->slot->connections > c->params.connections_max;
    }
    lock_give(&c->lock);
    return client;
}

void clients_close(struct clients *c, struct client *client)
{
    if (client) {
        lock_take(&c->lock);
        if (client->slot) {
            client->slot->connections--;
        }
        lock_give(&c->lock);
        free(client);
    }
}

/* Under the lock. */
static bool take_one(const struct clients *c, struct client_slot *slot, int64_t now_ms)
{
    const double gained =
        (double)(now_ms - slot->at_ms) * 1e-3 * (double)c->params.requests_per_s;
    slot->left = slot->left + gained < burst_of(c) ? slot->left + gained : burst_of(c);
    slot->at_ms = now_ms;
    if (slot->left < 1.0) {
        return false;
    }
    slot->left -= 1.0;
    return true;
}

enum client_state clients_ask(struct clients *c, struct client *client, int64_t now_ms,
                              unsigned *wait_s)
{
    *wait_s = 1;
    if (!client || !client->slot) {
        return CLIENT_FINE;
    }
    if (client->crowded) {
        return CLIENT_OVER_CONNECTIONS;
    }
    if (c->params.requests_per_s == 0) {
        return CLIENT_FINE;
    }
    lock_take(&c->lock);
    const bool may = take_one(c, client->slot, now_ms);
    lock_give(&c->lock);
    return may ? CLIENT_FINE : CLIENT_OVER_RATE;
}
