/* web/resource/parameters.c - a pair's parameter sets, and requests to propose, promote or
 * roll back one. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "twin/report/pair_report.h"
#include "web/http/routes.h"
#include "web/resource/handlers.h"

/* Returns the sets of the pair's dynamics; NULL: they are not followed. */
static const struct parameter_book *dynamics_book(const struct web_request *request)
{
    const struct view *view = request->view;
    const struct pair_dynamics *d = view->dynamics ? view->dynamics[request->pair] : NULL;
    return d ? &d->sets : NULL;
}

void get_parameters(const struct web_request *request, struct web_response *response)
{
    pair_report_parameters(web_tagged_json(response), NULL, request->shown, request->params,
                           dynamics_book(request));
}

_Static_assert((int)QUERY_FRAGMENT_COUNT == (int)FRAGMENT_FORMATS, "the same formats");

/* Writes the active set as a fragment of a simulator's file: that of the dynamics, else of the
 * travel times. */
void get_fragment(const struct web_request *request, struct web_response *response)
{
    const struct query *query = &request->query;
    const enum fragment_format format = (enum fragment_format)query->format;
    const struct fragment_options options = {.joint = query->name[0] ? query->name : NULL,
                                             .inertia_kgm2 = query->inertia_kgm2,
                                             .torque_per_unit = query->torque_per_unit,
                                             .mass_kg = query->mass_kg,
                                             .yaw_inertia_kgm2 = query->yaw_inertia_kgm2};
    const struct parameter_book *book = dynamics_book(request);
    const struct parameter_set *own = book ? parameters_find(book, PARAMETERS_ACTIVE) : NULL;
    const struct parameter_set *set =
        own ? own : parameters_find(&request->shown->parameters, PARAMETERS_ACTIVE);
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

/* The members of a request; its body may be empty. */
struct order {
    json_int_t version;
    const char *model, *accept;
};

/* Fixes the version of the candidate that GET shows now. False after a problem document:
 * the request does not say which of two candidates, or does not accept a MARGINAL one. */
static bool choose_set(const struct web_request *request, struct web_response *response,
                       struct order *order)
{
    const struct parameter_book *book = dynamics_book(request);
    const bool travel = strcmp(order->model, "travel_time") == 0;
    const struct parameter_set *laps =
        travel || !order->model[0]
            ? parameters_choose(&request->shown->parameters, (uint32_t)order->version)
            : NULL;
    const struct parameter_set *model =
        travel || !book ? NULL : parameters_choose(book, (uint32_t)order->version);
    const struct parameter_set *set = laps ? laps : model;
    char text[160];
    if (laps && model) {
        (void)snprintf(text, sizeof text,
                       "there are two candidates, set %u (travel_time) and set %u (%s): give "
                       "the \"version\" or the \"model\"",
                       laps->version, model->version, parameters_model_name(model));
        return web_problem(request, response, PROBLEM_NO_PROMOTION, NULL, text);
    }
    if (set && set->verdict != ESTIMATE_PASS && strcmp(order->accept, "marginal") != 0) {
        (void)snprintf(text, sizeof text,
                       "set %u (%s) is %s: look at its checks, then give \"accept\": "
                       "\"marginal\"",
                       set->version, parameters_model_name(set),
                       estimate_verdict_name((enum estimate_verdict)set->verdict));
        return web_problem(request, response, PROBLEM_NO_PROMOTION, NULL, text);
    }
    order->version = set ? set->version : order->version;
    return true;
}

static bool is_order(const struct order *order, bool promotes)
{
    enum { MODEL_MAX = 32 };
    const bool accepts = strcmp(order->accept, "pass") == 0 ||
                         (promotes && strcmp(order->accept, "marginal") == 0);
    return order->version >= 0 && order->version <= UINT32_MAX &&
           strlen(order->model) < MODEL_MAX && is_word(order->model) && accepts;
}

/* The action is the path's last word. The body may be empty, or {"version": n, "model": "usv3",
 * "accept": "marginal"}. */
void post_parameters(const struct web_request *request, struct web_response *response)
{
    const char *action = route_last_word(request->route);
    const bool promotes = strcmp(action, "promote") == 0;
    struct order order = {.model = "", .accept = "pass"};
    json_error_t error;
    json_t *body = request->body_bytes == 0 ? json_object()
                                            : json_loadb(request->body, request->body_bytes,
                                                         JSON_REJECT_DUPLICATES, &error);
    const bool good = body && json_unpack_ex(body, &error, JSON_STRICT, "{s?:I, s?:s, s?:s}",
                                             "version", &order.version, "model", &order.model,
                                             "accept", &order.accept) == 0;
    if (!good || !is_order(&order, promotes)) {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                    good ? "a \"version\" of 0 or more, a \"model\" that there is, and "
                           "\"accept\": \"marginal\" only to promote"
                         : "an empty body or {\"version\": number, \"model\": name} was "
                           "expected");
    } else if (!promotes || choose_set(request, response, &order)) {
        char text[256];
        json_t *request_json =
            json_pack("{s:s, s:s, s:I, s:s*, s:s, s:s*}", "pair", request->id, "action", action,
                      "version", order.version, "model", order.model[0] ? order.model : NULL,
                      "by", "http", "accept", promotes ? order.accept : NULL);
        web_submit(request, response, action, text,
                   json_dumpb(request_json, text, sizeof text, JSON_COMPACT));
        json_decref(request_json);
    }
    json_decref(body);
}
