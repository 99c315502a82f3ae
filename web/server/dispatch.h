/* web/server/dispatch.h - turns a request into its response, without sockets: access, routing,
 * token, query, conditional requests, and all of their errors. */
#ifndef WEB_SERVER_DISPATCH_H
#define WEB_SERVER_DISPATCH_H

#include "web/http/handler.h"
#include "web/server/clients.h"

/* A request as received. */
struct web_input {
    const char *method;
    const char *url;           /* path and query, undecoded */
    const char *authorization; /* these headers; NULL: absent */
    const char *accept;
    const char *accept_encoding;
    const char *content_type;
    const char *last_event_id;
    const char *host;
    const char *origin;
    const char *page;            /* Tandem-Page: the daemon's own page asks */
    const char *fault;           /* fault of the head (web/server/head.h); NULL: none */
    const struct sockaddr *peer; /* NULL: unknown */
    bool local;                  /* the peer is on loopback */
    bool tls;                    /* it came over HTTPS */
    enum client_state client;
    unsigned wait_s;               /* wait for a client that exceeds its limits */
    unsigned token_wait_s;         /* until its address may try a token again; 0: now */
    bool token_trusted;            /* the right token is accepted meanwhile */
    unsigned long long body_bytes; /* announced by the client; 0 when unknown */
};

/* Decide before the body is read whether it is needed and there is room. True: *request is
 * filled. False: *response holds the answer. Both must be zeroed, except request->upload.
 * dispatch_end() releases what it claims, unless a handler passed it on. */
bool dispatch_head(struct web_context *context, const struct web_input *input,
                   struct web_request *request, struct web_response *response);

/* Does a body of this length fit the route's limit? False: *response holds the answer. */
bool dispatch_fits(const struct web_request *request, unsigned long long bytes,
                   struct web_response *response);

/* The body is complete, in request->upload. Runs the handler; afterwards *response can be sent.
 * if_none_match: NULL when absent. */
void dispatch_body(struct web_request *request, const char *if_none_match,
                   struct web_response *response);

/* End the request, whatever its result. */
void dispatch_end(struct web_request *request);

/* Count a refused request and report it to the source: the client's address, and the beginning
 * of its target. peer: NULL when unknown. */
void dispatch_report_refused(struct web_context *context, const struct sockaddr *peer,
                             enum web_refusal refusal, const char *what);

/* Does an Accept header prefer CSV to JSON? Pure. */
bool dispatch_accepts_csv(const char *accept);

/* Does an Accept-Encoding header allow gzip? Pure. */
bool dispatch_accepts_gzip(const char *accept_encoding);

/* Does an If-None-Match header name this tag? Pure. */
bool dispatch_tag_matches(const char *if_none_match, const char *etag);

/* Compare two texts. The time depends on the length of `given` only. Pure. */
bool dispatch_same_secret(const char *given, const char *secret);

/* Host names. A page of another site can point its own name at this machine (DNS rebinding) and
 * then send requests as if from here; they carry that name in Host.
 *
 * Are names a valid list for host_is_ours()? "" is one.
 */
bool host_names_are_valid(const char *names);

/* host: the header, "name", "name:port", "192.0.2.7:8420", "[::1]:8420". Ours are localhost,
 * loopback addresses, the address that is listened on, and names: "a.example, b", ignoring
 * case. With 0.0.0.0 or :: every address is ours, because an address cannot be made to point
 * elsewhere. */
bool host_is_ours(const char *host, const struct sockaddr *listening, const char *names);

#endif
