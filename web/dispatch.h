/* web/dispatch.h - from a request to its response, without sockets: routing, token, query,
 * conditional requests, and the errors of all of them. */
#ifndef WEB_DISPATCH_H
#define WEB_DISPATCH_H

#include "web/handler.h"

/* A request as it came. */
struct web_input {
    const char *method;
    const char *url;           /* path and query, undecoded */
    const char *authorization; /* these headers; NULL: absent */
    const char *accept;
    bool local; /* the peer is on loopback */
};

/* Before the body is read: is there any use in reading it? True: *request is filled, go on with
 * dispatch_body(). False: *response holds the answer. Both come zeroed. */
bool dispatch_head(struct web_context *context, const struct web_input *input,
                   struct web_request *request, struct web_response *response);

/* The body is there: body[bytes], NULL with 0. Runs the handler; afterwards *response is to be
 * sent. if_none_match: NULL when absent. */
void dispatch_body(struct web_request *request, const char *body, size_t bytes,
                   const char *if_none_match, struct web_response *response);

/* The body is longer than the route allows. */
void dispatch_too_large(const struct web_request *request, struct web_response *response);

/* Does an Accept header prefer CSV to JSON? Pure. */
bool dispatch_accepts_csv(const char *accept);

/* Does an If-None-Match header name this tag? Pure. */
bool dispatch_tag_matches(const char *if_none_match, const char *etag);

/* Same text? Takes a time that depends on the length of `given` only. Pure. */
bool dispatch_same_secret(const char *given, const char *secret);

#endif
