/* web/resource/events.c - GET /api/v1/events: results as they happen, as Server-Sent Events.
 */
#include <stdlib.h>
#include <string.h>

#include "web/resource/handlers.h"
#include "web/stream/stream.h"

enum { RETRY_S = 5 };

/* False with the problem in *response. */
static bool read_pairs(const struct web_request *request, struct event_filter *filter,
                       struct web_response *response)
{
    const struct view *view = request->view;
    const char *p = request->query.pairs;
    if (!*p) {
        return true;
    }
    filter->pairs = calloc(view->pair_count, 1);
    if (!filter->pairs) {
        return web_problem(request, response, PROBLEM_INTERNAL, NULL, "no memory");
    }
    for (;; p++) {
        const size_t n = strcspn(p, ",");
        const size_t pair = view_find_pair(view, p, n);
        if (pair == view->pair_count) {
            return web_problem(
                request, response, PROBLEM_BAD_PARAMETER, "pair",
                "pair: the lab has no pair of this id; /api/v1/pairs lists them");
        }
        filter->pairs[pair] = 1;
        p += n;
        if (!*p) {
            return true;
        }
    }
}

void get_events(const struct web_request *request, struct web_response *response)
{
    struct event_filter filter = {.types = (unsigned)request->query.event_types};
    struct event_place place;
    /* The header has priority over the parameter, because a browser sends it on reconnection.
     */
    const char *id = request->last_event_id && request->last_event_id[0]
                         ? request->last_event_id
                         : request->query.last_event_id;
    struct streams *streams = request->context->streams;
    if (!streams) {
        web_problem(request, response, PROBLEM_NOT_READY, NULL, "nothing is published here");
        return;
    }
    if (id[0] && !event_place_read(id, &place)) {
        web_problem(request, response, PROBLEM_BAD_PARAMETER, "last_event_id",
                    "last_event_id: not an id of this stream");
        return;
    }
    if (!read_pairs(request, &filter, response)) {
        free(filter.pairs);
        return;
    }
    response->stream = stream_open(streams, &filter, id[0] ? &place : NULL);
    if (!response->stream) {
        web_problem_later(request, response, PROBLEM_TOO_MANY_LISTENERS, RETRY_S, NULL,
                          "as many listen as may (http.listeners_max); try again later");
        return;
    }
    response->media_type = "text/event-stream";
}
