/* web/server/server.h - the HTTP server, started and stopped.
 *
 * libmicrohttpd runs in its own threads and sees three things only: what the daemon lends it
 * (web/http/web.h), its own read-only connection to the store, and the files of the page.
 * Contract: web/openapi.yaml.
 */
#ifndef WEB_SERVER_SERVER_H
#define WEB_SERVER_SERVER_H

#include "web/http/web.h"

struct web_options {
    const char *bind;  /* numeric address; beyond loopback demands a token */
    uint16_t port;     /* 0: any free one */
    const char *token; /* bearer token for writing; NULL: writing is refused with 403 */
    unsigned threads;  /* 1..4 */
    unsigned connections_max;
    unsigned listeners_max;          /* to /api/v1/events, beyond connections_max */
    unsigned client_connections_max; /* of one address; 0: any number */
    unsigned client_requests_per_s;  /* of one address; 0: any number */
    const char *hosts;               /* names beyond localhost and its address; NULL: none */
    const char *tls_certificate, *tls_key; /* PEM files; NULL or "": plain HTTP */
    unsigned heartbeat_ms;   /* a listener hears a comment at least so often; 0: 15 s */
    size_t upload_bytes_max; /* of a recording; below BODY_BYTES_MAX */
    const char *store_path;  /* the SQLite file */
};

struct web;

/* Starts the threads. STATUS_E_IO with the reason (address in use …), STATUS_E_ARG for a
 * non-loopback address without a token. */
MUST_USE enum status web_start(const struct web_options *options,
                               const struct web_source *source, struct web **web,
                               struct err *err);

/* Read certificate and key again, to be shown from the next connection on. *changed: they are
 * others than before. STATUS_E_ARG with the reason: those before are shown still. Nothing is
 * done where there is no TLS. */
MUST_USE enum status web_renew_tls(struct web *web, const char *certificate, const char *key,
                                   bool *changed, struct err *err);

uint16_t web_port(const struct web *web);               /* the one bound */
const struct web_room *web_room(const struct web *web); /* web/http/handler.h */
void web_stop(struct web *web); /* NULL allowed; returns when no handler runs */

#endif
