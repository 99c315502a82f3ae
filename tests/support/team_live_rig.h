/* tests/support/team_live_rig.h - a lab with one team, whose robots answer their commands on
 * request; all input is messages, which can be stepped through another lab again, and all
 * output is recorded as text. */
#ifndef TESTS_SUPPORT_TEAM_LIVE_RIG_H
#define TESTS_SUPPORT_TEAM_LIVE_RIG_H

#include "tests/support/check.h"

#include <jansson.h>

#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"
#include "logger/message/record_json.h"
#include "tests/support/team_spec.h"
#include "twin/lab.h"
#include "twin/report/team_live_report.h"
#include "twin/report/team_report.h"

enum {
    RIG_PAIRS = 16,
    RIG_MESSAGES = 4096,
    RIG_TEXT = 1 << 21,
    RIG_PAYLOAD = 12 * 1024, /* a forecast */
    RIG_WAITING = 256
};
static const int64_t RIG_T0_US = INT64_C(1000000000);
static const int64_t RIG_ASKED_US = 1000;

/* One message that goes in: at t_us, on "t/<rest>". */
struct rig_message {
    int64_t t_us;
    uint64_t order;
    char rest[64];
    char payload[RIG_PAYLOAD];
};

/* The course of a command, by the time when the real robot got it; the twin may get it
 * later. */
struct rig_course {
    char id[EVENT_ID_MAX];
    bool ends;
    int64_t lap_us;
    const char *status;
};

struct rig_robot {
    struct rig_course commanded[32];
    unsigned commanded_count;
    double pose[3];
    int64_t asked_us; /* duration of its last answer about its state */
};

struct rig {
    struct pair_params pairs[RIG_PAIRS];
    struct team_spec spec;
    struct lab_params params;
    struct lab *lab;
    json_t *head;
    struct rig_robot robots[RIG_PAIRS];
    struct rig_message waiting[RIG_WAITING]; /* to go in */
    size_t waiting_count;
    uint64_t ordered;
    struct rig_message *journal; /* [RIG_MESSAGES] that went in */
    size_t journal_count;
    char *log; /* [RIG_TEXT] all effects in words */
    size_t log_used;
    char *trace; /* [RIG_TEXT] what the team did, as golden lines */
    size_t trace_used;
    const struct team_step *step[RIG_PAIRS]; /* in work */
    unsigned commands, halts, entries, jobs_reported;
    struct team_live_result result;
    uint64_t forecast_number; /* newest forecast that was made (team_live_forecast.h) */
    double slower;            /* factor by which the twins are slower */
    /* Duration of this step, false: for ever; *status of its reply. */
    bool (*lap)(struct rig *rig, uint16_t robot, const struct team_step *step, int64_t *us,
                const char **status);
    bool deaf;  /* robots continue after a halt */
    bool plain; /* nobody answers: another lab's messages are stepped */
};

static inline void rig_queue(struct rig *rig, int64_t t_us, const char *rest,
                             const char *payload)
{
    struct rig_message *m = &rig->waiting[rig->waiting_count++];
    CU_ASSERT_FATAL(rig->waiting_count < RIG_WAITING);
    m->t_us = t_us;
    m->order = rig->ordered++;
    (void)snprintf(m->rest, sizeof m->rest, "%s", rest);
    (void)snprintf(m->payload, sizeof m->payload, "%s", payload);
}

static inline void rig_reply(struct rig *rig, int64_t t_us, size_t pair, enum side side,
                             const char *id, const char *status)
{
    char rest[64];
    char payload[RIG_PAYLOAD];
    const double *pose = rig->robots[pair].pose;
    (void)snprintf(rest, sizeof rest, "%s/%s/reply", rig->pairs[pair].id, side_name(side));
    (void)snprintf(payload, sizeof payload,
                   "{\"id\":\"%s\",\"status\":\"%s\",\"values\":{\"x_m\":%.17g,\"y_m\":%.17g,"
                   "\"psi_rad\":%.17g}}",
                   id, status, pose[0], pose[1], pose[2]);
    rig_queue(rig, t_us, rest, payload);
}

/* A halt ends what the robot does, unless it is deaf to it. */
static inline void rig_halt(struct rig *rig, int64_t t_us, size_t pair, enum side side,
                            const char *id)
{
    t_us += RIG_ASKED_US;
    if (rig->deaf) {
        rig_reply(rig, t_us, pair, side, id, "ignored");
        return;
    }
    for (size_t k = 0; k < rig->waiting_count; k++) {
        struct rig_message *m = &rig->waiting[k];
        char rest[64];
        (void)snprintf(rest, sizeof rest, "%s/%s/reply", rig->pairs[pair].id, side_name(side));
        if (strcmp(m->rest, rest) == 0 && m->t_us > t_us) {
            m->t_us = t_us;
            char *status = strstr(m->payload, "\"status\":\"done\"");
            if (status) {
                char rest_of[RIG_PAYLOAD];
                (void)snprintf(rest_of, sizeof rest_of, "%s", status + 15);
                (void)snprintf(status, RIG_PAYLOAD - (size_t)(status - m->payload),
                               "\"status\":\"halted\"%s", rest_of);
            }
        }
    }
    rig_reply(rig, t_us, pair, side, id, "done");
}

static inline void rig_apply(struct rig *rig, const struct effect *effect)
{
    json_error_t error;
    json_t *c = json_loadb(effect->payload.text, effect->payload.bytes, 0, &error);
    const char *op = json_string_value(json_object_get(c, "op"));
    const char *id = json_string_value(json_object_get(c, "id"));
    struct rig_robot *r = &rig->robots[effect->pair];
    const bool real = effect->side == SIDE_REAL;
    const double way = json_number_value(json_object_get(c, "displacement_m"));
    const double turn = json_number_value(json_object_get(c, "rotation_rad"));
    CU_ASSERT_FATAL(op && id);
    rig->commands += real;
    if (strcmp(op, "halt") == 0) {
        rig->halts += real;
        rig_halt(rig, effect->t_us, effect->pair, effect->side, id);
        json_decref(c);
        return;
    }
    if (strcmp(op, "go") == 0 && real) {
        r->pose[2] += turn;
        r->pose[0] += way * cos(r->pose[2]);
        r->pose[1] += way * sin(r->pose[2]);
    }
    struct rig_course *course = NULL;
    if (real) {
        const bool moves = strcmp(op, "go") != 0 || fabs(way) > 0.0 || fabs(turn) > 0.0;
        course = &r->commanded[r->commanded_count++ % COUNT(r->commanded)];
        *course = (struct rig_course){.status = "done", .ends = true, .lap_us = RIG_ASKED_US};
        (void)snprintf(course->id, sizeof course->id, "%s", id);
        if (moves) {
            course->ends = rig->lap(rig, (uint16_t)effect->pair, rig->step[effect->pair],
                                    &course->lap_us, &course->status);
            course->lap_us -= r->asked_us;
        }
        r->asked_us = moves ? 0 : RIG_ASKED_US;
    }
    for (size_t k = 0; !course && k < COUNT(r->commanded); k++) {
        course = strcmp(r->commanded[k].id, id) == 0 ? &r->commanded[k] : NULL;
    }
    CU_ASSERT_FATAL(course != NULL);
    if (course->ends) {
        const double factor = real || rig->slower <= 0.0 ? 1.0 : rig->slower;
        rig_reply(rig, effect->t_us + (int64_t)(factor * (double)course->lap_us), effect->pair,
                  effect->side, id, course->status);
    }
    json_decref(c);
}

static inline void rig_line(char *text, size_t *used, const struct json_writer *w)
{
    CU_ASSERT_FATAL(*used + w->used + 1 < RIG_TEXT);
    memcpy(text + *used, w->text, w->used);
    *used += w->used;
    text[(*used)++] = '\n';
    text[*used] = '\0';
}

/* Times of golden traces begin with 0. */
static inline void rig_trace(struct rig *rig, const struct team_effect *effect)
{
    static char line[16384];
    struct team_effect e = *effect;
    struct json_writer w;
    e.t_us -= RIG_T0_US;
    json_write_start(&w, line, sizeof line, NULL, NULL);
    team_report_effect(&w, NULL, &rig->spec.p, &e, TEAM_TIME_MS);
    CHECK("whole", json_write_end(&w));
    rig_line(rig->trace, &rig->trace_used, &w);
    if (e.kind == TEAM_START) {
        rig->step[e.robot] = e.step;
    }
}

static inline void rig_emit(void *context, const struct effect *effect)
{
    static char line[65536];
    struct rig *rig = context;
    const char *name = lab_name(&rig->params, effect->pair);
    struct json_writer w;
    json_write_start(&w, line, sizeof line, NULL, NULL);
    json_write_object(&w, NULL);
    json_write_text(&w, "of", name ? name : "nobody");
    json_write_int(&w, "kind", effect->kind);
    json_write_int(&w, "t", effect->t_us);
    switch ((int)effect->kind) {
    case EFFECT_ENTRY:
        rig->entries++;
        entry_write_json(&w, "entry", effect->entry, name);
        break;
    case EFFECT_ALARM:
        alarm_write_json(&w, "alarm", effect->alarm, name);
        break;
    case EFFECT_COMMAND:
    case EFFECT_REPLY:
        json_write_raw(&w, "payload", effect->payload.text, effect->payload.bytes);
        break;
    case EFFECT_TEAM:
        json_write_int(&w, "n", (int64_t)effect->team.n);
        team_report_effect(&w, "effect", &rig->spec.p, effect->team.effect, TEAM_TIME_S);
        rig_trace(rig, effect->team.effect);
        break;
    case EFFECT_RESPONSE: {
        static char text[TEAM_LIVE_RESPONSE_MAX];
        struct json_writer inner;
        json_write_start(&inner, text, sizeof text, NULL, NULL);
        team_live_report_response(&inner, &rig->spec.p, effect->response);
        CHECK("whole", json_write_end(&inner));
        json_write_raw(&w, "response", text, inner.used);
        break;
    }
    case EFFECT_RESULT:
        rig->result = effect->result.job ? rig->result : *effect->result.what;
        rig->jobs_reported += effect->result.job != NULL;
        team_live_report_result(&w, "result", &rig->spec.p, effect->result.what,
                                effect->result.job);
        break;
    default:
        break;
    }
    json_write_close(&w);
    CHECK("whole", json_write_end(&w));
    rig_line(rig->log, &rig->log_used, &w);
    if (effect->kind == EFFECT_COMMAND && !rig->plain) {
        rig_apply(rig, effect);
    }
}

/* A lab that will be equal to that of rig. */
static inline void rig_open_lab(struct rig *rig)
{
    rig->lab =
        lab_init(aligned_alloc(64, (lab_bytes(&rig->params) + 63) / 64 * 64), &rig->params);
}

/* A team as in the first line of a golden trace: robot k is pair pk. Change rig->spec and
 * pairs, then rig_open_lab(). */
static inline void rig_init_text(struct rig *rig, const char *line)
{
    memset(rig, 0, sizeof *rig);
    rig->head = json_loads(line, 0, NULL);
    CU_ASSERT_FATAL(rig->head != NULL);
    team_spec_read(&rig->spec, json_object_get(rig->head, "team"));
    (void)snprintf(rig->spec.p.name, sizeof rig->spec.p.name, "cell");
    CU_ASSERT_FATAL(rig->spec.p.robot_count <= RIG_PAIRS);
    for (size_t i = 0; i < rig->spec.p.robot_count; i++) {
        struct team_robot_params *r = &rig->spec.robots[i];
        (void)snprintf(r->pair, sizeof r->pair, "p%zu", i);
        lab_pair_defaults(&rig->pairs[i], r->pair);
        rig->pairs[i].mode = PAIR_LINK;
        rig->pairs[i].timeout_us = INT64_C(1000000) * 3600;
        rig->pairs[i].probe_interval_us = 0;
    }
    for (size_t k = 0; k < rig->spec.p.task_count; k++) {
        (void)snprintf(rig->spec.tasks[k].op, sizeof rig->spec.tasks[k].op, "work");
    }
    rig->params = (struct lab_params){.pair_count = rig->spec.p.robot_count,
                                      .pairs = rig->pairs,
                                      .teams = &rig->spec.p,
                                      .team_count = 1};
    rig->journal = calloc(RIG_MESSAGES, sizeof *rig->journal);
    rig->log = malloc(RIG_TEXT);
    rig->trace = malloc(RIG_TEXT);
    CU_ASSERT_FATAL(rig->journal && rig->log && rig->trace);
    rig->log[0] = rig->trace[0] = '\0';
}

static inline void rig_init(struct rig *rig, const char *path)
{
    static char line[65536];
    FILE *file = fopen(path, "r");
    CU_ASSERT_FATAL(file && fgets(line, sizeof line, file));
    (void)fclose(file);
    rig_init_text(rig, line);
}

static inline void rig_close(struct rig *rig)
{
    free(rig->lab);
    free(rig->journal);
    free(rig->log);
    free(rig->trace);
    team_spec_free(&rig->spec);
    json_decref(rig->head);
}

static inline void rig_event(void *context, const struct event *event)
{
    struct rig *rig = context;
    const struct effects fx = {rig_emit, rig};
    lab_step(rig->lab, event, &fx);
}

static inline void rig_step(struct rig *rig, const struct rig_message *from)
{
    struct message m = {.t_us = from->t_us,
                        .payload = from->payload,
                        .stored_bytes = strlen(from->payload),
                        .payload_bytes = strlen(from->payload)};
    struct codec_set set;
    (void)snprintf(m.topic, sizeof m.topic, "t/%s", from->rest);
    lab_codecs(rig->lab, &set);
    CHECK(from->rest, codec_decode(&set, "t", &m, rig_event, rig) > 0);
}

static inline void rig_tick(struct rig *rig, int64_t t_us)
{
    const struct event tick = {.t_us = t_us, .kind = EVENT_TICK, .side = SIDE_COUNT};
    rig_event(rig, &tick);
}

static inline size_t rig_earliest(const struct rig *rig)
{
    size_t first = SIZE_MAX;
    for (size_t k = 0; k < rig->waiting_count; k++) {
        const struct rig_message *m = &rig->waiting[k];
        if (first == SIZE_MAX || m->t_us < rig->waiting[first].t_us ||
            (m->t_us == rig->waiting[first].t_us && m->order < rig->waiting[first].order)) {
            first = k;
        }
    }
    return first;
}

/* One message, or what is due before it; false: nothing happens any more. */
static inline bool rig_go_on(struct rig *rig)
{
    const size_t k = rig_earliest(rig);
    const int64_t due_us = lab_next_deadline(rig->lab);
    const int64_t next_us = k == SIZE_MAX ? LAB_TIME_MAX : rig->waiting[k].t_us;
    if (due_us == LAB_TIME_MAX && k == SIZE_MAX) {
        return false;
    }
    if (due_us < next_us) {
        rig_tick(rig, due_us + 1);
        return true;
    }
    const struct rig_message m = rig->waiting[k];
    rig->waiting[k] = rig->waiting[--rig->waiting_count];
    CU_ASSERT_FATAL(rig->journal_count < RIG_MESSAGES);
    rig->journal[rig->journal_count++] = m;
    rig_step(rig, &m);
    return true;
}

static inline void rig_run(struct rig *rig, unsigned steps)
{
    while (steps-- > 0 && rig_go_on(rig)) {
    }
}

/* Until this time is over. */
static inline void rig_run_until(struct rig *rig, int64_t t_us)
{
    for (;;) {
        const size_t k = rig_earliest(rig);
        const int64_t due_us = lab_next_deadline(rig->lab);
        if ((k == SIZE_MAX || rig->waiting[k].t_us > t_us) && due_us > t_us) {
            return;
        }
        (void)rig_go_on(rig);
    }
}

/* The number of times that a text is in the log. */
static inline unsigned rig_count(const struct rig *rig, const char *text)
{
    unsigned count = 0;
    for (const char *at = rig->log; (at = strstr(at, text)) != NULL; at += strlen(text)) {
        count++;
    }
    return count;
}

#endif
