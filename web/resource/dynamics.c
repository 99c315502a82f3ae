/* web/resource/dynamics.c - the identified dynamics of a pair's robots, and fits on request. */
#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "twin/report/pair_dynamics_report.h"
#include "web/resource/handlers.h"
#include "web/resource/jobs.h"

const char *suggest_model(const struct pair_params *p)
{
    return pair_is_arm(p)            ? "joint"
           : p->kind == PAIR_GENERIC ? "first_order"
                                     : pair_kind_name(p->kind);
}

/* NULL after a problem document: dynamics are off for this pair. */
static const struct pair_dynamics *find_dynamics(const struct web_request *request,
                                                 struct web_response *response)
{
    const struct view *view = request->view;
    const struct pair_dynamics *d = view->dynamics ? view->dynamics[request->pair] : NULL;
    if (!d) {
        char text[128];
        (void)snprintf(text, sizeof text,
                       "the dynamics of this pair are not followed: give it 'dynamics: {model: "
                       "%s}' in the lab file",
                       suggest_model(request->params));
        web_problem(request, response, PROBLEM_NO_DYNAMICS, NULL, text);
    }
    return d;
}

void get_dynamics(const struct web_request *request, struct web_response *response)
{
    const struct pair_dynamics *d = find_dynamics(request, response);
    if (!d) {
        return;
    }
    pair_dynamics_report(web_tagged_json(response), NULL, d, request->params);
}

void get_prediction(const struct web_request *request, struct web_response *response)
{
    const struct pair_dynamics *d = find_dynamics(request, response);
    if (d) {
        pair_dynamics_prediction(web_tagged_json(response), NULL, d, request->params);
    }
}

/* The body may be empty, or {"side": "real" or "virtual"}. False after a problem document. */
static bool read_side(const struct web_request *request, struct web_response *response,
                      enum side *side)
{
    const char *word = "real";
    json_error_t error;
    json_t *body = request->body_bytes == 0 ? json_object()
                                            : json_loadb(request->body, request->body_bytes,
                                                         JSON_REJECT_DUPLICATES, &error);
    const bool good =
        body && json_unpack_ex(body, &error, JSON_STRICT, "{s?:s}", "side", &word) == 0;
    *side = good ? (enum side)names_value(&side_names, word) : SIDE_COUNT;
    json_decref(body);
    return *side != SIDE_COUNT ||
           web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                       "an empty body or {\"side\": \"real\" or \"virtual\"} was expected");
}

static void refuse_fit(const struct web_request *request, struct web_response *response,
                       const char *why)
{
    web_problem(request, response, PROBLEM_NO_FIT, NULL, why);
}

/* The lab decides, but its refusals can be predicted from the snapshot. */
static bool can_begin(const struct web_request *request, const struct pair_dynamics *d,
                      enum side which, struct web_response *response)
{
    const struct dynamics_side *side = &d->side[which];
    char obstacle[DYNAMICS_OBSTACLE_MAX] = "";
    char detail[DYNAMICS_OBSTACLE_MAX + 80] = "";
    if (!side->followed) {
        refuse_fit(request, response, "the dynamics of this side are not followed");
        return false;
    }
    pair_dynamics_obstacle(d, which, obstacle);
    if (side->running) {
        refuse_fit(request, response, "a fit of this side is running; see its job");
    } else if (side->shape.wrong) {
        refuse_fit(request, response, obstacle);
    } else if (side->count < DYNAMICS_WINDOW_MIN) {
        (void)snprintf(
            detail, sizeof detail, "the window holds %" PRIu32 " samples, %d are the least%s%s",
            side->count, (int)DYNAMICS_WINDOW_MIN, obstacle[0] ? "; " : "", obstacle);
        refuse_fit(request, response, detail);
    }
    return response->status == 0;
}

void post_dynamics(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    const struct pair_dynamics *d = find_dynamics(request, response);
    enum side side = SIDE_REAL;
    struct err err = {0};
    uint64_t job = 0;
    if (!d || !read_side(request, response, &side) || !can_begin(request, d, side, response)) {
        return;
    }
    const enum status st = source->refit(source->context, request->pair, side, &job, &err);
    if (st == STATUS_OK && jobs_answer_new(request, response, job, "/api/v1/identify")) {
        return;
    }
    if (st == STATUS_OK || st == STATUS_E_EMPTY) {
        refuse_fit(request, response,
                   "the lab began no fit; see parameters/changes and the log for the reason");
    } else {
        web_problem_later(request, response, PROBLEM_NOT_READY, 1, &err, "");
    }
}
