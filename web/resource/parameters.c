/* web/resource/parameters.c - a pair's parameter sets, and requests to propose, promote or
 * roll back one. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "twin/report/pair_report.h"
#include "web/http/routes.h"
#include "web/resource/handlers.h"

void get_parameters(const struct web_request *request, struct web_response *response)
{
    pair_report_parameters(web_tagged_json(response), NULL, request->shown, request->params);
}

_Static_assert((int)QUERY_FRAGMENT_COUNT == (int)FRAGMENT_FORMATS, "the same formats");

/* Writes the active set as a fragment of a simulator's file. */
void get_fragment(const struct web_request *request, struct web_response *response)
{
    const struct query *query = &request->query;
    const enum fragment_format format = (enum fragment_format)query->format;
    const struct fragment_options options = {.joint = query->name[0] ? query->name : NULL,
                                             .inertia_kgm2 = query->inertia_kgm2,
                                             .torque_per_unit = query->torque_per_unit,
                                             .mass_kg = query->mass_kg,
                                             .yaw_inertia_kgm2 = query->yaw_inertia_kgm2};
    const struct parameter_set *set =
        parameters_find(&request->shown->parameters, PARAMETERS_ACTIVE);
    struct err err = {0};
    if (!set) {
        web_problem(request, response, PROBLEM_NOT_FOUND, NULL,
                    "no parameter set of this pair is active: promote one");
    } else if (model_fragment_check(format, parameters_model_name(set), options.joint, &err) !=
               STATUS_OK) {
        (void)snprintf(err.where, sizeof err.where, "%s",
                       strcmp(err.where, "write") == 0 ? "format" : "name");
        web_problem_err(request, response, PROBLEM_BAD_PARAMETER, &err);
    } else {
        response->media_type = format == FRAGMENT_JSON ? NULL : "application/xml";
        response->tagged = true;
        parameters_report_fragment(set, format, &options, body_flush, &response->body);
    }
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
