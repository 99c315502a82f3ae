#include "web/http/handler.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

NAMES(web_refusal_names, WEB_REFUSAL_COUNT, "token", "host", "haste", "crowd");

struct json_writer *web_write_start(struct web_writer *w, struct web_response *response)
{
    json_write_start(&w->json, w->buffer, sizeof w->buffer, body_flush, &response->body);
    return &w->json;
}

void web_write_end(struct web_writer *w)
{
    struct body *body = w->json.context;
    if (!json_write_end(&w->json)) {
        body->failed = true;
    }
    body_append(body, "\n", 1);
}

void web_problem(const struct web_request *request, struct web_response *response,
                 enum problem_kind kind, const char *parameter, const char *detail)
{
    body_clear(&response->body);
    *response =
        (struct web_response){.status = problem_status(kind), .media_type = PROBLEM_MEDIA_TYPE};
    struct web_writer w;
    struct json_writer *json = web_write_start(&w, response);
    problem_open(json, kind, request->path, detail);
    if (parameter) {
        json_write_text(json, "parameter", parameter);
    }
    json_write_close(json);
    web_write_end(&w);
}

void web_problem_err(const struct web_request *request, struct web_response *response,
                     enum problem_kind kind, const struct err *err)
{
    char detail[ERR_WHERE_MAX + ERR_TEXT_MAX + 2];
    (void)snprintf(detail, sizeof detail, "%s: %s", err->where, err->text);
    web_problem(request, response, kind, kind == PROBLEM_BAD_PARAMETER ? err->where : NULL,
                detail);
}

void web_problem_later(const struct web_request *request, struct web_response *response,
                       enum problem_kind kind, unsigned after_s, const char *detail)
{
    web_problem(request, response, kind, NULL, detail);
    response->retry_after_s = after_s;
}

void web_submit(const struct web_request *request, struct web_response *response,
                enum request_action action, const char *text, size_t bytes)
{
    const struct web_source *source = request->context->source;
    struct err err = {0};
    if (source->request(source->context, text, bytes, &err) != STATUS_OK) {
        web_problem_later(request, response, PROBLEM_NOT_READY, 1, err.text);
        return;
    }
    struct web_writer w;
    struct json_writer *json = web_write_start(&w, response);
    json_write_object(json, NULL);
    json_write_text(json, "pair", request->id);
    json_write_text(json, "action", request_action_name(action));
    json_write_close(json);
    web_write_end(&w);
    response->status = 202;
}

const struct pair_params *web_pair_params(const struct web_request *request)
{
    return &request->view->params[request->pair];
}

const struct pair *web_pair(const struct web_request *request)
{
    return request->view->pairs[request->pair];
}

const struct pair_following *web_following(const struct web_request *request)
{
    return view_following(request->view, request->pair);
}

/* As hash_bytes(), by four times eight bytes, so that a factor need not wait for the one
 * before: bodies are long. */
static uint64_t hash_body(const struct body *body)
{
    enum { LANES = 4 };
    uint64_t lane[LANES] = {HASH_START, HASH_START + 1, HASH_START + 2, HASH_START + 3};
    size_t at = 0;
    for (; body->bytes - at >= sizeof lane; at += sizeof lane) {
        for (size_t k = 0; k < LANES; k++) {
            uint64_t word = 0;
            memcpy(&word, body->text + at + k * sizeof word, sizeof word);
            lane[k] = (lane[k] ^ word) * UINT64_C(1099511628211);
            lane[k] ^= lane[k] >> 32; /* a factor carries upwards only */
        }
    }
    return hash_bytes(hash_bytes(HASH_START, lane, sizeof lane), body->text + at,
                      body->bytes - at);
}

void web_tag(struct web_response *response)
{
    const uint64_t hash = hash_body(&response->body);
    (void)snprintf(response->etag, sizeof response->etag, "\"%016" PRIx64 "\"", hash);
}
