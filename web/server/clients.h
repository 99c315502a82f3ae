/* web/server/clients.h - limits of a client: connections at once and requests a second, by
 * address (for IPv6 the first half, because a machine has a whole network of these), and how
 * long a connection may stay without a request. Any thread.
 *
 * A connection has a place or not: its address may have too many, or no place is left. A few
 * connections without a place are kept for a short time, for requests that everybody may make
 * (ROUTE_HEALTH). When room is needed, the connection that has waited longest for a request is
 * closed, so nobody holds a place by silence while others want it.
 */
#ifndef WEB_SERVER_CLIENTS_H
#define WEB_SERVER_CLIENTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/errors/status.h"
#include "web/http/web.h"

struct client; /* one connection */

enum {
    CLIENTS_BURST_S = 5,   /* a burst may have the requests of this many seconds */
    CLIENTS_BEYOND = 64,   /* connections without a place */
    CLIENTS_LEAVING = 256, /* closed, but not yet by the thread that serves them */
    /* Descriptors that connections never use. Journal, store, checkpoint, broker, log and
     * listening have 20; readers of the store at most 27 more (web/http/store_pool.h),
     * threads of the server 6, a new file of the journal, a checkpoint, a reconnection and a
     * job about ten.
     */
    CLIENTS_RESERVED = 80,
    CLIENTS_ROOM_MIN = 16 /* with fewer the server does not start */
};

/* Divide the process's descriptors into the wanted connections and listeners, or fewer;
 * connections get at least half. False: there are too few. Pure. */
bool clients_find_room(unsigned descriptors, unsigned connections, unsigned listeners,
                       struct web_room *room);

struct clients_params {
    unsigned connections_total; /* places for all clients */
    unsigned beyond_max;        /* CLIENTS_BEYOND, or fewer */
    unsigned connections_max;   /* per address; 0: any number */
    unsigned requests_per_s;    /* per address; 0: any number */
    /* time from a connection's start, or its last answer, to the head of its next request */
    int64_t head_ms;
    atomic_uint_least64_t *hung_up; /* counts closed connections; NULL: not counted */
};

/* Connections in order of arrival. */
struct client_list {
    struct client *first, *last;
    size_t count;
};

struct clients {
    struct clients_params params;
    pthread_mutex_t lock;
    /* [slot_count] one per address; the first `used` have been used */
    struct client_slot *slot;
    size_t slot_count, used;
    size_t places;              /* places in use */
    struct client_list waiting; /* connections with a place that wait for a request */
    struct client_list beyond;
};

/* STATUS_E_NOMEM. */
MUST_USE enum status clients_init(struct clients *clients, const struct clients_params *params);
void clients_clear(struct clients *clients); /* all zero allowed */

/* A connection opened on this socket, which is shut down when room is needed (the owner keeps
 * the descriptor). Below: it closed; call that before its socket is closed. NULL: no memory, so
 * it is not limited. */
struct client *clients_open(struct clients *clients, const struct sockaddr *address, int socket,
                            int64_t now_ms);
void clients_close(struct clients *clients, struct client *client); /* NULL allowed */

enum client_state {
    CLIENT_FINE,
    CLIENT_OVER_CONNECTIONS, /* its address has too many connections */
    CLIENT_OVER_PLACES,      /* there are too many connections in total */
    /* too many requests; *wait_s: time until the next one is accepted */
    CLIENT_OVER_RATE
};

/* The head of a request arrived on this connection, which may be NULL. */
enum client_state clients_ask(struct clients *clients, struct client *client, int64_t now_ms,
                              unsigned *wait_s);

/* Count a request of its address that nobody read towards the rate. NULL allowed. */
void clients_charge(struct clients *clients, struct client *client, int64_t now_ms);

/* Wrong tokens: CLIENTS_TOKENS per address are free. After that, and after each further wrong
 * one, no token of the address is read for a time: 1 s, then twice as long each time, 60 s at
 * most. After CLIENTS_TOKEN_FORGET_S without a wrong one, all are forgotten. An address that
 * once showed the right token is trusted: its right tokens always pass. So nobody can lock out
 * others who share his address behind a proxy, and a stranger can guess once a minute.
 */
enum { CLIENTS_TOKENS = 10, CLIENTS_TOKEN_WAIT_S = 60, CLIENTS_TOKEN_FORGET_S = 900 };

/* Seconds until a token of this client is read again, 0: now. NULL allowed. */
unsigned clients_token_wait(struct clients *clients, struct client *client, int64_t now_ms,
                            bool *trusted);

/* A token of this client was read. NULL allowed. */
void clients_record_token(struct clients *clients, struct client *client, bool right,
                          int64_t now_ms);

/* Its answer was sent: it may send the next request. NULL allowed. */
void clients_answered(struct clients *clients, struct client *client, int64_t now_ms);

/* Its client disconnected: it gives up its place and will be closed soon. NULL allowed. */
void clients_leave(struct clients *clients, struct client *client);

/* Close connections that took too long, except those with unread bytes: then this machine is
 * the slow one. */
void clients_hang_up(struct clients *clients, int64_t now_ms);

#endif
