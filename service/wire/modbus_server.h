/* service/wire/modbus_server.h - an arm's registers over Modbus TCP: FC 1 to 6, 15, 16, 22, 23.
 *
 * The server answers on a thread of its own from the registers as they were shown last: a read
 * never mixes two periods. What clients ask of the arm waits, within bounds, until it is taken.
 * Whatever unit a request is for, this one answers.
 */
#ifndef SERVICE_WIRE_MODBUS_SERVER_H
#define SERVICE_WIRE_MODBUS_SERVER_H

#include "service/wire/modbus_map.h"
#include "service/wire/tcp_server.h"

enum { MODBUS_PORT = 1502, MODBUS_ORDERS_MAX = 16 };

struct modbus_options {
    struct tcp_listen listen;
    bool remote_writes; /* clients may write beyond loopback, too; else exception 1 is all */
};

struct modbus_server;

/* As tcp_server_start(). */
MUST_USE enum status modbus_server_start(struct modbus_server **out,
                                         const struct modbus_options *options, struct err *err);
void modbus_server_stop(struct modbus_server *s); /* NULL is allowed */
const char *modbus_server_where(const struct modbus_server *s);
bool modbus_server_accepts_writes(const struct modbus_server *s);

/* From now on clients read these registers, those of them that are shown (modbus_is_shown()).
 * One thread calls this and modbus_server_pop_orders(). */
void modbus_server_show(struct modbus_server *s, const uint16_t words[MODBUS_REGISTERS]);

/* A command, or a new mode. */
struct modbus_order {
    bool command;                                     /* else the mode alone */
    uint16_t words[MODBUS_WATCHDOG - MODBUS_COMMAND]; /* 128 … 150 as they were then */
};

/* What clients asked for since it was taken last. */
struct modbus_orders {
    size_t count;
    struct modbus_order order[MODBUS_ORDERS_MAX]; /* oldest first */
    bool stream;                                  /* set points came; the last of them: */
    double stream_rad[ARM_JOINTS];
    bool goal; /* and a goal of who streams */
    double goal_rad[ARM_JOINTS];
    bool alive; /* the watchdog has moved */
};

void modbus_server_pop_orders(struct modbus_server *s, struct modbus_orders *out);

struct modbus_counts {
    struct tcp_counts tcp;
    uint64_t requests, refused; /* answered; of these by an exception */
};

void modbus_server_counts(struct modbus_server *s, struct modbus_counts *out);

/* --- for tests and the fuzzer ------------------------------------------------------------- */

/* A server that nobody can reach, and what it answers to bytes, on a socket; as the `take` of a
 * tcp_service. NULL when there is no memory. */
struct modbus_server *modbus_server_create(bool writes);
ssize_t modbus_server_receive(struct modbus_server *s, int socket, const uint8_t *bytes,
                              size_t count);

#endif
