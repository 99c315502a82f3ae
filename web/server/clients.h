/* web/server/clients.h - how much one client may ask for: connections at once and requests a
 * second, by its address (of IPv6 the first half: a machine has a whole network of these), and
 * how long a connection may be here without asking for anything. Any thread.
 *
 * A connection has a place, or is beyond: one too many of its address, or there is no place
 * left. Of those without a place a few are kept for a short time, for a request that everybody
 * may make (ROUTE_HEALTH). When room is wanted, the connection that has waited for a request
 * for longest is hung up on: nobody holds a place by silence while others want it.
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
    CLIENTS_BURST_S = 5,   /* so many seconds' requests may come at once */
    CLIENTS_BEYOND = 64,   /* connections kept without a place */
    CLIENTS_LEAVING = 256, /* hung up on, and not yet closed by the thread that serves them */
    /* Descriptors that connections never use. Journal, store, checkpoint, broker, log and
     * listening have 20; readers of the store at most 27 more (web/http/response_cache.h),
     * threads of the server 6, a new file of the journal, a checkpoint, a reconnection and a
     * job some ten.
     */
    CLIENTS_RESERVED = 80,
    CLIENTS_ROOM_MIN = 16 /* with fewer the server does not start */
};

/* Divide the process's descriptors: the connections and listeners that are wanted, or fewer, of
 * which connections have half at least. False: there are too few. Pure. */
bool clients_find_room(unsigned descriptors, unsigned connections, unsigned listeners,
                       struct web_room *room);

struct clients_params {
    unsigned connections_total; /* places, of all clients */
    unsigned beyond_max;        /* CLIENTS_BEYOND, or fewer */
    unsigned connections_max;   /* of one address; 0: any number */
    unsigned requests_per_s;    /* of one address; 0: any number */
    int64_t head_ms; /* from when a connection came, or its last answer was out, until the head
                        of its request is there */
    atomic_uint_least64_t *hung_up; /* connections hung up on; NULL: nobody counts them */
};

/* Connections in the order in which they came in. */
struct client_list {
    struct client *first, *last;
    size_t count;
};

struct clients {
    struct clients_params params;
    pthread_mutex_t lock;
    struct client_slot *slot; /* [slot_count] an address each; the first `used` have been */
    size_t slot_count, used;
    size_t places;              /* taken */
    struct client_list waiting; /* for a request; those with a place */
    struct client_list beyond;
};

/* STATUS_E_NOMEM. */
MUST_USE enum status clients_init(struct clients *clients, const struct clients_params *params);
void clients_clear(struct clients *clients); /* all zero allowed */

/* A connection came, by this socket, which is shut down when room is wanted (the descriptor
 * stays its owner's), and went, before its socket is closed. NULL: no memory; it is not
 * limited then. */
struct client *clients_open(struct clients *clients, const struct sockaddr *address, int socket,
                            int64_t now_ms);
void clients_close(struct clients *clients, struct client *client); /* NULL allowed */

enum client_state {
    CLIENT_FINE,
    CLIENT_OVER_CONNECTIONS, /* this connection is one too many of its address */
    CLIENT_OVER_PLACES,      /* this connection is one too many of all */
    CLIENT_OVER_RATE         /* too many requests; *wait_s: when the next one will do */
};

/* The head of a request came over this connection, which may be NULL. */
enum client_state clients_ask(struct clients *clients, struct client *client, int64_t now_ms,
                              unsigned *wait_s);

/* A request of its address was read by nobody: it counts towards the address's rate all the
 * same. NULL allowed. */
void clients_charge(struct clients *clients, struct client *client, int64_t now_ms);

/* Wrong tokens. CLIENTS_TOKENS of an address are free; after that one, and each further wrong
 * one, no token of the address is read for a time: 1 s, then twice as long each time, 60 s at
 * most. Nothing wrong for CLIENTS_TOKEN_FORGET_S: all are forgotten. An address that once
 * showed the right token is trusted: its right tokens pass at any time. So nobody locks out
 * those who share an address with him, behind a proxy, and a stranger can guess once a minute.
 */
enum { CLIENTS_TOKENS = 10, CLIENTS_TOKEN_WAIT_S = 60, CLIENTS_TOKEN_FORGET_S = 900 };

/* Seconds until a token of this client is read again, 0: now. NULL allowed. */
unsigned clients_token_wait(struct clients *clients, struct client *client, int64_t now_ms,
                            bool *trusted);

/* A token of this client was read. NULL allowed. */
void clients_record_token(struct clients *clients, struct client *client, bool right,
                          int64_t now_ms);

/* Its answer is out: it may ask again. NULL allowed. */
void clients_answered(struct clients *clients, struct client *client, int64_t now_ms);

/* Its client has hung up: it gives up its place, and is closed soon. NULL allowed. */
void clients_leave(struct clients *clients, struct client *client);

/* Hang up on those that have let too much time go by; not on who has sent what nobody has read
 * yet, on a machine that has no time for it. */
void clients_hang_up(struct clients *clients, int64_t now_ms);

#endif
