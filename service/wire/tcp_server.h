/* service/wire/tcp_server.h - a small TCP server for machines: few clients, on its own thread,
 * and no client can block another.
 *
 * Sockets do not block. Incomplete requests and unsent answers are buffered within bounds; a
 * client that exceeds them is disconnected. All callbacks run on the server's thread.
 */
#ifndef SERVICE_WIRE_TCP_SERVER_H
#define SERVICE_WIRE_TCP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errors/err.h"

enum {
    TCP_CLIENTS_MAX = 64,             /* one more replaces a client that was silent … */
    TCP_SILENT_US = 10 * 1000 * 1000, /* … for this time, or is refused */
    TCP_IN_MAX = 4096,                /* bytes of an incomplete request */
    TCP_OUT_MAX = 64 * 1024,          /* bytes that a client has not read yet */
    TCP_WHERE_MAX = 64
};

struct tcp_server;
struct tcp_client; /* one connection; used by the server's thread */

/* The service: the same functions for all clients. */
struct tcp_service {
    const char *name; /* "Modbus" */
    void *context;
    size_t client_bytes; /* size of a client's own state, zeroed at first; may be 0 */
    /* Handles received bytes. Returns how many of them are consumed, from the first on; 0:
     * incomplete; -1: close the client. Called again when more have arrived. */
    ssize_t (*receive)(void *context, struct tcp_client *client, const uint8_t *bytes,
                       size_t count);
    /* Called for each client after tcp_server_wake(); false: close it. NULL: no action. */
    bool (*tick)(void *context, struct tcp_client *client);
    /* Called when the client disconnects. NULL: no action. */
    void (*leave)(void *context, struct tcp_client *client);
};

/* The address to listen on. */
struct tcp_listen {
    const char *where;     /* "127.0.0.1:1502", "[::1]:1502", either without the port */
    uint16_t port;         /* port if the text has none; 0: a free one */
    bool without_password; /* allow addresses beyond loopback without a password */
};

/* Also false when it is no address. */
bool tcp_listen_is_loopback(const struct tcp_listen *listen);

/* STATUS_E_RANGE: no address, or one beyond loopback without permission; name: of the service.
 */
MUST_USE enum status tcp_listen_check(const struct tcp_listen *listen, const char *name,
                                      struct err *err);

struct tcp_counts {
    uint64_t clients;            /* accepted so far */
    uint64_t open;               /* open now */
    uint64_t refused, displaced; /* no room; replaced by another */
    uint64_t broken, slow;       /* closed for invalid data; closed for not reading */
};

/* Listen and serve until tcp_server_stop(). STATUS_E_RANGE: invalid address, or one beyond
 * loopback without permission; STATUS_E_IO: the system refused, err has the reason. */
MUST_USE enum status tcp_server_start(struct tcp_server **out, const struct tcp_listen *listen,
                                      const struct tcp_service *service, struct err *err);
void tcp_server_stop(struct tcp_server *s); /* NULL is allowed */

/* Have tick() called for each client, soon. Any thread; never blocks. */
void tcp_server_wake(struct tcp_server *s);

/* "127.0.0.1:1502", with the actual port. Any thread. */
const char *tcp_server_where(const struct tcp_server *s);
bool tcp_server_is_loopback(const struct tcp_server *s);
void tcp_server_counts(struct tcp_server *s, struct tcp_counts *out);

/* --- on the server's thread, within the service's functions ------------------------------ */

/* Send, or buffer until it can be sent. False when there is no room: the client is too slow,
 * and is closed when the function returns. */
bool tcp_client_send(struct tcp_client *c, const void *bytes, size_t count);

/* The client's socket, for a library that writes to it; the output buffer must be empty
 * then. */
int tcp_client_socket(const struct tcp_client *c);

void *tcp_client_state(struct tcp_client *c); /* [client_bytes] */

#endif
