/* web/resource/missions.c - missions of a pair: sent, listed, read and cancelled. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "logger/message/mission_request.h"
#include "web/http/routes.h"
#include "web/resource/handlers.h"

static const struct pair_missions *missions_of(const struct web_request *request,
                                               struct web_response *response)
{
    const struct view *view = request->view;
    const struct pair_missions *m = view->missions ? view->missions[request->pair] : NULL;
    if (!m) {
        web_problem(request, response, PROBLEM_NO_MISSIONS, NULL,
                    "this pair takes no missions; give it missions_max in the lab file");
    }
    return m;
}

void get_missions(const struct web_request *request, struct web_response *response)
{
    const struct pair_missions *m = missions_of(request, response);
    if (m) {
        struct json_writer *w = web_tagged_json(response);
        json_write_object(w, NULL);
        pair_missions_write_all(w, m, request->params);
        json_write_close(w);
    }
}

/* Reads the {mission} of the path. */
static const struct mission_record *find_mission(const struct web_request *request,
                                                 const struct pair_missions *m,
                                                 char id[EVENT_ID_MAX],
                                                 struct web_response *response)
{
    const char *last = strrchr(request->path, '/') + 1;
    const struct mission_record *r =
        percent_decode(last, strlen(last), id, EVENT_ID_MAX) ? pair_missions_find(m, id) : NULL;
    if (!r) {
        web_problem(request, response, PROBLEM_NO_SUCH_MISSION, NULL,
                    "the pair remembers no mission of this id; …/missions lists those it does");
    }
    return r;
}

static void write_mission(struct web_response *response, const struct pair_missions *m,
                          const struct mission_record *r)
{
    struct json_writer *w = web_json(response);
    json_write_object(w, NULL);
    pair_missions_write(w, m, r);
    json_write_close(w);
}

void get_mission(const struct web_request *request, struct web_response *response)
{
    char id[EVENT_ID_MAX];
    const struct pair_missions *m = missions_of(request, response);
    const struct mission_record *r = m ? find_mission(request, m, id, response) : NULL;
    if (r) {
        write_mission(response, m, r);
    }
}

/* ---- sending ---- */

/* Waits until the lab has the request, and answers with the mission as it is now. */
static void answer_mission(const struct web_request *request, struct web_response *response,
                           const char *id, uint64_t content)
{
    const struct web_source *source = request->context->source;
    if (source->catch_up) {
        source->catch_up(source->context, false);
    }
    const struct view *view = source->acquire(source->snapshots);
    const struct pair_missions *m = view->missions[request->pair];
    const struct mission_record *r = pair_missions_find(m, id);
    struct err err = {0};
    if (r && content != 0 && r->content != content) {
        (void)err_set(&err, STATUS_E_STALE, FAULT_DUPLICATE_NAME, "mission",
                      "this id is that of another mission: use a new one");
        web_problem_err(request, response, PROBLEM_MISSION_REFUSED, &err);
    } else if (r && r->state == MISSION_REFUSED) {
        (void)err_set(&err, STATUS_E_STALE, (enum fault)names_value(&fault_names, r->code),
                      "mission", "%s", r->detail);
        web_problem_err(request, response, PROBLEM_MISSION_REFUSED, &err);
    } else if (r) {
        write_mission(response, m, r);
        response->status = 202;
    } else {
        web_problem_later(request, response, PROBLEM_NOT_READY, 1, NULL,
                          "the mission was sent, but is not shown yet");
    }
    source->release(source->snapshots, view);
}

/* mission: one JSON object. Returns whether the lab will get it. */
static bool submit_mission(const struct web_request *request, struct web_response *response,
                           const char *mission, size_t bytes)
{
    const struct web_source *source = request->context->source;
    const size_t size = bytes + 128;
    char *text = malloc(size);
    struct err err = {0};
    const size_t used =
        text ? JSON_FORMAT(text, size, JSON("pair", request->id), JSON("by", "http"),
                           JSON_RAW("mission", mission, bytes))
             : 0;
    const bool fine =
        used > 0 && source->request(source->context, text, used, &err) == STATUS_OK;
    free(text);
    return fine || web_problem_later(request, response, PROBLEM_NOT_READY, 1, &err,
                                     used > 0 ? "" : "not enough memory");
}

/* Checks the mission as the lab will do. */
static bool check_mission(const struct web_request *request, struct web_response *response,
                          const struct event *event)
{
    void *plan = malloc(MISSION_PLAN_BYTES);
    struct err err = {0};
    if (event->kind != EVENT_MISSION) {
        free(plan);
        return web_problem_malformed(request, response, event);
    }
    if (event->mission.cancel == 1) {
        free(plan);
        (void)err_set(&err, STATUS_E_PARSE, FAULT_NOT_APPLICABLE, "cancel",
                      "a mission was expected: DELETE .../missions/%s cancels one",
                      event->mission.id);
        return web_problem_err(request, response, PROBLEM_BAD_BODY, &err);
    }
    const enum status status =
        plan ? pair_missions_check(request->params, event->mission.kind, event->mission.raw,
                                   event->mission.raw_bytes, plan, &err)
             : err_no_memory(&err, "mission", "not enough memory");
    free(plan);
    return status == STATUS_OK || web_problem_err(request, response, PROBLEM_BAD_BODY, &err);
}

void post_mission(const struct web_request *request, struct web_response *response)
{
    struct event event = {.kind = EVENT_KIND_COUNT};
    struct message message = {.payload = request->body,
                              .stored_bytes = request->body_bytes,
                              .payload_bytes = request->body_bytes};
    (void)snprintf(message.topic, sizeof message.topic, "%s/%s/mission", request->view->prefix,
                   request->id);
    (void)mission_request_decode(request->view->prefix, &message, codec_copy_event, &event);
    if (!missions_of(request, response) || !check_mission(request, response, &event)) {
        return;
    }
    /* The body is an object, so skip white space around it. */
    const char *text = memchr(request->body, '{', request->body_bytes);
    const char *end = memrchr(request->body, '}', request->body_bytes);
    const size_t bytes = (size_t)(end - text) + 1;
    if (submit_mission(request, response, text, bytes)) {
        answer_mission(request, response, event.mission.id, pair_missions_content(text, bytes));
    }
}

void delete_mission(const struct web_request *request, struct web_response *response)
{
    char id[EVENT_ID_MAX];
    char text[8 * EVENT_ID_MAX];
    const struct pair_missions *m = missions_of(request, response);
    const struct mission_record *r = m ? find_mission(request, m, id, response) : NULL;
    if (!r) {
        return;
    }
    const size_t bytes =
        JSON_FORMAT(text, sizeof text, JSON("id", id), JSON_BOOL("cancel", true));
    if (submit_mission(request, response, text, bytes)) {
        answer_mission(request, response, id, 0);
    }
}
