#include "web/server/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "web/http/address.h"
#include "web/server/host.h"

enum { SHOWN_MAX = 60 }; /* of a header, in the log */

static const char *const REASONS[WEB_REFUSAL_COUNT] = {
    [WEB_REFUSED_TOKEN] = "wrong or missing token",
    [WEB_REFUSED_HOST] = "Host is no name of this server",
    [WEB_REFUSED_RATE] = "too many requests",
    [WEB_REFUSED_CONNECTIONS] = "too many connections",
};

void guard_refused(const struct web_input *input, struct web_context *context,
                   enum web_refusal refusal, const char *path)
{
    char text[256];
    char client[INET6_ADDRSTRLEN] = "?";
    const struct web_source *source = context->source;
    atomic_fetch_add(&context->refused[refusal], 1);
    if (!source || !source->refused) {
        return;
    }
    if (input->peer) {
        address_format(input->peer, client);
    }
    const bool host = refusal == WEB_REFUSED_HOST;
    (void)snprintf(text, sizeof text, "%s: %s: %.*s", client, REASONS[refusal], SHOWN_MAX,
                   host ? input->host : path);
    source->refused(source->context, text);
}

/* No browser leaves Host out. */
static bool names_us(const struct web_input *input, const struct web_context *context)
{
    return !input->host || !context->listening ||
           host_is_ours(input->host, context->listening, context->hosts);
}

static bool check_client(const struct web_input *input, struct web_request *request,
                         struct web_response *response)
{
    if (input->client == CLIENT_FINE) {
        return true;
    }
    const bool hasty = input->client == CLIENT_OVER_RATE;
    web_problem(request, response,
                hasty ? PROBLEM_TOO_MANY_REQUESTS : PROBLEM_TOO_MANY_CONNECTIONS, NULL,
                hasty ? "this address asks too often (http.client_requests_per_s)"
                      : "this address has too many connections "
                        "(http.client_connections_max)");
    response->retry_after_s = input->wait_s;
    response->close = true;
    guard_refused(input, request->context, hasty ? WEB_REFUSED_RATE : WEB_REFUSED_CONNECTIONS,
                  request->path);
    return false;
}

static bool check_host(const struct web_input *input, struct web_request *request,
                       struct web_response *response)
{
    if (names_us(input, request->context)) {
        return true;
    }
    web_problem(request, response, PROBLEM_WRONG_HOST, NULL,
                "the Host of the request is no name of this server: http.hosts lists those "
                "beyond localhost and its address");
    guard_refused(input, request->context, WEB_REFUSED_HOST, request->path);
    return false;
}

bool guard_admit(const struct web_input *input, struct web_request *request,
                 struct web_response *response)
{
    return check_client(input, request, response) && check_host(input, request, response);
}
