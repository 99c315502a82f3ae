/* service/daemon/daemon.h - the parts of `tandem serve`, started and stopped in the right
 * order. */
#ifndef SERVICE_DAEMON_DAEMON_H
#define SERVICE_DAEMON_DAEMON_H

#include <stdint.h>

#include "base/errors/err.h"
#include "config/labfile/lab_file.h"

struct daemon;

/* Start everything. lab is borrowed for the daemon's life. Signals should be blocked, so that
 * the threads inherit that. Whether there is a broker does not matter yet.
 *
 * On failure nothing is left running. STATUS_E_ARG: the lab file asks for what cannot be (a
 * token that cannot be read, an address beyond loopback without one). STATUS_E_IO: journal,
 * store or address are not to be had. STATUS_E_STALE, STATUS_E_PARSE: as store_open().
 * STATUS_E_NOMEM. */
MUST_USE enum status daemon_start(const struct lab_file *lab, struct daemon **out,
                                  struct err *err);

/* The port of the HTTP server; 0 when it is switched off. */
uint16_t daemon_http_port(const struct daemon *daemon);

/* Read the certificate and key of HTTPS again; as web_renew_tls(). */
MUST_USE enum status daemon_renew_tls(struct daemon *daemon, bool *changed, struct err *err);

/* Has the broker been asked for a connection once, whatever it said? */
bool daemon_has_tried_broker(const struct daemon *daemon);

/* Orderly stop: leave the broker (which goes on collecting for us), take in what has come,
 * write everything down. Returns whether all is on the disk; what is not, the next start reads
 * from the journal. Frees daemon. */
bool daemon_stop(struct daemon *daemon);

#endif
