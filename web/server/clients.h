/* web/server/clients.h - how much one client may ask for: connections at once and requests a
 * second, by its address (of IPv6 the first half: a machine has a whole network of these). Any
 * thread.
 */
#ifndef WEB_SERVER_CLIENTS_H
#define WEB_SERVER_CLIENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/status.h"

struct client; /* one connection */

enum { CLIENTS_BURST_S = 5 }; /* so many seconds' requests may come at once */

struct clients_params {
    unsigned connections_total; /* that there may be, of all clients */
    unsigned connections_max;   /* of one address; 0: any number */
    unsigned requests_per_s;    /* of one address; 0: any number */
};

struct clients {
    struct clients_params params;
    pthread_mutex_t lock;
    struct client_slot *slot; /* [slot_count] an address each; the first `used` have been */
    size_t slot_count, used;
};

/* STATUS_E_NOMEM. */
MUST_USE enum status clients_init(struct clients *clients, const struct clients_params *params);
void clients_clear(struct clients *clients); /* all zero allowed */

/* A connection came, and went. NULL: no memory; it is not limited then. */
struct client *clients_open(struct clients *clients, const struct sockaddr *address);
void clients_close(struct clients *clients, struct client *client); /* NULL allowed */

enum client_state {
    CLIENT_FINE,
    CLIENT_OVER_CONNECTIONS, /* this connection is one too many */
    CLIENT_OVER_RATE         /* too many requests; *wait_s: when the next one will do */
};

/* A request came over this connection, which may be NULL. */
enum client_state clients_ask(struct clients *clients, struct client *client, int64_t now_ms,
                              unsigned *wait_s);

#endif
