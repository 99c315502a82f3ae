/* service/client/http_get.h - one GET of a running daemon, over HTTP or HTTPS.
 *
 * Requests are HTTP/1.0: the answer ends with its connection, so there is no coding to undo.
 * For this and GnuTLS, which the server needs anyway, no library of clients is needed.
 */
#ifndef SERVICE_CLIENT_HTTP_GET_H
#define SERVICE_CLIENT_HTTP_GET_H

#include <stddef.h>

#include "base/errors/err.h"

struct http_request {
    const char *url;     /* "http://127.0.0.1:8420"; https, and a path before `path`, as well */
    const char *path;    /* "/api/v1/status", encoded */
    const char *token;   /* "": none is sent */
    const char *ca_file; /* PEM, of who signed the server's certificate; NULL: the system's */
};

struct http_answer {
    int status;
    size_t bytes;
    char *body; /* [bytes] with a NUL behind, to be freed */
};

/* STATUS_E_ARG: it is not the address of a server. */
MUST_USE enum status http_check_url(const char *url, struct err *err);

/* STATUS_E_ARG: the URL or ca_file cannot be used. STATUS_E_IO: there is no connection, it was
 * silent for ten seconds, or the answer is no HTTP or was cut off. STATUS_E_NOMEM. Blocks. */
MUST_USE enum status http_get(const struct http_request *request, struct http_answer *answer,
                              struct err *err);

#endif
