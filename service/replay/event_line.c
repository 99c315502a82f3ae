#include "service/replay/event_line.h"

#include <math.h>
#include <string.h>

#include "logger/message/json_write.h"

static double round_nine(double x)
{
    return fabs(x) < 1e6 ? nearbyint(x * 1e9) / 1e9 : x;
}

static void write_optional_text(struct json_writer *w, const char *key, const char *text)
{
    if (text[0]) {
        json_write_text(w, key, text);
    }
}

static void write_time(struct json_writer *w, const char *key, int64_t t_us)
{
    if (t_us != LAB_TIME_NONE) {
        json_write_seconds(w, key, t_us);
    }
}

static void write_axes(struct json_writer *w, const char *key, const double *axes, size_t count)
{
    double rounded[EVENT_AXES_MAX];
    for (size_t k = 0; k < count; k++) {
        rounded[k] = round_nine(axes[k]);
    }
    json_write_axes(w, key, rounded, count);
}

/* A zero size was not given, except for a move. */
static void write_command(struct json_writer *w, const struct event_command *c)
{
    const bool move = strcmp(c->op, "go") == 0;
    write_optional_text(w, "id", c->id);
    JSON_WRITE(w, JSON("op", c->op),
               JSON_IF(move || fabs(c->rotation_rad) > 0.0,
                       JSON("rotation_rad", round_nine(c->rotation_rad))),
               JSON_IF(move || fabs(c->displacement_m) > 0.0,
                       JSON("displacement_m", round_nine(c->displacement_m))));
    write_time(w, "t", c->source_us);
}

static void write_value(struct json_writer *w, const struct event_value *v)
{
    switch (v->kind) {
    case VALUE_NUMBER:
        json_write_real(w, v->name, round_nine(v->number));
        break;
    case VALUE_TRUTH:
        json_write_bool(w, v->name, v->number > 0.0);
        break;
    case VALUE_NULL:
        json_write_null(w, v->name);
        break;
    case VALUE_TEXT: /* hashed, or split into parts */
    case VALUE_LIST:
    case VALUE_OBJECT:
    case VALUE_KIND_COUNT:
        json_write_text(w, v->name, value_kind_name(v->kind));
    }
}

static void write_reply(struct json_writer *w, const struct event_reply *r)
{
    write_optional_text(w, "id", r->id);
    write_time(w, "t", r->source_us);
    write_time(w, "t_start", r->source_start_us);
    json_write_text(w, "status", reply_status_name(r->status));
    write_optional_text(w, "detail", r->detail);
    if (r->value_count > 0) {
        json_write_object(w, "values");
        for (size_t k = 0; k < r->value_count; k++) {
            write_value(w, &r->values[k]);
        }
        json_write_close(w);
    }
}

static void write_telemetry(struct json_writer *w, const struct event_telemetry *t)
{
    write_time(w, "t", t->source_us);
    if (t->seq >= 0) {
        json_write_int(w, "seq", t->seq);
    }
    write_optional_text(w, "boot", t->boot);
    if (t->has_sim) {
        json_write_seconds(w, "sim_t", t->sim_us);
    }
    write_axes(w, "pose", t->pose, t->pose_count);
    write_axes(w, "nu", t->nu, t->nu_count);
    write_axes(w, "tau", t->tau, t->tau_count);
}

static void write_part(struct json_writer *w, const struct event *e)
{
    if (e->kind == EVENT_COMMAND) {
        write_command(w, &e->command);
    } else if (e->kind == EVENT_REPLY) {
        write_reply(w, &e->reply);
    } else if (e->kind == EVENT_TELEMETRY) {
        write_telemetry(w, &e->telemetry);
    } else if (e->kind == EVENT_CONNECTION) {
        json_write_text(w, "state", e->connection.online ? "online" : "offline");
        write_optional_text(w, "boot", e->connection.boot);
        write_time(w, "t", e->connection.source_us);
        write_optional_text(w, "reason", e->connection.reason);
        write_optional_text(w, "version", e->connection.version);
    } else if (e->kind == EVENT_FAULT) {
        json_write_text(w, "type", fault_kind_name(e->fault.kind));
        write_optional_text(w, "level", e->fault.level);
        json_write_text(w, "detail", e->fault.detail);
        write_optional_text(w, "id", e->fault.id);
        write_optional_text(w, "about", e->fault.about);
    } else if (e->kind == EVENT_NOTE) {
        json_write_text(w, "type", note_kind_name(e->note.kind));
        write_optional_text(w, "id", e->note.id);
        write_optional_text(w, "detail", e->note.detail);
        write_optional_text(w, "status", e->note.status);
    } else if (e->kind == EVENT_MALFORMED) {
        JSON_WRITE(w, JSON("what", e->malformed.what),
                   JSON("code", fault_name(e->malformed.fault)),
                   JSON("detail", e->malformed.detail));
    }
}

/* Adds a blank after each comma and colon between members, for people. */
static void print_spaced(const char *text, size_t bytes, FILE *out)
{
    bool quoted = false;
    for (size_t i = 0; i < bytes; i++) {
        (void)fputc(text[i], out);
        if (quoted && text[i] == '\\' && i + 1 < bytes) {
            (void)fputc(text[++i], out);
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && (text[i] == ',' || text[i] == ':')) {
            (void)fputc(' ', out);
        }
    }
    (void)fputc('\n', out);
}

void event_line_print(const struct event *event, const char *detail, FILE *out)
{
    char text[16384];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    json_write_object(&w, NULL);
    json_write_text(&w, "event", event ? event_kind_name(event->kind) : NULL);
    if (event) {
        JSON_WRITE(&w, JSON("pair", event->pair),
                   JSON_IF(event->side < SIDE_COUNT, JSON("side", side_name(event->side))));
        write_part(&w, event);
    } else {
        json_write_text(&w, "detail", detail);
    }
    json_write_close(&w);
    (void)json_write_end(&w);
    print_spaced(text, w.used, out);
}
