/* web/server/dispatch.h - from a request to its response, without sockets: who may ask,
 * routing, token, query, conditional requests, and the errors of all of them. */
#ifndef WEB_SERVER_DISPATCH_H
#define WEB_SERVER_DISPATCH_H

#include "web/http/handler.h"
#include "web/server/clients.h"

/* A request as it came. */
struct web_input {
    const char *method;
    const char *url;           /* path and query, undecoded */
    const char *authorization; /* these headers; NULL: absent */
    const char *accept;
    const char *accept_encoding;
    const char *content_type;
    const char *last_event_id;
    const char *host;
    const char *fault;           /* of the head (web/server/head.h); NULL: none */
    const struct sockaddr *peer; /* NULL: not known */
    bool local;                  /* the peer is on loopback */
    enum client_state client;
    unsigned wait_s;               /* of a client that asks too much */
    unsigned token_wait_s;         /* until its address may try a token again; 0: now */
    bool token_trusted;            /* the right one is accepted meanwhile */
    unsigned long long body_bytes; /* that the client announces; 0 when it does not say */
};

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

/* Count a refused request and report it to the source: the client's address, and what it asked
 * for, of which the beginning is shown. peer: NULL when it is not known. */
void dispatch_report_refused(struct web_context *context, const struct sockaddr *peer,
                             enum web_refusal refusal, const char *what);

/* Does an Accept header prefer CSV to JSON? Pure. */
bool dispatch_accepts_csv(const char *accept);

/* Does an Accept-Encoding header allow gzip? Pure. */
bool dispatch_accepts_gzip(const char *accept_encoding);

/* Does an If-None-Match header name this tag? Pure. */
bool dispatch_tag_matches(const char *if_none_match, const char *etag);

/* Same text? Takes a time that depends on the length of `given` only. Pure. */
bool dispatch_same_secret(const char *given, const char *secret);

/* Host names. A page of another site can have its own name point at this machine (DNS
 * rebinding) and then ask as if it came from here: its requests carry that name in Host.
 *
 * Are names a list as host_is_ours() takes it? "" is one. */
bool host_names_are_valid(const char *names);

/* host: the header, "name", "name:port", "192.0.2.7:8420", "[::1]:8420". Ours are localhost,
 * loopback addresses, the address that is listened on (any address when that is 0.0.0.0 or ::,
 * for an address cannot be made to point elsewhere), and names: "a.example, b", without regard
 * to case. */
bool host_is_ours(const char *host, const struct sockaddr *listening, const char *names);

#endif
