#include "web/server/dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "web/http/routes.h"
#include "web/resources/jobs.h"

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

/* Weight of a media range, "text/csv;q=0.5" -> 0.5; 1 when it says none. */
static double weight_of(const char *range, size_t n)
{
    const char *semicolon = memchr(range, ';', n);
    while (semicolon) {
        const char *p = semicolon + 1;
        const size_t left = n - (size_t)(p - range);
        while (*p == ' ') {
            p++;
        }
        if ((p[0] == 'q' || p[0] == 'Q') && p[1] == '=') {
            return strtod(p + 2, NULL);
        }
        semicolon = memchr(semicolon + 1, ';', left);
    }
    return 1.0;
}

/* What a header gives this name; 0 when it does not list it. */
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

/* Path and query apart; only what may be echoed gets into the request. */
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
        request->job = route_names_pair(request->route) ? 0 : strtoull(request->id, NULL, 10);
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

static bool check_token(const struct web_input *input, struct web_request *request,
                        struct web_response *response)
{
    const struct web_context *context = request->context;
    const enum route_token need = request->route->needs_token;
    const char *given = input->authorization;
    if (need == ROUTE_OPEN || (need == ROUTE_READING && input->local)) {
        return true;
    }
    if (!context->token) {
        return web_problem(request, response, PROBLEM_WRITING_OFF, NULL,
                           "the daemon runs without a token: set http.token_file to switch "
                           "writing on");
    }
    const bool missing = !given || strncasecmp(given, "Bearer ", 7) != 0;
    if (!missing && dispatch_same_secret(given + 7 + strspn(given + 7, " "), context->token)) {
        return true;
    }
    web_problem(request, response, PROBLEM_UNAUTHORIZED, NULL,
                missing ? "a header 'Authorization: Bearer TOKEN' is needed" : "wrong token");
    response->authenticate = missing ? "Bearer realm=\"tandem\""
                                     : "Bearer realm=\"tandem\", error=\"invalid_token\"";
    guard_refused(input, request->context, WEB_REFUSED_TOKEN, request->path);
    return false;
}

static bool read_query(const char *accept, struct web_request *request,
                       struct web_response *response)
{
    const unsigned allowed = request->route->parameters;
    struct err err = {0};
    if (query_parse(request->query_text, allowed, &request->query, &err) != STATUS_OK) {
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
    return request->route->body_max == ROUTE_UPLOAD ? request->context->upload_bytes_max
                                                    : request->route->body_max;
}

bool dispatch_fits(const struct web_request *request, unsigned long long bytes,
                   struct web_response *response)
{
    char detail[64];
    if (bytes <= body_max(request)) {
        return true;
    }
    (void)snprintf(detail, sizeof detail, "at most %zu bytes of body are taken here",
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
    if (!split_url(input->url, request, response) || !guard_admit(input, request, response) ||
        !find_route(input, request, response) || !check_token(input, request, response) ||
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

static void run_handler(struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    request->view = source->acquire(source->views);
    if (route_names_pair(request->route)) {
        request->pair = view_find_pair(request->view, request->id, strlen(request->id));
    }
    if (request->pair == request->view->pair_count) {
        web_problem(request, response, PROBLEM_NO_SUCH_PAIR, NULL,
                    "the lab has no pair of this id; /api/v1/pairs lists them");
    } else {
        request->route->handle(request, response);
        response->varies = (request->route->parameters & QUERY_BIT(QUERY_FORMAT)) != 0;
    }
    source->release(source->views, request->view);
    request->view = NULL;
}

void dispatch_end(struct web_request *request)
{
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
