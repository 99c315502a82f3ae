/* web/server/server.h - starts and stops the HTTP server.
 *
 * libmicrohttpd runs in its own threads and sees only three things: the daemon's interface
 * (web/http/web.h), its own read-only connection to the store, and the files of the page.
 * Contract: web/openapi.yaml.
 */
#ifndef WEB_SERVER_SERVER_H
#define WEB_SERVER_SERVER_H

#include "logger/storage/store.h"
#include "web/http/web.h"

struct web_options {
    const char *bind;  /* numeric address; beyond loopback a token is required */
    uint16_t port;     /* 0: any free one */
    const char *token; /* bearer token for writing; NULL: writing is refused with 403 */
    unsigned threads;  /* 1..4 */
    unsigned connections_max;
    unsigned listeners_max;          /* clients of /api/v1/events, beyond connections_max */
    unsigned client_connections_max; /* per address; 0: any number */
    unsigned client_requests_per_s;  /* per address; 0: any number */
    /* names in addition to localhost and its address; NULL: none */
    const char *hosts;
    const char *tls_certificate, *tls_key; /* PEM files; NULL or "": plain HTTP */
    unsigned heartbeat_ms;                 /* interval of comments to a listener; 0: 15 s */
    size_t upload_bytes_max;               /* longest upload; below BODY_BYTES_MAX */
    struct store_params store;             /* borrowed until web_stop() */
};

struct web;

/* Starts the threads. STATUS_E_IO with the reason (address in use …), STATUS_E_ARG for a
 * non-loopback address without a token. */
MUST_USE enum status web_start(const struct web_options *options,
                               const struct web_source *source, struct web **web,
                               struct err *err);

/* Read certificate and key again, for use from the next connection on. *changed: they differ
 * from the previous ones. STATUS_E_ARG with the reason: the previous ones stay in use. No
 * effect without TLS. */
MUST_USE enum status web_renew_tls(struct web *web, const char *certificate, const char *key,
                                   bool *changed, struct err *err);

uint16_t web_port(const struct web *web);               /* the bound port */
const struct web_room *web_room(const struct web *web); /* web/http/handler.h */
void web_stop(struct web *web); /* NULL allowed; returns when no handler runs */

#endif
