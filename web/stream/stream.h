/* web/stream/stream.h - listeners of /api/v1/events. None has its own thread or queue: each is
 * a cursor in the hub's ring (web/http/event_hub.h) and a connection that sleeps without
 * events.
 *
 * One thread for all wakes connections with unread events, and sends comments to idle ones. A
 * failing comment reveals a listener whose machine is gone; a disconnected one shows at its
 * socket. The thread also watches for changed state machines and for poses.
 */
#ifndef WEB_STREAM_STREAM_H
#define WEB_STREAM_STREAM_H

#include <microhttpd.h>
#include <stdatomic.h>

#include "web/http/event_hub.h"
#include "web/http/store_pool.h"
#include "web/http/web.h"

struct streams;
struct stream; /* one listener */

struct streams_params {
    struct event_hub *hub;
    struct store_pool *pool;
    const struct web_source *source;
    struct pair_rings *trails;  /* gets poses on each check; NULL: none */
    struct pair_rings *motions; /* gets velocities; NULL: none */
    size_t clients_max;
    int heartbeat_ms;
    /* Reports that the client of this connection has disconnected, long before the connection
     * is closed. NULL: not wanted. */
    void (*left)(void *context, struct MHD_Connection *connection);
    void *context;
};

struct streams_counts {
    atomic_uint_least64_t clients; /* now */
    atomic_uint_least64_t opened, refused;
    atomic_uint_least64_t missed; /* events that slow listeners missed */
    atomic_uint_least64_t cut;    /* listeners disconnected in the middle of an event */
};

/* Everything is borrowed. STATUS_E_NOMEM: no memory, or no thread. */
MUST_USE enum status streams_start(const struct streams_params *params, struct streams **out);

/* End all streams: connections wake and finish, and none sleeps any more. Call it before the
 * server's threads stop, and streams_destroy() after. NULL allowed. */
void streams_stop(struct streams *streams);
void streams_destroy(struct streams *streams);

/* Free the places of disconnected listeners (reported by `left`) now rather than at the next
 * check a fifth of a second later. Call it before a client is refused, or disconnected, for
 * lack of a place. Any thread, not from `left`. NULL allowed. */
void streams_count_out(struct streams *streams);

const struct streams_counts *streams_counts(const struct streams *streams);

/* Add a listener, which owns filter->pairs, also on failure. place: where to continue; NULL:
 * from now on. NULL when there are too many, or no memory. */
struct stream *stream_open(struct streams *streams, const struct event_filter *filter,
                           const struct event_place *place);

/* NULL allowed. Not after stream_response(). */
void stream_close(struct stream *stream);

/* Make the response that streams to this connection; it closes the stream at its end. NULL: no
 * memory; then the caller still owns the stream. */
struct MHD_Response *stream_response(struct stream *stream, struct MHD_Connection *connection);

#endif
