/* service/wire/modbus_server.h - serves an arm's registers over Modbus TCP: FC 1 to 6, 15, 16,
 * 22, 23.
 *
 * The server answers on its own thread from the last registers shown, so a read never mixes two
 * periods. Requests of clients wait, within bounds, until the arm pops them. The server answers
 * for every unit number.
 */
#ifndef SERVICE_WIRE_MODBUS_SERVER_H
#define SERVICE_WIRE_MODBUS_SERVER_H

#include "service/wire/modbus_map.h"
#include "service/wire/tcp_server.h"

enum { MODBUS_PORT = 1502, MODBUS_ORDERS_MAX = 16 };

struct modbus_options {
    struct tcp_listen listen;
    /* clients beyond loopback may write, too; otherwise they get exception 1 */
    bool remote_writes;
};

struct modbus_server;

/* Errors as of tcp_server_start(). */
MUST_USE enum status modbus_server_start(struct modbus_server **out,
                                         const struct modbus_options *options, struct err *err);
void modbus_server_stop(struct modbus_server *s); /* NULL is allowed */
const char *modbus_server_where(const struct modbus_server *s);
bool modbus_server_accepts_writes(const struct modbus_server *s);

/* Update the registers that clients read, if they are shown (modbus_is_shown()). One thread
 * must call this and modbus_server_pop_orders(). */
void modbus_server_show(struct modbus_server *s, const uint16_t words[MODBUS_REGISTERS]);

/* A command, or a new mode. */
struct modbus_order {
    bool command;                                     /* otherwise only the mode */
    uint16_t words[MODBUS_WATCHDOG - MODBUS_COMMAND]; /* values of 128 … 150 at that time */
};

/* Requests of clients since the last pop. */
struct modbus_orders {
    size_t count;
    struct modbus_order order[MODBUS_ORDERS_MAX]; /* oldest first */
    bool stream;                                  /* set points arrived; the last ones: */
    double stream_rad[ARM_JOINTS];
    bool goal; /* and a goal of the streaming client */
    double goal_rad[ARM_JOINTS];
    bool alive; /* the watchdog register has changed */
};

void modbus_server_pop_orders(struct modbus_server *s, struct modbus_orders *out);

struct modbus_counts {
    struct tcp_counts tcp;
    uint64_t requests, refused; /* answered requests, and those answered by an exception */
};

void modbus_server_counts(struct modbus_server *s, struct modbus_counts *out);

/* --- for tests and the fuzzer ------------------------------------------------------------- */

/* Make a server without a network, and let it answer to bytes on a socket, as the `receive` of
 * a tcp_service. NULL when there is no memory. */
struct modbus_server *modbus_server_create(bool writes);
ssize_t modbus_server_receive(struct modbus_server *s, int socket, const uint8_t *bytes,
                              size_t count);

#endif
