#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "logger/message/event.h"
#include "twin/report/pair_report.h"
#include "web/resources/handlers.h"

void get_parameters(const struct web_request *request, struct web_response *response)
{
    struct web_writer w;
    pair_report_parameters(web_write_start(&w, response), NULL, web_pair(request),
                           web_pair_params(request));
    web_write_end(&w);
    web_tag(response);
}

/* What the body says; model is "" when it says none. */
struct wish {
    int64_t version;
    char model[32];
};

static bool is_word(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

/* The body may be empty, or {"version": n, "model": "usv3"}. False after a problem document. */
static bool read_wish(const struct web_request *request, struct web_response *response,
                      struct wish *wish)
{
    *wish = (struct wish){.version = 0};
    if (request->body_bytes == 0) {
        return true;
    }
    json_error_t error;
    json_int_t wanted = 0;
    const char *model = "";
    json_t *body =
        json_loadb(request->body, request->body_bytes, JSON_REJECT_DUPLICATES, &error);
    const bool good = body && json_unpack_ex(body, &error, JSON_STRICT, "{s?:I, s?:s}",
                                             "version", &wanted, "model", &model) == 0;
    const bool fits = good && wanted >= 0 && wanted <= UINT32_MAX &&
                      strlen(model) < sizeof wish->model && is_word(model);
    if (fits) {
        wish->version = (int64_t)wanted;
        (void)snprintf(wish->model, sizeof wish->model, "%s", model);
    } else {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                    good ? "a \"version\" of 0 or more, and a \"model\" that there is"
                         : "an empty body or {\"version\": number, \"model\": name} was "
                           "expected");
    }
    json_decref(body);
    return fits;
}

static void answer(const struct web_request *request, struct web_response *response,
                   enum request_action action)
{
    struct web_writer w;
    struct json_writer *json = web_write_start(&w, response);
    json_write_object(json, NULL);
    json_write_text(json, "pair", request->id);
    json_write_text(json, "action", request_action_name(action));
    json_write_close(json);
    web_write_end(&w);
    response->status = 202;
}

static void submit(const struct web_request *request, struct web_response *response,
                   enum request_action action)
{
    const struct web_source *source = request->context->source;
    char text[256];
    struct json_writer w;
    struct err err = {0};
    struct wish wish;
    if (!read_wish(request, response, &wish)) {
        return;
    }
    json_write_start(&w, text, sizeof text, NULL, NULL);
    json_write_object(&w, NULL);
    json_write_text(&w, "pair", request->id);
    json_write_text(&w, "action", request_action_name(action));
    json_write_int(&w, "version", wish.version);
    if (wish.model[0]) {
        json_write_text(&w, "model", wish.model);
    }
    json_write_text(&w, "by", "http");
    json_write_close(&w);
    (void)json_write_end(&w);
    if (source->request(source->context, text, w.used, &err) == STATUS_OK) {
        answer(request, response, action);
        return;
    }
    web_problem(request, response, PROBLEM_NOT_READY, NULL, err.text);
    response->retry_after_s = 1;
}

void post_propose(const struct web_request *request, struct web_response *response)
{
    submit(request, response, REQUEST_PROPOSE);
}

void post_promote(const struct web_request *request, struct web_response *response)
{
    submit(request, response, REQUEST_PROMOTE);
}

void post_rollback(const struct web_request *request, struct web_response *response)
{
    submit(request, response, REQUEST_ROLLBACK);
}
