/* web/server/dispatch.h - from a request to its response, without sockets: routing, token,
 * query, conditional requests, and the errors of all of them. */
#ifndef WEB_SERVER_DISPATCH_H
#define WEB_SERVER_DISPATCH_H

#include "web/server/guard.h"

/* Before the body is read: is there any use in reading it? True: *request is filled, go on with
 * dispatch_admit(). False: *response holds the answer. Both come zeroed, but for
 * request->upload. */
bool dispatch_head(struct web_context *context, const struct web_input *input,
                   struct web_request *request, struct web_response *response);

/* How long the body of this request may be. */
size_t dispatch_body_max(const struct web_request *request);

/* Is there room for the body? After dispatch_head(), for a body that is not known to be too
 * long. False: *response holds the answer. What it claims is given back by
 * dispatch_end(), unless a handler handed it on. */
bool dispatch_admit(const struct web_input *input, struct web_request *request,
                    struct web_response *response);

/* The body is there, in request->upload. Runs the handler; afterwards *response is to be sent,
 * if_none_match: NULL when absent. */
void dispatch_body(struct web_request *request, const char *if_none_match,
                   struct web_response *response);

/* The request is over, whatever became of it: after dispatch_admit(), if it came so far. */
void dispatch_end(struct web_request *request);

/* The body is longer than the route allows. */
void dispatch_too_large(const struct web_request *request, struct web_response *response);

/* Does an Accept header prefer CSV to JSON? Pure. */
bool dispatch_accepts_csv(const char *accept);

/* Does an Accept-Encoding header allow gzip? Pure. */
bool dispatch_accepts_gzip(const char *accept_encoding);

/* Does an If-None-Match header name this tag? Pure. */
bool dispatch_tag_matches(const char *if_none_match, const char *etag);

/* Same text? Takes a time that depends on the length of `given` only. Pure. */
bool dispatch_same_secret(const char *given, const char *secret);

#endif
