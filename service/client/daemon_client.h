/* service/client/daemon_client.h - asks a running daemon over HTTP, for commands that print
 * what it knows. */
#ifndef SERVICE_CLIENT_DAEMON_CLIENT_H
#define SERVICE_CLIENT_DAEMON_CLIENT_H

#include <jansson.h>

#include "base/errors/status.h"
#include "service/tool/arguments.h"

enum { DAEMON_CLIENT_ARGUMENTS = 3 };

/* The options of a command that say where the daemon is. */
struct daemon_client {
    const char *command;              /* for messages: "status" */
    const char *url;                  /* http://127.0.0.1:8420 by default */
    const char *token_file, *ca_file; /* NULL: none, the system's */
    struct argument rows[DAEMON_CLIENT_ARGUMENTS];
    struct argument_group group;
};

/* Sets the defaults and the group of options, which points into the client. */
void daemon_client_init(struct daemon_client *client, const char *command);

/* Is it the address of a daemon? False after a message. */
MUST_USE bool daemon_client_accepts(const char *url, const char *command);

/* Returns the answer to a GET of a path below /api/v1, to be freed. NULL after a message: there
 * is no daemon, it refused the request, or the answer is no JSON. */
MUST_USE json_t *daemon_client_get(const struct daemon_client *client, const char *format, ...)
    PRINTF_LIKE(2, 3);

#endif
