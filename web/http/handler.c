#include "web/http/handler.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"

NAMES(web_refusal_names, WEB_REFUSAL_COUNT, "token", "host", "haste", "crowd", "unreadable",
      "guesses");

struct json_writer *web_json(struct web_response *response)
{
    json_write_start(&response->json, response->json_buffer, sizeof response->json_buffer,
                     body_flush, &response->body);
    return &response->json;
}

struct json_writer *web_tagged_json(struct web_response *response)
{
    response->tagged = true;
    return web_json(response);
}

static bool write_problem(const struct web_request *request, struct web_response *response,
                          enum problem_kind kind, enum fault fault, const char *parameter,
                          const char *detail)
{
    body_clear(&response->body);
    *response =
        (struct web_response){.status = problem_status(kind), .media_type = PROBLEM_MEDIA_TYPE};
    struct json_writer *json = web_json(response);
    problem_open(json, kind, fault, request->path, detail);
    JSON_WRITE(json, JSON_IF(parameter, JSON("parameter", parameter)));
    json_write_close(json);
    web_end(response);
    return false;
}

bool web_problem(const struct web_request *request, struct web_response *response,
                 enum problem_kind kind, const char *parameter, const char *detail)
{
    return write_problem(request, response, kind, FAULT_NONE, parameter, detail);
}

bool web_problem_err(const struct web_request *request, struct web_response *response,
                     enum problem_kind kind, const struct err *err)
{
    char detail[ERR_WHERE_MAX + ERR_TEXT_MAX + 2];
    (void)snprintf(detail, sizeof detail, "%s: %s", err->where, err->text);
    return write_problem(request, response, kind, err->fault,
                         kind == PROBLEM_BAD_PARAMETER ? err->where : NULL, detail);
}

bool web_problem_malformed(const struct web_request *request, struct web_response *response,
                           const struct event *event)
{
    const bool malformed = event->kind == EVENT_MALFORMED;
    return write_problem(request, response, PROBLEM_BAD_BODY,
                         malformed ? event->malformed.fault : FAULT_NONE, NULL,
                         malformed ? event->malformed.detail : "the body has another meaning");
}

bool web_problem_later(const struct web_request *request, struct web_response *response,
                       enum problem_kind kind, unsigned after_s, const struct err *err,
                       const char *detail)
{
    write_problem(request, response, kind, err ? err->fault : FAULT_NONE, NULL,
                  err && err->text[0] ? err->text : detail);
    response->retry_after_s = after_s;
    return false;
}

void web_submit(const struct web_request *request, struct web_response *response,
                const char *action, const char *text, size_t bytes)
{
    const struct web_source *source = request->context->source;
    struct err err = {0};
    if (source->request(source->context, text, bytes, &err) != STATUS_OK) {
        web_problem_later(request, response, PROBLEM_NOT_READY, 1, &err, "");
        return;
    }
    JSON_WRITE_OBJECT(web_json(response), NULL, JSON("pair", request->id),
                      JSON("action", action));
    response->status = 202;
}

void web_end(struct web_response *response)
{
    if (response->json.text) {
        response->body.failed |= !json_write_end(&response->json);
        body_append(&response->body, "\n", 1);
        response->json.text = NULL;
    }
    if (response->tagged) {
        (void)snprintf(response->etag, sizeof response->etag, "\"%016" PRIx64 "\"",
                       hash_bytes(HASH_START, response->body.text, response->body.bytes));
    }
}

static bool is_cursor(const char *parameter)
{
    char name[8];
    return percent_decode(parameter, strcspn(parameter, "=&"), name, sizeof name) &&
           strcmp(name, query_parameter_name(QUERY_CURSOR)) == 0;
}

void web_next_link(const struct web_request *request, const char *cursor,
                   struct web_response *response)
{
    char *const link = response->link;
    const size_t size = sizeof response->link;
    if (!cursor[0]) {
        return;
    }
    /* WEB_LINK_MAX has room for all of it. */
    int used = snprintf(link, size, "<%s?cursor=%s", request->path, cursor);
    for (const char *p = request->query_text; *p; p += *p == '&') {
        const int n = (int)strcspn(p, "&");
        if (n > 0 && !is_cursor(p)) {
            used += snprintf(link + used, size - (size_t)used, "&%.*s", n, p);
        }
        p += n;
    }
    (void)snprintf(link + used, size - (size_t)used, ">; rel=\"next\"");
}

void health_parts(const struct view_health *health, struct health_part out[HEALTH_PART_COUNT])
{
    out[0] =
        (struct health_part){"restored", health->restored,
                             health->restored ? "" : "checkpoint and journal are being read"};
    out[1] = (struct health_part){"broker", health->broker, health->broker_text};
    out[2] = (struct health_part){"journal", health->journal, health->journal_text};
    out[3] = (struct health_part){"store", health->store, health->store_text};
}

bool health_is_ready(const struct view_health *health)
{
    return health->restored && health->broker && health->journal && health->store;
}

size_t view_find_pair(const struct view *view, const char *id, size_t bytes)
{
    char text[EVENT_PAIR_MAX] = "";
    size_t i = 0;
    if (view->find) {
        memcpy(text, id, bytes < sizeof text ? bytes : 0); /* "" is no pair's id */
        const long found = view->find(view, text);
        return found >= 0 ? (size_t)found : view->pair_count;
    }
    while (i < view->pair_count &&
           (strncmp(view->params[i].id, id, bytes) != 0 || view->params[i].id[bytes] != '\0')) {
        i++;
    }
    return i;
}

const struct pair *view_read_pair(void *context, uint32_t pair, const struct pair_params **p)
{
    const struct view *const *view = context;
    *p = &(*view)->params[pair];
    return (*view)->pairs[pair];
}

const struct pair_following *view_following(const struct view *view, size_t pair)
{
    return view->following ? view->following[pair] : NULL;
}

#define PROBLEM_ROW(kind, status, slug, title) [kind] = {status, slug, title},
static const struct {
    unsigned status;
    const char *slug, *title;
} KINDS[] = {PROBLEMS(PROBLEM_ROW)};

unsigned problem_status(enum problem_kind kind)
{
    assert((unsigned)kind < PROBLEM_KIND_COUNT);
    return KINDS[kind].status;
}

const char *problem_slug(enum problem_kind kind)
{
    assert((unsigned)kind < PROBLEM_KIND_COUNT);
    return KINDS[kind].slug;
}

void problem_open(struct json_writer *w, enum problem_kind kind, enum fault fault,
                  const char *instance, const char *detail)
{
    char type[64];
    char code[64];
    (void)snprintf(type, sizeof type, "/problems/%s", problem_slug(kind));
    (void)snprintf(code, sizeof code, "%s", fault ? fault_name(fault) : problem_slug(kind));
    for (char *at = strchr(code, '-'); at; at = strchr(at, '-')) {
        *at = '_';
    }
    JSON_OPEN(w, NULL, JSON("type", type), JSON("title", KINDS[kind].title),
              JSON_WHOLE("status", problem_status(kind)), JSON("code", code),
              JSON("detail", detail), JSON_OPTIONAL("instance", instance));
}
