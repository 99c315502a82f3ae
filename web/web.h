/* web/web.h - the HTTP server: what it is given, and how it is started and stopped.
 *
 * libmicrohttpd runs in its own threads and sees three things only: a published immutable
 * snapshot, its own read-only connection to the store, and submit functions with bounded
 * queues. Contract: web/openapi.yaml.
 */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "twin/base/err.h"
#include "twin/lab.h"

/* Is the daemon fit to serve? A false one makes /readyz answer 503 with its text. */
struct view_health {
    bool restored; /* checkpoint and journal tail are in */
    bool broker;   /* connected and subscribed */
    bool journal;  /* the last append worked */
    bool store;    /* the last commit worked */
    char broker_text[160], journal_text[160], store_text[160];
};

/* An immutable snapshot of the daemon. Borrowed between acquire and release. */
struct view {
    int64_t t_us;       /* lab time it was taken */
    int64_t started_us; /* lab time of the daemon's start */
    const char *lab_name;
    const char *prefix;
    size_t pair_count;
    const struct pair_params *params; /* [pair_count] */
    const struct pair *const *pairs;  /* [pair_count] */
    /* [pair_count] the heads of their dynamics, without samples; NULL: not followed. The array
     * itself is NULL when no pair's are. */
    const struct pair_dynamics *const *dynamics;
    struct lab_counts counts;
    struct view_health health;
};

enum { WEB_MACHINES_MAX = 8192 };

/* Writes metrics in the Prometheus text format; see web/metrics.h. */
struct metrics;

/* What the daemon lends the server. Every function may be called from any server thread. */
struct web_source {
    void *context;
    const struct view *(*acquire)(void *context);
    void (*release)(void *context, const struct view *view);
    /* Publish payload (one JSON object, valid command) as a command of this pair; the daemon
     * then receives it as it receives every command. STATUS_E_FULL: too many in flight;
     * STATUS_E_IO: not connected. */
    enum status (*command)(void *context, const char *pair, const char *payload, size_t bytes,
                           struct err *err);
    /* The machine states that a robot publishes of itself, JSON; returns its bytes, 0 for none.
     */
    size_t (*machines)(void *context, size_t pair, enum side side, char out[WEB_MACHINES_MAX]);
    /* A wish about parameter sets, one JSON object {"pair","action","version","by"}: goes into
     * the journal and then to the lab. STATUS_E_IO: starting or stopping. */
    enum status (*request)(void *context, const char *payload, size_t bytes, struct err *err);
    /* Add the process's own metrics (ingest, journal, store, broker, threads). */
    void (*metrics)(void *context, struct metrics *metrics);
    int64_t (*now)(void *context); /* lab time */
};

struct web_options {
    const char *bind;  /* numeric address; beyond loopback demands a token */
    uint16_t port;     /* 0: any free one */
    const char *token; /* bearer token for writing; NULL: writing is refused with 403 */
    unsigned threads;  /* 1..4 */
    unsigned connections_max;
    const char *store_path; /* the SQLite file */
};

struct web;

/* Starts the threads. STATUS_E_IO with the reason (address in use …), STATUS_E_ARG for a
 * non-loopback address without a token. */
MUST_USE enum status web_start(const struct web_options *options,
                               const struct web_source *source, struct web **web,
                               struct err *err);
uint16_t web_port(const struct web *web); /* the one bound */
void web_stop(struct web *web);           /* NULL allowed; returns when no handler runs */

#endif
