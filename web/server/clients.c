#include "web/server/clients.h"

#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"
#include "web/http/address.h"

enum {
    KEY_BYTES = 16,
    PREFIX_BYTES = 8,    /* bytes of an IPv6 address */
    REMEMBERED_MORE = 64 /* slots for addresses without connections whose rate is remembered */
};

/* One address. */
struct client_slot {
    unsigned char key[KEY_BYTES];
    unsigned connections, places; /* number of connections, and of those with a place */
    double left;                  /* requests that may come at once */
    int64_t at_ms;
    unsigned wrong;   /* wrong tokens */
    int64_t wrong_ms; /* time of the last one */
    bool trusted;
};

enum client_phase {
    CLIENT_WAITING, /* waits for a request */
    CLIENT_ASKING,  /* a request is being answered */
    CLIENT_BEYOND,  /* has no place */
    CLIENT_GONE     /* disconnected: nothing more is done for it */
};

struct client {
    struct client_slot *slot; /* NULL: no slot was left */
    enum client_phase phase;
    bool crowded; /* without a place because of its own address's limit */
    int socket;
    int64_t since_ms; /* time at which it entered its list */
    struct client *before, *after;
};

static unsigned pick_less(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

bool clients_find_room(unsigned descriptors, unsigned connections, unsigned listeners,
                       struct web_room *room)
{
    if (descriptors < CLIENTS_RESERVED + CLIENTS_ROOM_MIN) {
        return false;
    }
    const unsigned sockets = descriptors - CLIENTS_RESERVED;
    const unsigned leaving = pick_less(CLIENTS_LEAVING, sockets / 4);
    room->descriptors = descriptors;
    room->beyond = pick_less(CLIENTS_BEYOND, sockets / 4);
    const unsigned places = sockets - room->beyond - leaving;
    room->listeners = pick_less(listeners, places - pick_less(connections, places / 2));
    room->connections = pick_less(connections, places - room->listeners);
    room->sockets = room->connections + room->listeners + room->beyond + leaving;
    return true;
}

enum status clients_init(struct clients *c, const struct clients_params *params)
{
    *c = (struct clients){.params = *params,
                          .slot_count = (size_t)params->connections_total + params->beyond_max +
                                        CLIENTS_LEAVING + REMEMBERED_MORE};
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

/* Returns the slot of an address, or reuses that of the address without connections that was
 * seen least recently. There are more slots than connections; NULL otherwise. */
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

/* ---- lists; under the lock ---- */

static void append_client(struct client_list *list, struct client *client, int64_t now_ms)
{
    client->since_ms = now_ms;
    client->before = list->last;
    client->after = NULL;
    *(list->last ? &list->last->after : &list->first) = client;
    list->last = client;
    list->count++;
}

static void remove_client(struct client_list *list, struct client *client)
{
    *(client->before ? &client->before->after : &list->first) = client->after;
    *(client->after ? &client->after->before : &list->last) = client->before;
    list->count--;
}

/* Removes it from its list and frees its place. */
static void leave_phase(struct clients *c, struct client *client)
{
    if (client->phase == CLIENT_WAITING) {
        remove_client(&c->waiting, client);
    } else if (client->phase == CLIENT_BEYOND) {
        remove_client(&c->beyond, client);
    }
    if (client->phase == CLIENT_WAITING || client->phase == CLIENT_ASKING) {
        client->slot->places--;
        c->places--;
    }
    client->phase = CLIENT_GONE;
}

/* The serving thread sees the end of the input and closes the connection. */
static void hang_up(struct clients *c, struct client *client)
{
    leave_phase(c, client);
    (void)shutdown(client->socket, SHUT_RDWR);
    if (c->params.hung_up) {
        atomic_fetch_add(c->params.hung_up, 1);
    }
}

/* Claims a place; a connection that has only waited gives up its own. */
static bool claim_place(struct clients *c, struct client *client)
{
    struct client_slot *slot = client->slot;
    client->crowded =
        slot && c->params.connections_max > 0 && slot->places >= c->params.connections_max;
    if (!slot || client->crowded) {
        return false;
    }
    if (c->places >= c->params.connections_total && c->waiting.first) {
        hang_up(c, c->waiting.first);
    }
    if (c->places >= c->params.connections_total) {
        return false;
    }
    slot->places++;
    c->places++;
    return true;
}

static void admit_client(struct clients *c, struct client *client, int64_t now_ms)
{
    if (claim_place(c, client)) {
        client->phase = CLIENT_WAITING;
        append_client(&c->waiting, client, now_ms);
        return;
    }
    client->phase = CLIENT_BEYOND;
    append_client(&c->beyond, client, now_ms);
    if (c->beyond.count > c->params.beyond_max) {
        hang_up(c, c->beyond.first);
    }
}

/* ---- connections ---- */

struct client *clients_open(struct clients *c, const struct sockaddr *address, int socket,
                            int64_t now_ms)
{
    unsigned char key[KEY_BYTES];
    struct client *client = calloc(1, sizeof *client);
    if (!client) {
        return NULL;
    }
    client->socket = socket;
    key_of(address, key);
    lock_acquire(&c->lock);
    client->slot = find_slot(c, key);
    if (client->slot) {
        client->slot->connections++;
    }
    admit_client(c, client, now_ms);
    lock_release(&c->lock);
    return client;
}

void clients_close(struct clients *c, struct client *client)
{
    if (client) {
        lock_acquire(&c->lock);
        leave_phase(c, client);
        if (client->slot) {
            client->slot->connections--;
        }
        lock_release(&c->lock);
        free(client);
    }
}

void clients_leave(struct clients *c, struct client *client)
{
    if (client) {
        lock_acquire(&c->lock);
        leave_phase(c, client);
        lock_release(&c->lock);
    }
}

/* Returns whether unread bytes are here: then the client is not the slow one. */
static bool has_sent(const struct client *client)
{
    char byte = 0;
    return recv(client->socket, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static void hang_up_before(struct clients *c, const struct client_list *list, int64_t before_ms)
{
    struct client *after = NULL;
    for (struct client *client = list->first; client && client->since_ms < before_ms;
         client = after) {
        after = client->after;
        if (!has_sent(client)) {
            hang_up(c, client);
        }
    }
}

void clients_hang_up(struct clients *c, int64_t now_ms)
{
    lock_acquire(&c->lock);
    hang_up_before(c, &c->waiting, now_ms - c->params.head_ms);
    hang_up_before(c, &c->beyond, now_ms - c->params.head_ms);
    lock_release(&c->lock);
}

/* ---- requests ---- */

/* Call under the lock. */
static bool consume_request(const struct clients *c, struct client_slot *slot, int64_t now_ms)
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

/* Call under the lock. */
static enum client_state ask_one(struct clients *c, struct client *client, int64_t now_ms)
{
    if (client->phase == CLIENT_WAITING) {
        remove_client(&c->waiting, client);
        client->phase = CLIENT_ASKING;
    } else if (client->phase == CLIENT_BEYOND && claim_place(c, client)) { /* free by now */
        remove_client(&c->beyond, client);
        client->phase = CLIENT_ASKING;
    }
    if (client->phase != CLIENT_ASKING) {
        return client->crowded ? CLIENT_OVER_CONNECTIONS : CLIENT_OVER_PLACES;
    }
    return c->params.requests_per_s == 0 || consume_request(c, client->slot, now_ms)
               ? CLIENT_FINE
               : CLIENT_OVER_RATE;
}

enum client_state clients_ask(struct clients *c, struct client *client, int64_t now_ms,
                              unsigned *wait_s)
{
    *wait_s = 1;
    if (!client) {
        return CLIENT_FINE;
    }
    lock_acquire(&c->lock);
    const enum client_state state = ask_one(c, client, now_ms);
    lock_release(&c->lock);
    return state;
}

void clients_charge(struct clients *c, struct client *client, int64_t now_ms)
{
    if (client && client->slot && c->params.requests_per_s > 0) {
        lock_acquire(&c->lock);
        (void)consume_request(c, client->slot, now_ms);
        lock_release(&c->lock);
    }
}

static int64_t token_wait_ms(const struct client_slot *slot, int64_t now_ms)
{
    if (slot->wrong < CLIENTS_TOKENS ||
        now_ms - slot->wrong_ms > CLIENTS_TOKEN_FORGET_S * 1000) {
        return 0;
    }
    const unsigned doublings = slot->wrong - CLIENTS_TOKENS;
    const int64_t wait_s = doublings < 6 ? 1 << doublings : CLIENTS_TOKEN_WAIT_S;
    return slot->wrong_ms + wait_s * 1000 - now_ms;
}

unsigned clients_token_wait(struct clients *c, struct client *client, int64_t now_ms,
                            bool *trusted)
{
    *trusted = false;
    if (!client || !client->slot) {
        return 0;
    }
    lock_acquire(&c->lock);
    struct client_slot *slot = client->slot;
    *trusted = slot->trusted;
    const int64_t wait_ms = token_wait_ms(slot, now_ms);
    lock_release(&c->lock);
    return wait_ms > 0 ? (unsigned)((wait_ms + 999) / 1000) : 0;
}

void clients_record_token(struct clients *c, struct client *client, bool right, int64_t now_ms)
{
    if (client && client->slot) {
        lock_acquire(&c->lock);
        struct client_slot *slot = client->slot;
        if (right) {
            slot->trusted = true;
        } else {
            const bool old = now_ms - slot->wrong_ms > CLIENTS_TOKEN_FORGET_S * 1000;
            slot->wrong = old ? 1 : slot->wrong + 1;
            slot->wrong_ms = now_ms;
        }
        lock_release(&c->lock);
    }
}

void clients_answered(struct clients *c, struct client *client, int64_t now_ms)
{
    if (client) {
        lock_acquire(&c->lock);
        if (client->phase == CLIENT_ASKING) {
            client->phase = CLIENT_WAITING;
            append_client(&c->waiting, client, now_ms);
        }
        lock_release(&c->lock);
    }
}
