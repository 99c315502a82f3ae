#include <stdio.h>

#include "identification/model/models.h"
#include "web/resource/handlers.h"

static void write_parts(struct json_writer *json, const struct view_health *health)
{
    struct health_part parts[HEALTH_PART_COUNT];
    health_parts(health, parts);
    json_write_object(json, "parts");
    for (size_t i = 0; i < HEALTH_PART_COUNT; i++) {
        json_write_object(json, parts[i].name);
        json_write_bool(json, "ok", parts[i].ok);
        json_write_text(json, "text", parts[i].text);
        json_write_close(json);
    }
    json_write_close(json);
}

/* Lists models from files of the lab. */
static void write_models(struct json_writer *json)
{
    json_write_array(json, "models");
    for (size_t i = model_row_count; model_row_at(i); i++) {
        json_write_object(json, NULL);
        json_write_text(json, "name", model_row_at(i)->name);
        json_write_text(json, "words", model_row_at(i)->words);
        json_write_close(json);
    }
    json_write_close(json);
}

static void write_room(struct json_writer *json, const struct web_room *room)
{
    json_write_object(json, "descriptors");
    json_write_int(json, "max", room->descriptors);
    json_write_int(json, "connections_max", room->connections);
    json_write_int(json, "listeners_max", room->listeners);
    json_write_close(json);
}

void get_status(const struct web_request *request, struct web_response *response)
{
    const struct view *view = request->view;
    const struct web_source *source = request->context->source;
    const int64_t now_us = source->now(source->context);
    struct json_writer *json = web_json(response);
    json_write_object(json, NULL);
    json_write_text(json, "lab", view->lab_name);
    json_write_text(json, "prefix", view->prefix);
    json_write_seconds(json, "t", now_us);
    json_write_seconds(json, "started_t", view->started_us);
    json_write_seconds(json, "uptime_s", now_us - view->started_us);
    json_write_seconds(json, "view_age_s", now_us - view->t_us);
    json_write_int(json, "pair_count", (int64_t)view->pair_count);
    json_write_bool(json, "ready", health_is_ready(&view->health));
    write_parts(json, &view->health);
    json_write_counts(json, "events", &event_kind_names, view->counts.events);
    json_write_int(json, "unknown_pair", (int64_t)view->counts.unknown_pair);
    json_write_int(json, "redelivered", (int64_t)view->counts.redelivered);
    json_write_int(json, "ambiguous", (int64_t)view->counts.ambiguous);
    json_write_int(json, "forgotten_early", (int64_t)view->counts.forgotten_early);
    json_write_int(json, "retained", (int64_t)view->counts.retained);
    json_write_int(json, "out_of_order", (int64_t)view->counts.out_of_order);
    json_write_int(json, "starts", (int64_t)view->counts.starts);
    write_models(json);
    write_room(json, &request->context->room);
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
    int used = snprintf(detail, 160, "not ready:");
    health_parts(health, parts);
    for (size_t i = 0; i < HEALTH_PART_COUNT; i++) {
        if (!parts[i].ok) {
            used += snprintf(detail + used, 160 - (size_t)used, " %s", parts[i].name);
        }
    }
}

void get_readyz(const struct web_request *request, struct web_response *response)
{
    const struct view_health *health = &request->view->health;
    struct json_writer *json = web_json(response);
    char detail[160];
    if (health_is_ready(health)) {
        json_write_object(json, NULL);
        json_write_bool(json, "ready", true);
    } else {
        name_ill_parts(health, detail);
        response->status = problem_status(PROBLEM_NOT_READY);
        response->media_type = PROBLEM_MEDIA_TYPE;
        problem_open(json, PROBLEM_NOT_READY, FAULT_NONE, request->path, detail);
    }
    write_parts(json, health);
    json_write_close(json);
}
