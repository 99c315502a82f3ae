/* web/stream/stream.h - those who listen to /api/v1/events: no thread and no queue each, but a
 * cursor in the hub's ring (web/http/event_hub.h) and a connection that sleeps while there is
 * nothing.
 *
 * One thread for all wakes the connections that have something to read, sends a comment to
 * those that have heard nothing for a while (that is how a listener whose machine is gone is
 * found; one that hangs up is seen at its socket), and looks for machines that changed state
 * and for poses.
 */
#ifndef WEB_STREAM_STREAM_H
#define WEB_STREAM_STREAM_H

#include <microhttpd.h>
#include <stdatomic.h>

#include "web/http/event_hub.h"
#include "web/http/response_cache.h"
#include "web/http/web.h"

struct streams;
struct stream; /* one listener */

struct streams_params {
    struct event_hub *hub;
    struct response_cache *response_cache;
    const struct web_source *source;
    struct trails *trails; /* fed by the way; NULL: none */
    size_t clients_max;
    int heartbeat_ms;
    /* The client of this connection has hung up, long before the connection is closed. NULL:
     * nobody wants to know. */
    void (*left)(void *context, struct MHD_Connection *connection);
    void *context;
};

struct streams_counts {
    atomic_uint_least64_t clients; /* now */
    atomic_uint_least64_t opened, refused;
    atomic_uint_least64_t missed; /* events that slow listeners have not heard */
    atomic_uint_least64_t cut;    /* listeners hung up on in the middle of an event */
};

/* Everything is borrowed. STATUS_E_NOMEM: no memory, or no thread. */
MUST_USE enum status streams_start(const struct streams_params *params, struct streams **out);

/* End all streams: connections wake and finish, none sleeps from now on. Before the server's
 * threads are stopped, and streams_destroy() after. NULL allowed. */
void streams_stop(struct streams *streams);
void streams_destroy(struct streams *streams);

/* Free the places of listeners that have hung up, told by `left`, now and not at the next look
 * a fifth of a second later: before somebody is refused, or hung up on, for want of a place.
 * Any thread, not from `left`. NULL allowed. */
void streams_count_out(struct streams *streams);

const struct streams_counts *streams_counts(const struct streams *streams);

/* One more listener. filter->pairs goes over to it, also on failure. place: where to go on;
 * NULL: with what happens from now on. NULL when there are too many, or no memory. */
struct stream *stream_open(struct streams *streams, const struct event_filter *filter,
                           const struct event_place *place);

/* NULL allowed. Not after stream_response(). */
void stream_close(struct stream *stream);

/* The response that streams to this connection; it closes the stream at its end. NULL: no
 * memory; then the stream is still the caller's. */
struct MHD_Response *stream_response(struct stream *stream, struct MHD_Connection *connection);

#endif
