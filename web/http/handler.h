/* web/http/handler.h - what a handler gets and what it leaves: no sockets, so that it is tested
 * without any. */
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

struct response_cache;
struct stream;
struct streams;
struct trails;
struct web_route;

enum {
    WEB_PATH_MAX = 512,
    WEB_ETAG_MAX = 24,
    WEB_LINK_MAX = WEB_PATH_MAX + QUERY_CURSOR_MAX + QUERY_TEXT_MAX + 32,
    WEB_STATUS_CLASS_COUNT = 6
};

/* Why a request was refused, whatever it asked for. */
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

/* What all requests share. Everything in it may be used from any server thread. */
struct web_context {
    const struct web_source *source;
    const char *token;                /* NULL: writing is off */
    const struct sockaddr *listening; /* its address; NULL: any Host will do */
    const char *hosts;                /* its names, as host_is_ours() has them */
    size_t upload_bytes_max;
    struct web_room room;
    struct response_cache *response_cache;
    struct trails *trails;
    struct streams *streams;                                /* NULL: nothing is published */
    atomic_uint_least64_t answered[WEB_STATUS_CLASS_COUNT]; /* [status / 100] */
    atomic_uint_least64_t refused[WEB_REFUSAL_COUNT];
    atomic_uint_least64_t hung_up;      /* connections, for taking too long or their place */
    atomic_uint_least64_t next_command; /* numbers made-up ids */
    atomic_uint open_requests;          /* begun and not yet ended */
};

/* The body of a request as it comes in. All zero is an empty one. */
struct web_upload {
    struct body body;
    bool claimed; /* there is room for it (struct web_source), to be given back */
};

struct web_request {
    struct web_context *context;
    const struct web_route *route;
    const struct view *view; /* valid while the handler runs */
    char path[WEB_PATH_MAX]; /* as it came, without the query; printable ASCII */
    char id[EVENT_PAIR_MAX]; /* the {id}, {job}, {machine} or {file} of the path, or "" */
    /* Valid when the route has an {id}: its index in view, and what that has of it. */
    size_t pair;
    const struct pair_params *params;
    const struct pair *shown;
    const struct pair_following *following; /* NULL: the pair is not one that follows */
    uint64_t job;                           /* valid when the route has a {job} */
    struct query query;
    const char *query_text;        /* as it came, without '?' */
    const char *last_event_id;     /* that header; NULL: absent */
    bool token_right, token_wrong; /* neither: there is none, or nobody looked at it */
    bool csv;                      /* wanted, by format= or Accept */
    bool gzip;                     /* accepted */
    const char *body;              /* [body_bytes] not terminated; NULL for GET */
    size_t body_bytes;
    struct web_upload *upload; /* what body points into; a handler may take it over */
};

/* All zero is an empty 200. */
struct web_response {
    unsigned status;        /* 0: 200 */
    const char *media_type; /* NULL: application/json */
    struct body body;       /* owner: whoever made the struct */
    const char *fixed;      /* [fixed_bytes] instead of body: lives as long as the program */
    size_t fixed_bytes;
    char etag[WEB_ETAG_MAX];  /* with its quotes; "" for none */
    char allow[32];           /* for 405 */
    char link[WEB_LINK_MAX];  /* "" for none */
    char location[64];        /* "" for none */
    const char *authenticate; /* WWW-Authenticate, NULL for none */
    unsigned retry_after_s;   /* 0: none */
    bool varies;              /* by Accept */
    bool unchanged;           /* status is 200, but the client has it: 304 is to be sent */
    bool page;                /* a file of the dashboard: a browser is to be strict with it */
    bool gzip;                /* fixed is compressed */
    struct stream *stream;    /* instead of body: goes on for ever; owned. NULL: none */
    bool tagged;              /* the ETag is to be that of the body */
    int64_t
        store_version; /* of the store it rests on alone, response_cache.h; 0: not on that */
    struct json_writer json; /* of the body; its text is NULL while none is written */
    char json_buffer[2048];
};

/* Fills *response, which comes empty. */
typedef void web_handler(const struct web_request *request, struct web_response *response);

/* Start writing the body as JSON; web_end() ends it when the handler is through. */
struct json_writer *web_json(struct web_response *response);

/* The same, of an answer that gets an ETag. */
struct json_writer *web_tagged_json(struct web_response *response);

/* End what web_json() has begun, if anything, and tag it. */
void web_end(struct web_response *response);

/* Throw away what the response held and make it a problem document. parameter: the query
 * parameter at fault, or NULL. False, for those who refuse by it. */
bool web_problem(const struct web_request *request, struct web_response *response,
                 enum problem_kind kind, const char *parameter, const char *detail);

/* The same for *err; its place is the parameter at fault where the kind is that one is bad. */
bool web_problem_err(const struct web_request *request, struct web_response *response,
                     enum problem_kind kind, const struct err *err);

/* The body is no message of the wanted kind; event: what the codec made of it. */
bool web_problem_malformed(const struct web_request *request, struct web_response *response,
                           const struct event *event);

/* The same for a request that may be repeated after some seconds. The detail is that of *err,
 * if it has one. */
bool web_problem_later(const struct web_request *request, struct web_response *response,
                       enum problem_kind kind, unsigned after_s, const struct err *err,
                       const char *detail);

/* The Link header (RFC 8288) that leads to the list's next page: same path and selection, from
 * this cursor on; "": there is none. */
void web_next_link(const struct web_request *request, const char *cursor,
                   struct web_response *response);

/* Hand the request text[bytes] about the pair to the lab and answer that it was taken. */
void web_submit(const struct web_request *request, struct web_response *response,
                const char *action, const char *text, size_t bytes);

#endif
