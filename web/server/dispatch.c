#include "web/server/dispatch.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "web/http/address.h"
#include "web/http/monotonic_clock.h"
#include "web/http/routes.h"
#include "web/resource/handlers.h"
#include "web/resource/jobs.h"

bool dispatch_same_secret(const char *given, const char *secret)
{
    const size_t n = strlen(given);
    const size_t m = strlen(secret);
    unsigned char differs = (unsigned char)(n != m || m == 0);
    for (size_t i = 0; i < n; i++) {
        const char other = m > 0 ? secret[i % m] : '\0';
        differs |= (unsigned char)((unsigned char)given[i] ^ (unsigned char)other);
    }
    return differs == 0;
}

/* Returns the weight of a media range: "text/csv;q=0.5" -> 0.5; 1 without one. */
static double weight_of(const char *range, size_t n)
{
    const char *p = range;
    while ((p = memchr(p, ';', n - (size_t)(p - range))) != NULL) {
        p += 1 + strspn(p + 1, " ");
        if (strncasecmp(p, "q=", 2) == 0) {
            return strtod(p + 2, NULL);
        }
    }
    return 1.0;
}

/* Returns the weight of this name in a header; 0 when it is not listed. */
static double weight_in(const char *header, const char *name)
{
    const size_t wanted = strlen(name);
    for (const char *p = header + strspn(header, " \t,"); *p; p += strspn(p, " \t,")) {
        const size_t n = strcspn(p, ",");
        if (strcspn(p, ",; \t") == wanted && strncasecmp(p, name, wanted) == 0) {
            return weight_of(p, n);
        }
        p += n;
    }
    return 0.0;
}

bool dispatch_accepts_csv(const char *accept)
{
    return weight_in(accept, "text/csv") > weight_in(accept, "application/json");
}

bool dispatch_accepts_gzip(const char *accept_encoding)
{
    return weight_in(accept_encoding, "gzip") > 0.0;
}

bool dispatch_tag_matches(const char *if_none_match, const char *etag)
{
    const char *p = if_none_match;
    const size_t n = strlen(etag);
    while (*p) {
        p += strspn(p, " \t,");
        if (*p == '*') {
            return true;
        }
        if (strncmp(p, "W/", 2) == 0) {
            p += 2;
        }
        if (strncmp(p, etag, n) == 0 && strchr(" \t,", p[n])) {
            return true;
        }
        p += strcspn(p, ",");
    }
    return false;
}

/* ---- access checks that do not depend on the target ---------------------------------- */

enum {
    SHOWN_MAX = 60, /* characters of a header in the log */
    HOST_MAX = 254
};

static const char *const REASONS[WEB_REFUSAL_COUNT] = {
    [WEB_REFUSED_TOKEN] = "wrong or missing token",
    [WEB_REFUSED_HOST] = "Host is no name of this server",
    [WEB_REFUSED_RATE] = "too many requests",
    [WEB_REFUSED_CONNECTIONS] = "too many connections",
    [WEB_REFUSED_UNREADABLE] = "no whole request",
    [WEB_REFUSED_GUESSES] = "too many wrong tokens",
};

void dispatch_report_refused(struct web_context *context, const struct sockaddr *peer,
                             enum web_refusal refusal, const char *what)
{
    char text[256];
    char client[INET6_ADDRSTRLEN] = "?";
    const struct web_source *source = context->source;
    atomic_fetch_add(&context->refused[refusal], 1);
    if (!source || !source->refused) {
        return;
    }
    if (peer) {
        address_format(peer, client);
    }
    (void)snprintf(text, sizeof text, "%s: %s%s%.*s", client, REASONS[refusal],
                   what[0] ? ": " : "", SHOWN_MAX, what);
    source->refused(source->context, text);
}

static const char SEPARATORS[] = ", ";

bool host_names_are_valid(const char *names)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789.-, ";
    return strspn(names, allowed) == strlen(names);
}

/* Extracts the host without port and brackets; false when it is invalid. */
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

static bool check_head(const struct web_input *input, struct web_request *request,
                       struct web_response *response)
{
    return !input->fault ||
           web_problem(request, response, PROBLEM_BAD_HEAD, NULL, input->fault);
}

/* Checks the client's limits. */
static bool check_limits(const struct web_input *input, struct web_request *request,
                         struct web_response *response)
{
    static const struct {
        enum problem_kind problem;
        enum web_refusal refusal;
        const char *detail;
    } rows[] = {
        [CLIENT_OVER_CONNECTIONS] = {PROBLEM_TOO_MANY_CONNECTIONS, WEB_REFUSED_CONNECTIONS,
                                     "this address has too many connections "
                                     "(http.client_connections_max)"},
        [CLIENT_OVER_PLACES] = {PROBLEM_TOO_MANY_CONNECTIONS, WEB_REFUSED_CONNECTIONS,
                                "all connections that there may be are in use "
                                "(http.connections_max)"},
        [CLIENT_OVER_RATE] = {PROBLEM_TOO_MANY_REQUESTS, WEB_REFUSED_RATE,
                              "this address asks too often (http.client_requests_per_s)"},
    };
    const bool health = request->route && request->route->needs_token == ROUTE_HEALTH;
    if (input->client == CLIENT_FINE || health) {
        return true;
    }
    web_problem_later(request, response, rows[input->client].problem, input->wait_s, NULL,
                      rows[input->client].detail);
    dispatch_report_refused(request->context, input->peer, rows[input->client].refusal,
                            request->path);
    return false;
}

static bool check_client(const struct web_input *input, struct web_request *request,
                         struct web_response *response)
{
    struct web_context *context = request->context;
    if (!check_limits(input, request, response)) {
        return false;
    }
    /* Every browser sends Host. */
    if (input->host && context->listening &&
        !host_is_ours(input->host, context->listening, context->hosts)) {
        dispatch_report_refused(context, input->peer, WEB_REFUSED_HOST, input->host);
        return web_problem(request, response, PROBLEM_WRONG_HOST, NULL,
                           "the Host of the request is no name of this server: http.hosts "
                           "lists those beyond localhost and its address");
    }
    return true;
}

/* ---- head ---- */

static bool is_printable(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p <= ' ' || *p > '~') {
            return false;
        }
    }
    return true;
}

/* Splits path and query; only safe characters enter the request. */
static bool split_url(const char *url, struct web_request *request,
                      struct web_response *response)
{
    const size_t path_n = strcspn(url, "?");
    if (path_n >= sizeof request->path || strlen(url + path_n) > QUERY_TEXT_MAX) {
        return web_problem(request, response, PROBLEM_URL_TOO_LONG, NULL,
                           "at most 511 bytes of path and 2047 of query");
    }
    if (url[0] != '/' || !is_printable(url)) {
        return web_problem(request, response, PROBLEM_BAD_URL, NULL,
                           "a path that begins with '/' and printable ASCII would be right");
    }
    memcpy(request->path, url, path_n);
    request->path[path_n] = '\0';
    request->query_text = url[path_n] == '?' ? url + path_n + 1 : "";
    return true;
}

static bool find_route(const struct web_input *input, struct web_request *request,
                       struct web_response *response)
{
    char allow[sizeof response->allow] = "";
    switch (route_match(web_routes, web_route_count, input->method, request->path,
                        &request->route, request->id, allow)) {
    case ROUTE_FOUND:
        request->job = strtoull(request->id, NULL, 10);
        return true;
    case ROUTE_WRONG_METHOD:
        web_problem(request, response, PROBLEM_WRONG_METHOD, NULL,
                    "this resource has other methods: see Allow");
        memcpy(response->allow, allow, sizeof allow);
        return false;
    case ROUTE_BAD:
        return web_problem(
            request, response, PROBLEM_BAD_URL, NULL,
            "a '%' that is not followed by two hexadecimal digits of a printable "
            "character");
    case ROUTE_NONE:
        break;
    }
    return web_problem(
        request, response, PROBLEM_NOT_FOUND, NULL,
        "there is nothing at this path; /api/v1/openapi.json lists what there is");
}

static size_t length_without(const char *authority, const char *port)
{
    const size_t n = strlen(authority);
    const size_t more = strlen(port);
    return n > more && strcmp(authority + n - more, port) == 0 ? n - more : n;
}

/* Are scheme, host and port those that the request was sent to? */
static bool is_own_origin(const struct web_input *input)
{
    const char *scheme = input->tls ? "https://" : "http://";
    const char *port = input->tls ? ":443" : ":80"; /* may be written or not */
    if (!input->host || !input->origin || strncmp(input->origin, scheme, strlen(scheme)) != 0) {
        return false;
    }
    const char *own = input->origin + strlen(scheme);
    const size_t n = length_without(own, port);
    return n == length_without(input->host, port) && strncasecmp(own, input->host, n) == 0;
}

/* Does the daemon's own page upload something to look at? A page of another site cannot send
 * this header without a preflight, which it does not get, and its Origin is another one. */
static bool may_look(const struct web_input *input, const struct web_request *request)
{
    return request->route->body_max == ROUTE_UPLOAD && input->local && !input->authorization &&
           input->page && strcmp(input->page, "look") == 0 && is_own_origin(input);
}

static bool check_token(const struct web_input *input, struct web_request *request,
                        struct web_response *response)
{
    const struct web_context *context = request->context;
    const enum route_token need = request->route->needs_token;
    const char *given = input->authorization;
    request->looks = may_look(input, request);
    if (need <= ROUTE_OPEN || (need == ROUTE_READING && input->local) || request->looks) {
        return true;
    }
    if (!context->token) {
        return web_problem(request, response, PROBLEM_WRITING_OFF, NULL,
                           "the daemon runs without a token: set http.token_file to switch "
                           "writing on");
    }
    const bool missing = !given || strncasecmp(given, "Bearer ", 7) != 0;
    const bool held = !missing && input->token_wait_s > 0;
    if (!missing && (!held || input->token_trusted) &&
        dispatch_same_secret(given + 7 + strspn(given + 7, " "), context->token)) {
        request->token_right = true;
        return true;
    }
    if (held) {
        web_problem_later(request, response, PROBLEM_TOO_MANY_TOKENS, input->token_wait_s, NULL,
                          "too many wrong tokens came from this address");
        dispatch_report_refused(request->context, input->peer, WEB_REFUSED_GUESSES,
                                request->path);
        return false;
    }
    request->token_wrong = !missing;
    web_problem(request, response, PROBLEM_UNAUTHORIZED, NULL,
                missing ? "a header 'Authorization: Bearer TOKEN' is needed" : "wrong token");
    response->authenticate = missing ? "Bearer realm=\"tandem\""
                                     : "Bearer realm=\"tandem\", error=\"invalid_token\"";
    dispatch_report_refused(request->context, input->peer, WEB_REFUSED_TOKEN, request->path);
    return false;
}

static bool read_query(const char *accept, struct web_request *request,
                       struct web_response *response)
{
    const unsigned allowed = request->route->parameters;
    struct err err = {0};
    const int64_t now_us = 1000 * clock_read_ms(CLOCK_REALTIME);
    if (query_parse(request->query_text, allowed, now_us, &request->query, &err) != STATUS_OK) {
        return web_problem_err(request, response, PROBLEM_BAD_PARAMETER, &err);
    }
    if (request->query.given & QUERY_BIT(QUERY_FORMAT)) {
        request->csv = request->query.format == QUERY_FORMAT_CSV;
    } else if (allowed & QUERY_BIT(QUERY_FORMAT) && accept) {
        request->csv = dispatch_accepts_csv(accept);
    }
    return true;
}

static void count_answer(struct web_context *context, const struct web_response *response)
{
    const unsigned class = (response->unchanged ? 304 : response->status) / 100;
    if (class < WEB_STATUS_CLASS_COUNT) {
        atomic_fetch_add(&context->answered[class], 1);
    }
}

static size_t body_max(const struct web_request *request)
{
    const size_t upload_max = request->context->upload_bytes_max;
    return request->route->body_max != ROUTE_UPLOAD ? request->route->body_max
           : request->looks && upload_max > (size_t)WEB_LOOK_BYTES_MAX ? WEB_LOOK_BYTES_MAX
                                                                       : upload_max;
}

bool dispatch_fits(const struct web_request *request, unsigned long long bytes,
                   struct web_response *response)
{
    char detail[64];
    if (bytes <= body_max(request)) {
        return true;
    }
    (void)snprintf(detail, sizeof detail, "at most %zu bytes of body are accepted here",
                   body_max(request));
    web_problem(request, response, PROBLEM_BODY_TOO_LARGE, NULL, detail);
    count_answer(request->context, response);
    return false;
}

bool dispatch_head(struct web_context *context, const struct web_input *input,
                   struct web_request *request, struct web_response *response)
{
    request->context = context;
    request->gzip = input->accept_encoding && dispatch_accepts_gzip(input->accept_encoding);
    request->last_event_id = input->last_event_id;
    /* The route is found first, because some are open to everybody. Only clients with access
     * learn whether a route exists. */
    const bool readable =
        split_url(input->url, request, response) && check_head(input, request, response);
    const bool known = readable && find_route(input, request, response);
    if (!readable || !check_client(input, request, response) || !known ||
        !check_token(input, request, response) ||
        !read_query(input->accept, request, response)) {
        count_answer(context, response);
        return false;
    }
    if (!dispatch_fits(request, input->body_bytes, response)) {
        return false;
    }
    if (request->route->body_max != ROUTE_UPLOAD ||
        upload_admit(request, input->content_type, response)) {
        return true;
    }
    count_answer(context, response);
    return false;
}

/* ---- body ---- */

/* Is it answered from the store alone, which has the pairs of all daemons of a database? */
static bool is_stored(const struct web_route *route)
{
    return route->handle == get_records || route->handle == get_series;
}

/* Answers for a pair that the lab does not have: sends the reader of something live to the
 * daemon that has it. True: the handler answers from the store. */
static bool look_elsewhere(struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    const char *query = request->query_text ? request->query_text : "";
    struct web_owner owner = {.lab = ""};
    if (!source->find_owner || !source->find_owner(source->context, request->id, &owner)) {
        return web_problem(request, response, PROBLEM_NO_SUCH_PAIR, NULL,
                           "the lab has no pair of this id; /api/v1/pairs lists them, and "
                           "/api/v1/shared-pairs those of other daemons");
    }
    if (is_stored(request->route)) {
        return true;
    }
    const int bytes = snprintf(response->location, sizeof response->location, "%s%s%s%s",
                               owner.address, request->path, query[0] ? "?" : "", query);
    if (owner.unreachable || bytes < 0 || (size_t)bytes >= sizeof response->location) {
        char detail[192];
        response->location[0] = '\0';
        (void)snprintf(detail, sizeof detail, "the pair is of the lab %s: ask its daemon%s%s",
                       owner.lab, owner.unreachable ? ", " : "",
                       owner.unreachable ? owner.unreachable : "");
        return web_problem(request, response,
                           owner.running ? PROBLEM_NO_SUCH_PAIR : PROBLEM_NOT_READY, NULL,
                           detail);
    }
    response->status = 307;
    return false;
}

/* Finds the pair or team that the route names. */
static bool find_subject(struct web_request *request, struct web_response *response)
{
    const struct view *view = request->view;
    if (route_names(request->route, "{id}")) {
        request->pair = view_find_pair(view, request->id, strlen(request->id));
    }
    if (request->pair == view->pair_count) {
        return look_elsewhere(request, response);
    }
    request->params = &view->params[request->pair];
    request->shown = view->pairs[request->pair];
    request->following = view_following(view, request->pair);
    if (!route_names(request->route, "{team}")) {
        return true;
    }
    while (request->team < view->team_count &&
           strcmp(view->teams[request->team].name, request->id) != 0) {
        request->team++;
    }
    if (request->team == view->team_count) {
        return web_problem(request, response, PROBLEM_NO_SUCH_TEAM, NULL,
                           "the lab has no team of this id; /api/v1/teams lists them");
    }
    request->team_params = &view->teams[request->team];
    request->team_live = view->live_teams[request->team];
    return true;
}

static void run_handler(struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    if (source->catch_up && request->route->needs_token == ROUTE_READING) {
        const bool stored = request->route->parameters & QUERY_BIT(QUERY_SINCE);
        source->catch_up(source->context, stored);
    }
    request->view = source->acquire(source->snapshots);
    if (find_subject(request, response)) {
        request->route->handle(request, response);
        response->varies = (request->route->parameters & QUERY_BIT(QUERY_FORMAT)) != 0;
    }
    source->release(source->snapshots, request->view);
    request->view = NULL;
}

void dispatch_end(struct web_request *request)
{
    if (request->upload && request->upload->look) {
        atomic_store(&request->context->look_arrives, false);
        request->upload->look = false;
    }
    if (request->upload && request->upload->claimed) {
        const struct web_source *source = request->context->source;
        source->release_upload(source->jobs);
        request->upload->claimed = false;
    }
}

void dispatch_body(struct web_request *request, const char *if_none_match,
                   struct web_response *response)
{
    request->body = request->upload->body.text;
    request->body_bytes = request->upload->body.bytes;
    run_handler(request, response);
    web_end(response);
    if (response->body.failed) {
        web_problem(request, response, PROBLEM_INTERNAL, NULL,
                    "no memory for this answer; a smaller limit may do");
    }
    response->status = response->status ? response->status : 200;
    response->unchanged = response->status == 200 && if_none_match && response->etag[0] &&
                          dispatch_tag_matches(if_none_match, response->etag);
    count_answer(request->context, response);
}
