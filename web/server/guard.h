/* web/server/guard.h - who may ask at all, before it matters what; and telling of those
 * refused. A page of another site can have its own name point at this machine (DNS rebinding)
 * and then ask as if it came from here: its requests carry that name in Host. */
#ifndef WEB_SERVER_GUARD_H
#define WEB_SERVER_GUARD_H

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
    const struct sockaddr *peer; /* NULL: not known */
    bool local;                  /* the peer is on loopback */
    enum client_state client;
    unsigned wait_s;               /* of a client that asks too much */
    unsigned long long body_bytes; /* that the client announces; 0 when it does not say */
};

/* False: *response holds the answer. */
bool guard_admit(const struct web_input *input, struct web_request *request,
                 struct web_response *response);

/* Count a refusal and tell the source. */
void guard_refused(const struct web_input *input, struct web_context *context,
                   enum web_refusal refusal, const char *path);

/* Are names a list as host_is_ours() takes it? "" is one. */
bool host_names_are_valid(const char *names);

/* host: the header, "name", "name:port", "192.0.2.7:8420", "[::1]:8420". Ours are localhost,
 * loopback addresses, the address that is listened on (any address when that is 0.0.0.0 or ::,
 * for an address cannot be made to point elsewhere), and names: "a.example, b", without regard
 * to case. */
bool host_is_ours(const char *host, const struct sockaddr *listening, const char *names);

#endif
