/* web/resource/status.c - GET of the daemon's status and health. */
#include <stdio.h>

#include "base/text/text.h"
#include "identification/model/models.h"
#include "web/resource/handlers.h"

static void write_parts(struct json_writer *json, const struct view_health *health)
{
    struct health_part parts[HEALTH_PART_COUNT];
    health_parts(health, parts);
    JSON_MAP(json, "parts", size_t i = 0; i < HEALTH_PART_COUNT; i++) {
        JSON_WRITE_OBJECT(json, parts[i].name, JSON("ok", parts[i].ok),
                          JSON("text", parts[i].text));
    }
}

/* Lists models from files of the lab. */
static void write_models(struct json_writer *json)
{
    JSON_LIST(json, "models", size_t i = model_row_count; model_row_at(i); i++) {
        JSON_WRITE_OBJECT(json, NULL, JSON("name", model_row_at(i)->name),
                          JSON("words", model_row_at(i)->words));
    }
}

void get_status(const struct web_request *request, struct web_response *response)
{
    const struct view *view = request->view;
    const struct web_source *source = request->context->source;
    const int64_t now_us = source->now(source->context);
    const struct web_room *room = &request->context->room;
    struct json_writer *json = web_json(response);
    JSON_OPEN(json, NULL, JSON("lab", view->lab_name),
              JSON("version", source->version ? source->version : ""),
              JSON("prefix", view->prefix),
              JSON_SECONDS("t", now_us), JSON_SECONDS("started_t", view->started_us),
              JSON_SECONDS("uptime_s", now_us - view->started_us),
              JSON_SECONDS("view_age_s", now_us - view->t_us),
              JSON("pair_count", view->pair_count),
              JSON("ready", health_is_ready(&view->health)),
              JSON_BOOL("writing", request->context->token != NULL));
    write_parts(json, &view->health);
    JSON_WRITE(json, JSON_COUNTS("events", &event_kind_names, view->counts.events),
               JSON("unknown_pair", view->counts.unknown_pair),
               JSON("redelivered", view->counts.redelivered),
               JSON("ambiguous", view->counts.ambiguous),
               JSON("forgotten_early", view->counts.forgotten_early),
               JSON("retained", view->counts.retained),
               JSON("out_of_order", view->counts.out_of_order),
               JSON("starts", view->counts.starts));
    write_models(json);
    JSON_WRITE_OBJECT(json, "descriptors", JSON("max", room->descriptors),
                      JSON("connections_max", room->connections),
                      JSON("listeners_max", room->listeners));
    json_write_close(json);
}

void post_token(const struct web_request *request, struct web_response *response)
{
    struct json_writer *json = web_json(response);
    JSON_OPEN(json, NULL, JSON_BOOL("right", request->token_right));
    json_write_close(json);
}

void get_healthz(const struct web_request *request, struct web_response *response)
{
    (void)request;
    body_text(&response->body, "{\"alive\":true}\n");
}

/* Writes "not ready: broker store". */
static void name_ill_parts(const struct view_health *health, char detail[160])
{
    struct health_part parts[HEALTH_PART_COUNT];
    (void)snprintf(detail, 160, "not ready:");
    health_parts(health, parts);
    for (size_t i = 0; i < HEALTH_PART_COUNT; i++) {
        if (!parts[i].ok) {
            text_append(detail, 160, " %s", parts[i].name);
        }
    }
}

void get_readyz(const struct web_request *request, struct web_response *response)
{
    const struct view_health *health = &request->view->health;
    struct json_writer *json = web_json(response);
    char detail[160];
    if (health_is_ready(health)) {
        JSON_OPEN(json, NULL, JSON_BOOL("ready", true), JSON("lab", request->view->lab_name));
    } else {
        name_ill_parts(health, detail);
        response->status = problem_status(PROBLEM_NOT_READY);
        response->media_type = PROBLEM_MEDIA_TYPE;
        problem_open(json, PROBLEM_NOT_READY, FAULT_NONE, request->path, detail);
    }
    write_parts(json, health);
    json_write_close(json);
}
