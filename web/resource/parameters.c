/* web/resource/parameters.c - a pair's parameter sets, and requests to propose, promote or
 * roll back one. */
#include <string.h>

#include <jansson.h>

#include "twin/report/pair_report.h"
#include "web/http/routes.h"
#include "web/resource/handlers.h"

void get_parameters(const struct web_request *request, struct web_response *response)
{
    pair_report_parameters(web_tagged_json(response), NULL, request->shown, request->params);
}

static bool is_word(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

/* The action is the path's last word. The body may be empty, or {"version": n, "model":
 * "usv3"}.
 */
void post_parameters(const struct web_request *request, struct web_response *response)
{
    enum { MODEL_MAX = 32 };
    const char *action = route_last_word(request->route);
    const char *model = "";
    json_error_t error;
    json_int_t version = 0;
    json_t *body = request->body_bytes == 0 ? json_object()
                                            : json_loadb(request->body, request->body_bytes,
                                                         JSON_REJECT_DUPLICATES, &error);
    const bool good = body && json_unpack_ex(body, &error, JSON_STRICT, "{s?:I, s?:s}",
                                             "version", &version, "model", &model) == 0;
    if (good && version >= 0 && version <= UINT32_MAX && strlen(model) < MODEL_MAX &&
        is_word(model)) {
        char text[256];
        json_t *request_json =
            json_pack("{s:s, s:s, s:I, s:s*, s:s}", "pair", request->id, "action", action,
                      "version", version, "model", model[0] ? model : NULL, "by", "http");
        web_submit(request, response, action, text,
                   json_dumpb(request_json, text, sizeof text, JSON_COMPACT));
        json_decref(request_json);
    } else {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                    good ? "a \"version\" of 0 or more, and a \"model\" that there is"
                         : "an empty body or {\"version\": number, \"model\": name} was "
                           "expected");
    }
    json_decref(body);
}
