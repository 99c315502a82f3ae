#include "service/replay/event_line.h"

#include <math.h>
#include <string.h>

#include "logger/message/json_write.h"

static double round_nine(double x)
{
    return fabs(x) < 1e6 ? nearbyint(x * 1e9) / 1e9 : x;
}

#define OPTIONAL_SECONDS(key, us) JSON_IF((us) != LAB_TIME_NONE, JSON_SECONDS(key, us))

static void write_axes(struct json_writer *w, const char *key, const double *axes, size_t count)
{
    double rounded[EVENT_AXES_MAX];
    for (size_t k = 0; k < count; k++) {
        rounded[k] = round_nine(axes[k]);
    }
    json_write_axes(w, key, rounded, count);
}

/* A zero size was not given, except for a move. */
static struct json_row size_row(const struct event_command *c, const char *key, double size)
{
    return JSON_IF(strcmp(c->op, "go") == 0 || fabs(size) > 0.0, JSON(key, round_nine(size)));
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
    JSON_WRITE(w, JSON_OPTIONAL("id", r->id), OPTIONAL_SECONDS("t", r->source_us),
               OPTIONAL_SECONDS("t_start", r->source_start_us),
               JSON("status", reply_status_name(r->status)),
               JSON_OPTIONAL("detail", r->detail));
    if (r->value_count > 0) {
        JSON_MAP(w, "values", size_t k = 0; k < r->value_count; k++) {
            write_value(w, &r->values[k]);
        }
    }
}

static void write_telemetry(struct json_writer *w, const struct event_telemetry *t)
{
    JSON_WRITE(w, OPTIONAL_SECONDS("t", t->source_us),
               JSON_IF(t->seq >= 0, JSON_WHOLE("seq", t->seq)), JSON_OPTIONAL("boot", t->boot),
               JSON_IF(t->has_sim, JSON_SECONDS("sim_t", t->sim_us)));
    write_axes(w, "pose", t->pose, t->pose_count);
    write_axes(w, "nu", t->nu, t->nu_count);
    write_axes(w, "tau", t->tau, t->tau_count);
}

static void write_part(struct json_writer *w, const struct event *e)
{
    if (e->kind == EVENT_COMMAND) {
        const struct event_command *c = &e->command;
        JSON_WRITE(w, JSON_OPTIONAL("id", c->id), JSON("op", c->op),
                   size_row(c, "rotation_rad", c->rotation_rad),
                   size_row(c, "displacement_m", c->displacement_m),
                   OPTIONAL_SECONDS("t", c->source_us));
    } else if (e->kind == EVENT_REPLY) {
        write_reply(w, &e->reply);
    } else if (e->kind == EVENT_TELEMETRY) {
        write_telemetry(w, &e->telemetry);
    } else if (e->kind == EVENT_CONNECTION) {
        const struct event_connection *c = &e->connection;
        JSON_WRITE(w, JSON("state", c->online ? "online" : "offline"),
                   JSON_OPTIONAL("boot", c->boot), OPTIONAL_SECONDS("t", c->source_us),
                   JSON_OPTIONAL("reason", c->reason), JSON_OPTIONAL("version", c->version));
    } else if (e->kind == EVENT_FAULT) {
        const struct event_fault *f = &e->fault;
        JSON_WRITE(w, JSON("type", fault_kind_name(f->kind)), JSON_OPTIONAL("level", f->level),
                   JSON("detail", f->detail), JSON_OPTIONAL("id", f->id),
                   JSON_OPTIONAL("about", f->about));
    } else if (e->kind == EVENT_NOTE) {
        const struct event_note *n = &e->note;
        JSON_WRITE(w, JSON("type", note_kind_name(n->kind)), JSON_OPTIONAL("id", n->id),
                   JSON_OPTIONAL("detail", n->detail), JSON_OPTIONAL("status", n->status));
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
    JSON_OPEN(&w, NULL, JSON("event", event ? event_kind_name(event->kind) : NULL));
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
