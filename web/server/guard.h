/* web/server/guard.h - who may ask at all, before it matters what; and telling of those
 * refused. */
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
    unsigned wait_s; /* of a client that asks too much */
};

/* False: *response holds the answer. */
bool guard_admit(const struct web_input *input, struct web_request *request,
                 struct web_response *response);

/* Count a refusal and tell the source. */
void guard_refused(const struct web_input *input, struct web_context *context,
                   enum web_refusal refusal, const char *path);

#endif
