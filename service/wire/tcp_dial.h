/* service/wire/tcp_dial.h - begins a TCP connection that blocks for the look-up of the name
 * only.
 */
#ifndef SERVICE_WIRE_TCP_DIAL_H
#define SERVICE_WIRE_TCP_DIAL_H

/* Returns a socket that connects, not blocking, without delay of small packets; -1: *why, a
 * static text. */
int tcp_dial(const char *host, int port, const char **why);

/* The socket became writable. NULL: it is connected; else why not, a static text. */
const char *tcp_dial_fault(int socket);

#endif
