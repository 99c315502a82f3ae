/* service/daemon/daemon.h - starts and stops the parts of `tandem serve` in the right order. */
#ifndef SERVICE_DAEMON_DAEMON_H
#define SERVICE_DAEMON_DAEMON_H

#include <stdint.h>

#include "base/errors/err.h"
#include "config/labfile/lab_file.h"

struct daemon;

/* Start everything. lab is borrowed for the daemon's life. Block signals before, so that the
 * threads inherit the mask. The broker need not be reachable.
 *
 * On failure nothing is left running. STATUS_E_ARG: the lab file asks for something impossible
 * (an unreadable token, an address beyond loopback without a token). STATUS_E_IO: journal,
 * store or address cannot be opened. STATUS_E_STALE, STATUS_E_PARSE: as store_open().
 * STATUS_E_NOMEM.
 */
MUST_USE enum status daemon_start(const struct lab_file *lab, struct daemon **out,
                                  struct err *err);

/* The port of the HTTP server; 0 when it is switched off. */
uint16_t daemon_http_port(const struct daemon *daemon);

/* Read the certificate and key of HTTPS again; see web_renew_tls(). */
MUST_USE enum status daemon_renew_tls(struct daemon *daemon, bool *changed, struct err *err);

/* Read the key of alarms.webhook again; see alarm_webhook_renew_key(). */
MUST_USE enum status daemon_renew_webhook_key(struct daemon *daemon, bool *changed,
                                              struct err *err);

/* Returns true after the first connection attempt to the broker, successful or not. */
bool daemon_has_tried_broker(const struct daemon *daemon);

/* Stop in order: disconnect from the broker (which goes on queueing for us), process everything
 * received, write it to the disk. Returns whether all of it is there; the next start reads the
 * rest from the journal. Frees daemon. */
bool daemon_stop(struct daemon *daemon);

#endif
