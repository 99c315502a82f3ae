/* web/resource/teams.c - teams: their states, resources and jobs, and requests to change
 * them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "twin/report/team_live_report.h"
#include "twin/report/team_report.h"
#include "web/http/routes.h"
#include "web/resource/handlers.h"

enum { REQUEST_MAX = 1024 };

/* Reads "R1" of "/api/v1/teams/cell/robots/R1/reset": the segment before the last word. */
static void read_member(const struct web_request *request, char name[TEAM_NAME_MAX])
{
    const char *end = strrchr(request->path, '/');
    const char *begin = end;
    while (begin > request->path && begin[-1] != '/') {
        begin--;
    }
    name[0] = '\0';
    (void)percent_decode(begin, (size_t)(end - begin), name, TEAM_NAME_MAX);
}

/* ---- reading ---- */

void get_teams(const struct web_request *request, struct web_response *response)
{
    const struct view *view = request->view;
    struct json_writer *w = web_tagged_json(response);
    json_write_object(w, NULL);
    JSON_LIST(w, "teams", size_t i = 0; i < view->team_count; i++) {
        json_write_object(w, NULL);
        team_live_report_summary(w, view->live_teams[i], &view->teams[i]);
        json_write_close(w);
    }
    json_write_close(w);
}

void get_team(const struct web_request *request, struct web_response *response)
{
    team_live_report(web_json(response), NULL, request->team_live, request->team_params,
                     request->view->t_us);
}

/* Writes the output of `report` for the team of the path. */
static void get_part(const struct web_request *request, struct web_response *response,
                     void (*report)(struct json_writer *w, const struct team_live *live,
                                    const struct team_params *p))
{
    struct json_writer *w = web_json(response);
    JSON_OPEN(w, NULL, JSON("team", request->team_params->name),
              JSON_SECONDS("t", request->view->t_us));
    report(w, request->team_live, request->team_params);
    json_write_close(w);
}

static void report_resources(struct json_writer *w, const struct team_live *live,
                             const struct team_params *p)
{
    team_report_resources(w, p, team_live_team(live, p));
}

void get_team_resources(const struct web_request *request, struct web_response *response)
{
    get_part(request, response, report_resources);
}

void get_team_jobs(const struct web_request *request, struct web_response *response)
{
    get_part(request, response, team_live_report_jobs);
}

void get_team_plan(const struct web_request *request, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    struct err err = {0};
    const enum status status =
        source->plan(request->view, request->team, request->query_text, &response->body, &err);
    response->tagged = true;
    if (status == STATUS_E_ARG) {
        web_problem_err(request, response, PROBLEM_BAD_PARAMETER, &err);
    } else if (status != STATUS_OK) {
        web_problem_err(request, response,
                        status == STATUS_E_EMPTY ? PROBLEM_TEAM_REFUSES : PROBLEM_INTERNAL,
                        &err);
    }
}

void get_team_machines(const struct web_request *request, struct web_response *response)
{
    get_part(request, response, team_live_report_machines);
}

void get_team_job(const struct web_request *request, struct web_response *response)
{
    char id[EVENT_ID_MAX] = "";
    const char *last = strrchr(request->path, '/') + 1;
    if (!percent_decode(last, strlen(last), id, sizeof id) ||
        !team_live_report_job(web_json(response), request->team_live, request->team_params,
                              id)) {
        web_problem(request, response, PROBLEM_NO_SUCH_JOB, NULL,
                    "the team knows no job of this id (any more); …/jobs lists those it knows");
    }
}

/* ---- requests to the team ------------------------------------------------------------ */

static void make_id(const struct web_request *request, char id[EVENT_ID_MAX])
{
    struct web_context *context = request->context;
    const uint64_t n = atomic_fetch_add(&context->next_command, 1) + 1;
    (void)snprintf(id, EVENT_ID_MAX, "http-%" PRId64 "-%" PRIu64,
                   context->source->now(context->source->context), n);
}

/* Waits for the team's answer; a refusal is a problem document. */
static bool check_answer(const struct web_request *request, struct web_response *response,
                         const char *id)
{
    const struct web_source *source = request->context->source;
    bool fine = true;
    if (source->catch_up) {
        source->catch_up(source->context, false);
    }
    const struct view *view = source->acquire(source->snapshots);
    const struct team_live_answer *a =
        team_live_find_answer(view->live_teams[request->team], request->team_params, id);
    if (a && a->grant == TEAM_LIVE_REJECTED) {
        fine =
            web_problem(request, response,
                        a->stale ? PROBLEM_STALE_FENCE : PROBLEM_TEAM_REFUSES, NULL, a->detail);
    }
    source->release(source->snapshots, view);
    return fine;
}

/* Ends the request's JSON and submits it to the lab. */
static void submit_request(const struct web_request *request, struct web_response *response,
                           enum team_op op, json_t *request_json)
{
    char text[REQUEST_MAX];
    char made[EVENT_ID_MAX];
    const struct web_source *source = request->context->source;
    struct err err = {0};
    const char *given = json_string_value(json_object_get(request_json, "id"));
    make_id(request, made);
    if (!given) {
        (void)json_object_set_new(request_json, "id", json_string(made));
    }
    (void)json_object_set_new(request_json, "team", json_string(request->id));
    (void)json_object_set_new(request_json, "op", json_string(team_op_name(op)));
    (void)json_object_set_new(request_json, "by", json_string("http"));
    const size_t bytes = json_dumpb(request_json, text, sizeof text, JSON_COMPACT);
    const char *id = given ? given : made;
    if (bytes > sizeof text) {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL, "it is too long");
    } else if (source->request(source->context, text, bytes, &err) != STATUS_OK) {
        web_problem_later(request, response, PROBLEM_NOT_READY, 1, &err, "");
    } else if (check_answer(request, response, id)) {
        struct json_writer *w = web_json(response);
        JSON_WRITE_OBJECT(w, NULL, JSON("team", request->id), JSON("op", team_op_name(op)),
                          JSON("id", id));
        response->status = 202;
    }
    json_decref(request_json);
}

static enum team_op op_of(const struct web_request *request)
{
    return (enum team_op)names_value(&team_op_names, route_last_word(request->route));
}

void post_team(const struct web_request *request, struct web_response *response)
{
    submit_request(request, response, op_of(request), json_object());
}

void post_team_robot(const struct web_request *request, struct web_response *response)
{
    char robot[TEAM_NAME_MAX];
    read_member(request, robot);
    if (team_find_robot(request->team_params, robot) != TEAM_NONE) {
        submit_request(request, response, op_of(request), json_pack("{s:s}", "robot", robot));
    } else {
        web_problem(request, response, PROBLEM_NOT_FOUND, NULL,
                    "the team has no robot of this name");
    }
}

void post_team_release(const struct web_request *request, struct web_response *response)
{
    char resource[TEAM_NAME_MAX];
    json_error_t error;
    json_int_t fence = 0;
    const char *reason = "";
    read_member(request, resource);
    json_t *body =
        json_loadb(request->body, request->body_bytes, JSON_REJECT_DUPLICATES, &error);
    const bool good = body &&
                      json_unpack_ex(body, &error, JSON_STRICT, "{s:I, s?:s}", "fence", &fence,
                                     "reason", &reason) == 0 &&
                      fence >= 1 && strlen(reason) < sizeof((struct event_team *)0)->reason;
    if (team_find_resource(request->team_params, resource) == TEAM_NONE) {
        web_problem(request, response, PROBLEM_NOT_FOUND, NULL,
                    "the team has no resource of this name");
    } else if (!good) {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                    "{\"fence\": that of the grant, \"reason\": why, at most 95 bytes} was "
                    "expected");
    } else {
        submit_request(request, response, TEAM_OP_RELEASE,
                       json_pack("{s:s, s:I, s:s}", "resource", resource, "fence", fence,
                                 "reason", reason));
    }
    json_decref(body);
}

/* The limit is below the lab's own, so that the lab need not refuse. */
static bool is_short(const char *text, size_t size)
{
    return !text || (text[0] && strlen(text) < size);
}

void post_team_job(const struct web_request *request, struct web_response *response)
{
    json_error_t error;
    const char *id = NULL;
    const char *part = NULL;
    const char *sequence = NULL;
    const char *home = NULL;
    json_t *body =
        json_loadb(request->body, request->body_bytes, JSON_REJECT_DUPLICATES, &error);
    if (body &&
        json_unpack_ex(body, &error, JSON_STRICT, "{s?:s, s:s, s:s, s?:s}", "id", &id, "part",
                       &part, "seq", &sequence, "home", &home) == 0 &&
        is_short(id, EVENT_ID_MAX) && is_short(part, EVENT_TEAM_NAME_MAX) &&
        is_short(sequence, EVENT_TEAM_NAME_MAX) && is_short(home, EVENT_TEAM_NAME_MAX)) {
        submit_request(request, response, TEAM_OP_JOB,
                       json_pack("{s:s*, s:s, s:s, s:s*}", "id", id, "part", part, "seq",
                                 sequence, "home", home));
    } else {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                    "{\"part\": name, \"seq\": name, \"id\": and \"home\": where wanted} was "
                    "expected");
    }
    json_decref(body);
}
