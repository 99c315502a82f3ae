/* web/server/dispatch.h - from a request to its response, without sockets: routing, token,
 * query, conditional requests, and the errors of all of them. */
#ifndef WEB_SERVER_DISPATCH_H
#define WEB_SERVER_DISPATCH_H

#include "web/server/guard.h"

/* Before the body is read: is there any use in reading it, and room for it? True: *request is
 * filled. False: *response holds the answer. Both come zeroed, but for request->upload. What it
 * claims is given back by dispatch_end(), unless a handler handed it on. */
bool dispatch_head(struct web_context *context, const struct web_input *input,
                   struct web_request *request, struct web_response *response);

/* Is a body of so many bytes not too long for the route? False: *response holds the answer. */
bool dispatch_fits(const struct web_request *request, unsigned long long bytes,
                   struct web_response *response);

/* The body is there, in request->upload. Runs the handler; afterwards *response is to be sent,
 * if_none_match: NULL when absent. */
void dispatch_body(struct web_request *request, const char *if_none_match,
                   struct web_response *response);

/* The request is over, whatever became of it. */
void dispatch_end(struct web_request *request);

/* Does an Accept header prefer CSV to JSON? Pure. */
bool dispatch_accepts_csv(const char *accept);

/* Does an Accept-Encoding header allow gzip? Pure. */
bool dispatch_accepts_gzip(const char *accept_encoding);

/* Does an If-None-Match header name this tag? Pure. */
bool dispatch_tag_matches(const char *if_none_match, const char *etag);

/* Same text? Takes a time that depends on the length of `given` only. Pure. */
bool dispatch_same_secret(const char *given, const char *secret);

#endif
