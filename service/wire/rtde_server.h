/* service/wire/rtde_server.h - a simulated arm's RTDE interface, as a UR controller's port
 * 30004.
 *
 * Each period the arm says how it stands; each client gets its data frames at the rate that it
 * asked for, as often as the arm says so at most. What clients write is read back each period;
 * registers come back as outputs, as a program on the controller may have them do. A client
 * that does not take its frames is closed. docs/rtde.md.
 */
#ifndef SERVICE_WIRE_RTDE_SERVER_H
#define SERVICE_WIRE_RTDE_SERVER_H

#include "base/errors/err.h"
#include "service/wire/rtde.h"
#include "service/wire/tcp_server.h"

enum { RTDE_SERVER_STATES_MAX = 64 }; /* that a thread which was not run may be behind */

struct rtde_server;

struct rtde_counts {
    struct tcp_counts tcp;
    uint64_t frames, malformed; /* of clients */
    uint64_t lost;              /* states that the thread did not come to tell of */
};

/* period_s: of rtde_server_publish(), > 0. writes: clients may have inputs. Errors as of
 * tcp_server_start(). */
MUST_USE enum status rtde_server_start(struct rtde_server **out,
                                       const struct tcp_listen *listen, double period_s,
                                       bool writes, struct err *err);
void rtde_server_stop(struct rtde_server *s); /* NULL is allowed */

/* How the arm stands now, but for the output registers; *inputs is what clients wrote. Never
 * waits for a client. */
void rtde_server_publish(struct rtde_server *s, const struct rtde_outputs *now,
                         struct rtde_inputs *inputs);

const char *rtde_server_where(const struct rtde_server *s); /* "127.0.0.1:30004" */
void rtde_server_counts(struct rtde_server *s, struct rtde_counts *out);

#endif
