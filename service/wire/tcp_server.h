/* service/wire/tcp_server.h - a small TCP server for machines: few clients, a thread of its
 * own, and nobody who can make another one wait.
 *
 * Sockets do not block. What a client sends is kept until it is whole, what it does not take is
 * kept for it, both within bounds; a client that goes beyond them is closed. All that is done
 * for clients happens on the server's thread.
 */
#ifndef SERVICE_WIRE_TCP_SERVER_H
#define SERVICE_WIRE_TCP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errors/err.h"

enum {
    TCP_CLIENTS_MAX = 64,             /* one more takes the place of one that was silent … */
    TCP_SILENT_US = 10 * 1000 * 1000, /* … for so long, or is turned away */
    TCP_IN_MAX = 4096,                /* bytes of an incomplete request */
    TCP_OUT_MAX = 64 * 1024,          /* bytes that a client has not taken yet */
    TCP_WHERE_MAX = 64
};

struct tcp_server;
struct tcp_client; /* one connection; of the server's thread */

/* What is served: the same functions for all clients. */
struct tcp_service {
    const char *name; /* "Modbus" */
    void *context;
    size_t client_bytes; /* of a client's own state, all zero at first; may be 0 */
    /* These bytes came and wait. Returns how many of them, from the first on, are done with;
     * 0: they are not whole yet; -1: close the client. Called again when more have come. */
    ssize_t (*receive)(void *context, struct tcp_client *client, const uint8_t *bytes,
                       size_t count);
    /* For each client after tcp_server_wake(); false: close it. NULL: nothing to do then. */
    bool (*tick)(void *context, struct tcp_client *client);
    /* The client goes. NULL: nothing to do then. */
    void (*leave)(void *context, struct tcp_client *client);
};

/* Where to listen. */
struct tcp_listen {
    const char *where;     /* "127.0.0.1:1502", "[::1]:1502", either without the port */
    uint16_t port;         /* where the text has none; 0: a free one */
    bool without_password; /* addresses beyond loopback are allowed all the same */
};

/* False where it is no address, too. */
bool tcp_listen_is_loopback(const struct tcp_listen *listen);

struct tcp_counts {
    uint64_t clients;            /* accepted so far */
    uint64_t open;               /* now */
    uint64_t refused, displaced; /* there was no room; gave theirs to another */
    uint64_t broken, slow;       /* closed for what they sent, for what they did not take */
};

/* Listen and serve until tcp_server_stop(). STATUS_E_RANGE: where is no address, or one beyond
 * loopback without leave; STATUS_E_IO: the system would not, err says why. */
MUST_USE enum status tcp_server_start(struct tcp_server **out, const struct tcp_listen *listen,
                                      const struct tcp_service *service, struct err *err);
void tcp_server_stop(struct tcp_server *s); /* NULL is allowed */

/* Have tick() called for each client, soon. Any thread; never blocks. */
void tcp_server_wake(struct tcp_server *s);

/* "127.0.0.1:1502", with the port that it has got. Any thread. */
const char *tcp_server_where(const struct tcp_server *s);
bool tcp_server_is_loopback(const struct tcp_server *s);
void tcp_server_counts(struct tcp_server *s, struct tcp_counts *out);

/* --- on the server's thread, within the service's functions ------------------------------ */

/* Send, or keep until it can be sent; false when there is no room: the client is too slow, and
 * is closed when the function returns. */
bool tcp_client_send(struct tcp_client *c, const void *bytes, size_t count);

/* Its socket, for a library that writes to it: nothing must be kept for the client then. */
int tcp_client_socket(const struct tcp_client *c);

void *tcp_client_state(struct tcp_client *c); /* [client_bytes] */

#endif
