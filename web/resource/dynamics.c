/* web/resource/dynamics.c - the identified dynamics of a pair's robots, and fits on request. */
#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "twin/report/pair_dynamics_report.h"
#include "web/resource/handlers.h"
#include "web/resource/jobs.h"

const void *find_part(const struct web_request *request, struct web_response *response,
                      const void *part, enum problem_kind problem, const char *why,
                      const char *key)
{
    const struct pair_params *p = request->params;
    if (!part) {
        char text[128];
        (void)snprintf(text, sizeof text, "%s: give it '%s: {model: %s}' in the lab file", why,
                       key,
                       pair_is_arm(p)            ? "joint"
                       : p->kind == PAIR_GENERIC ? "first_order"
                                                 : pair_kind_name(p->kind));
        web_problem(request, response, problem, NULL, text);
    }
    return part;
}

static const struct pair_dynamics *find_dynamics(const struct web_request *request,
                                                 struct web_response *response)
{
    const struct view *view = request->view;
    return find_part(request, response, view->dynamics ? view->dynamics[request->pair] : NULL,
                     PROBLEM_NO_DYNAMICS, "the dynamics of this pair are not followed",
                     "dynamics");
}

void get_dynamics(const struct web_request *request, struct web_response *response)
{
    const struct pair_dynamics *d = find_dynamics(request, response);
    if (d) {
        pair_dynamics_report(web_tagged_json(response), NULL, d, request->params);
    }
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

static bool refuse_fit(const struct web_request *request, struct web_response *response,
                       const char *why)
{
    return web_problem(request, response, PROBLEM_NO_FIT, NULL, why);
}

/* The lab decides, but its refusals can be predicted from the snapshot. */
static bool can_begin(const struct web_request *request, const struct pair_dynamics *d,
                      enum side which, struct web_response *response)
{
    const struct dynamics_side *side = &d->side[which];
    char obstacle[DYNAMICS_OBSTACLE_MAX] = "";
    char detail[DYNAMICS_OBSTACLE_MAX + 80] = "";
    if (!side->followed) {
        return refuse_fit(request, response, "the dynamics of this side are not followed");
    }
    pair_dynamics_obstacle(d, which, obstacle);
    if (side->running) {
        return refuse_fit(request, response, "a fit of this side is running; see its job");
    }
    (void)snprintf(detail, sizeof detail,
                   "the window holds %" PRIu32 " samples, %d are the least%s%s", side->count,
                   (int)DYNAMICS_WINDOW_MIN, obstacle[0] ? "; " : "", obstacle);
    return (!side->shape.wrong || refuse_fit(request, response, obstacle)) &&
           (side->count >= DYNAMICS_WINDOW_MIN || refuse_fit(request, response, detail));
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
