#include "web/server/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "web/http/address.h"

enum {
    SHOWN_MAX = 60, /* of a header, in the log */
    HOST_MAX = 254
};

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

static const char SEPARATORS[] = ", ";

bool host_names_are_valid(const char *names)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789.-, ";
    return strspn(names, allowed) == strlen(names);
}

/* Host without port and brackets; false when it is none. */
static bool read_name(const char *host, char name[HOST_MAX])
{
    const bool bracketed = host[0] == '[';
    const char *begin = host + (bracketed ? 1 : 0);
    const size_t n = strcspn(begin, bracketed ? "]" : ":");
    const char *rest = begin + n;
    if (bracketed && *rest++ != ']') {
        return false;
    }
    if (n == 0 || n >= HOST_MAX ||
        (*rest != '\0' &&
         (*rest != ':' || strspn(rest + 1, "0123456789") != strlen(rest + 1)))) {
        return false;
    }
    memcpy(name, begin, n);
    name[n] = '\0';
    return true;
}

static bool is_listed(const char *name, const char *names)
{
    const size_t n = strlen(name);
    for (const char *p = names; *p;) {
        p += strspn(p, SEPARATORS);
        const size_t length = strcspn(p, SEPARATORS);
        if (length == n && strncasecmp(p, name, n) == 0) {
            return true;
        }
        p += length;
    }
    return false;
}

bool host_is_ours(const char *host, const struct sockaddr *listening, const char *names)
{
    char name[HOST_MAX];
    struct sockaddr_storage address;
    socklen_t bytes = 0;
    if (!read_name(host, name)) {
        return false;
    }
    if (address_parse(name, 0, &address, &bytes)) {
        const struct sockaddr *given = (const struct sockaddr *)&address;
        return address_is_loopback(given) || address_is_any(listening) ||
               address_is_same(given, listening);
    }
    return strcasecmp(name, "localhost") == 0 || is_listed(name, names);
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
    const struct web_context *context = request->context;
    /* No browser leaves Host out. */
    if (!input->host || !context->listening ||
        host_is_ours(input->host, context->listening, context->hosts)) {
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
