/* web/http/handler.h - request and response structs of handlers, without sockets, so that
 * handlers can be tested alone. */
#ifndef WEB_HTTP_HANDLER_H
#define WEB_HTTP_HANDLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/message/event.h"
#include "logger/message/json_write.h"
#include "web/http/body.h"
#include "web/http/problem.h"
#include "web/http/query.h"
#include "web/http/web.h"

struct store_pool;
struct stream;
struct streams;
struct pair_rings;
struct web_route;

enum {
    WEB_LOOK_BYTES_MAX = 8000000, /* of an upload without the token */
    WEB_PATH_MAX = 512,
    WEB_LOCATION_MAX = 256 + WEB_PATH_MAX + QUERY_TEXT_MAX,
    WEB_ETAG_MAX = 24,
    WEB_LINK_MAX = WEB_PATH_MAX + QUERY_CURSOR_MAX + QUERY_TEXT_MAX + 32,
    WEB_STATUS_CLASS_COUNT = 6
};

/* Reasons to refuse a request regardless of its target. */
enum web_refusal {
    WEB_REFUSED_TOKEN,
    WEB_REFUSED_HOST,
    WEB_REFUSED_RATE,
    WEB_REFUSED_CONNECTIONS,
    WEB_REFUSED_UNREADABLE, /* libmicrohttpd could not read it */
    WEB_REFUSED_GUESSES,    /* too many wrong tokens */
    WEB_REFUSAL_COUNT
};

extern const struct names web_refusal_names; /* "token" … */

/* State shared by all requests. Any server thread may use all of it. */
struct web_context {
    const struct web_source *source;
    const char *token;                /* NULL: writing is off */
    const struct sockaddr *listening; /* address it listens on; NULL: any Host is accepted */
    const char *hosts;                /* names of this host, as for host_is_ours() */
    size_t upload_bytes_max;
    struct web_room room;
    struct store_pool *pool;
    struct pair_rings *trails;
    struct pair_rings *motions;
    struct streams *streams;                                /* NULL: there is no event stream */
    atomic_uint_least64_t answered[WEB_STATUS_CLASS_COUNT]; /* [status / 100] */
    atomic_uint_least64_t refused[WEB_REFUSAL_COUNT];
    /* connections closed for being slow or to free their place */
    atomic_uint_least64_t hung_up;
    atomic_uint_least64_t next_command; /* numbers generated command ids */
    atomic_uint open_requests;          /* begun and not yet ended */
    atomic_bool look_arrives;           /* an upload without the token is in transfer */
    atomic_uint_least64_t look_job;     /* job of the last one; 0: there was none */
};

/* The body of a request while it arrives. All zero is an empty one. */
struct web_upload {
    struct body body;
    bool claimed; /* room was claimed for it (struct web_source) and must be released */
    bool look;    /* the same for look_arrives of the context */
};

struct web_request {
    struct web_context *context;
    const struct web_route *route;
    const struct view *view; /* valid while the handler runs */
    char path[WEB_PATH_MAX]; /* path as received, without the query; printable ASCII */
    char id[EVENT_PAIR_MAX]; /* the {id}, {team}, {job} … of the path, or "" */
    /* Valid when the route has an {id}: its index in view, and that pair's members of it. */
    size_t pair;
    const struct pair_params *params;
    const struct pair *shown;
    const struct pair_following *following; /* NULL: the pair does not follow */
    /* Valid when the route has a {team}: the same of that team. */
    size_t team;
    const struct team_params *team_params;
    const struct team_live *team_live;
    uint64_t job; /* valid when the route has a {job} */
    struct query query;
    const char *query_text;        /* as received, without '?' */
    const char *last_event_id;     /* the header; NULL: absent */
    bool token_right, token_wrong; /* both false: no token, or it was not checked */
    bool looks;       /* the daemon's own page uploads a table to look at, without the token */
    bool csv;         /* requested by format= or Accept */
    bool gzip;        /* accepted */
    const char *body; /* [body_bytes] not terminated; NULL for GET */
    size_t body_bytes;
    struct web_upload *upload; /* owner of body; a handler may take it over */
};

/* All zero is an empty 200. */
struct web_response {
    unsigned status;        /* 0: 200 */
    const char *media_type; /* NULL: application/json */
    struct body body;       /* owned by whoever made the struct */
    const char *fixed;      /* [fixed_bytes] instead of body: static data */
    size_t fixed_bytes;
    char etag[WEB_ETAG_MAX];         /* with its quotes; "" for none */
    char allow[32];                  /* for 405 */
    char link[WEB_LINK_MAX];         /* "" for none */
    char location[WEB_LOCATION_MAX]; /* "" for none */
    const char *authenticate;        /* WWW-Authenticate, NULL for none */
    unsigned retry_after_s;          /* 0: none */
    bool varies;                     /* by Accept */
    bool unchanged;          /* status is 200, but the client has this version: send 304 */
    bool page;               /* a dashboard file: send strict browser policies */
    const char *policy;      /* Content-Security-Policy of a file; NULL: none */
    char file_name[64];      /* to save it under; "": it is shown */
    bool gzip;               /* fixed is compressed */
    struct stream *stream;   /* an endless response instead of body; owned. NULL: none */
    bool tagged;             /* make the ETag from the body */
    struct json_writer json; /* writes the body; its text is NULL while unused */
    char json_buffer[2048];
};

/* Fills *response, which is empty at first. */
typedef void web_handler(const struct web_request *request, struct web_response *response);

/* Start writing the body as JSON; web_end() ends it after the handler. */
struct json_writer *web_json(struct web_response *response);

/* The same for an answer with an ETag. */
struct json_writer *web_tagged_json(struct web_response *response);

/* End what web_json() has begun, if anything, and tag it. */
void web_end(struct web_response *response);

/* Replace the response by a problem document. parameter: the faulty query parameter, or NULL.
 * Returns false, for the caller's return. */
bool web_problem(const struct web_request *request, struct web_response *response,
                 enum problem_kind kind, const char *parameter, const char *detail);

/* The same for *err; its place is the faulty parameter if the kind is bad-parameter. */
bool web_problem_err(const struct web_request *request, struct web_response *response,
                     enum problem_kind kind, const struct err *err);

/* The body is no message of the required kind; event: what the codec made of it. */
bool web_problem_malformed(const struct web_request *request, struct web_response *response,
                           const struct event *event);

/* The same for a request that may be repeated after some seconds. The detail is that of *err,
 * if any. */
bool web_problem_later(const struct web_request *request, struct web_response *response,
                       enum problem_kind kind, unsigned after_s, const struct err *err,
                       const char *detail);

/* Set the Link header (RFC 8288) to the list's next page: same path and selection, from this
 * cursor on; "": no next page. */
void web_next_link(const struct web_request *request, const char *cursor,
                   struct web_response *response);

/* Submit the request text[bytes] about the pair to the lab, and answer that it was accepted. */
void web_submit(const struct web_request *request, struct web_response *response,
                const char *action, const char *text, size_t bytes);

#endif
