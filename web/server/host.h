/* web/server/host.h - is this the name of this server? A page of another site can have its own
 * name point at this machine (DNS rebinding) and then ask as if it came from here: its requests
 * carry that name in Host. Pure. */
#ifndef WEB_SERVER_HOST_H
#define WEB_SERVER_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Are names a list as host_is_ours() takes it? "" is one. */
bool host_names_are_valid(const char *names);

/* host: the header, "name", "name:port", "192.0.2.7:8420", "[::1]:8420". Ours are localhost,
 * loopback addresses, the address that is listened on (any address when that is 0.0.0.0 or ::,
 * for an address cannot be made to point elsewhere), and names: "a.example, b", without regard
 * to case. */
bool host_is_ours(const char *host, const struct sockaddr *listening, const char *names);

#endif
