/* service/wire/rtde_server.h - a simulated arm's RTDE interface, like port 30004 of a UR
 * controller.
 *
 * The arm publishes its state each period. Each client gets data frames at the rate that it
 * requested, at most one per period. Client inputs are read back each period, and registers
 * return as outputs, as a program on the controller could do. A client that does not read its
 * frames is disconnected. docs/rtde.md.
 */
#ifndef SERVICE_WIRE_RTDE_SERVER_H
#define SERVICE_WIRE_RTDE_SERVER_H

#include "base/errors/err.h"
#include "service/wire/rtde.h"
#include "service/wire/tcp_server.h"

enum { RTDE_SERVER_STATES_MAX = 64 }; /* states kept for a thread that did not run */

struct rtde_server;

struct rtde_counts {
    struct tcp_counts tcp;
    uint64_t frames, malformed; /* from clients */
    uint64_t lost;              /* states that the thread was too late to send */
};

/* period_s: of rtde_server_publish(), > 0. writes: clients may have inputs. Errors as of
 * tcp_server_start(). */
MUST_USE enum status rtde_server_start(struct rtde_server **out,
                                       const struct tcp_listen *listen, double period_s,
                                       bool writes, struct err *err);
void rtde_server_stop(struct rtde_server *s); /* NULL is allowed */

/* Publish the arm's state; *inputs gets what clients wrote. An output register has what the
 * input register of its number has, but for the integers of a program, program
 * [RTDE_PROGRAM_COUNT] from RTDE_PROGRAM_FIRST on; NULL: none. Never waits for a client. */
void rtde_server_publish(struct rtde_server *s, const struct rtde_outputs *now,
                         const int32_t *program, struct rtde_inputs *inputs);

const char *rtde_server_where(const struct rtde_server *s); /* "127.0.0.1:30004" */
void rtde_server_counts(struct rtde_server *s, struct rtde_counts *out);

#endif
