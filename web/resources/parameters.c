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

static void submit_wish(const struct web_request *request, struct web_response *response,
                        enum request_action action)
{
    char text[256];
    struct json_writer w;
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
    web_submit(request, response, action, text, w.used);
}

void post_propose(const struct web_request *request, struct web_response *response)
{
    submit_wish(request, response, REQUEST_PROPOSE);
}

void post_promote(const struct web_request *request, struct web_response *response)
{
    submit_wish(request, response, REQUEST_PROMOTE);
}

void post_rollback(const struct web_request *request, struct web_response *response)
{
    submit_wish(request, response, REQUEST_ROLLBACK);
}
