/* service/sim/robot/fleet_publish.c - publishes the fleet's messages after their transport
 * delay. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/numbers/hash.h"
#include "logger/message/codec_native.h"
#include "service/sim/robot/fleet_parts.h"
#include "service/tool/commands.h"
#include "service/tool/lab_clock.h"

enum { PAYLOAD_MAX = 4096, MACHINES_BYTES = 8192, REFUSED_MAX = 16 };

#define MACHINES_AGAIN_US (INT64_C(10) * 1000000) /* repeat interval of unchanged machines */

/* Returns the lab time at which robots' time is t_us. */
static int64_t lab_time_of(const struct fleet *f, int64_t t_us)
{
    return f->executive.begin_us + llround((double)(t_us - f->sim_us) / f->options.pace);
}

/* Returns a robot's own clock at a lab time. */
static int64_t clock_of(const struct fleet *f, const struct fleet_robot *r, int64_t lab_us_)
{
    const double since_us = (double)(lab_us_ - f->start_us);
    return lab_us_ - r->clock_lost_us +
           llround(f->options.clock_offset_s * 1e6 +
                   since_us * f->options.clock_drift_ppm * 1e-6);
}

void fleet_topic(const struct fleet *f, const struct fleet_robot *r, const char *word,
                 char out[MESSAGE_TOPIC_MAX])
{
    (void)snprintf(out, MESSAGE_TOPIC_MAX, "%s/%s/%s/%s", f->options.broker.prefix,
                   f->pairs[r->pair], side_name(r->side), word);
}

static void publish_word(struct fleet *f, const struct fleet_robot *r, const char *word,
                         const char *payload, size_t bytes, int qos, bool retained)
{
    char topic[MESSAGE_TOPIC_MAX];
    fleet_topic(f, r, word, topic);
    if (mqtt_client_publish(f->session.client, topic, payload, bytes, qos, retained) !=
        STATUS_OK) {
        f->counts.dropped++;
    }
}

/* --- the queue ------------------------------------------------------------------------ */

int64_t fleet_outgoing_due_us(const struct fleet *f)
{
    const struct outgoing *first = TAILQ_FIRST(&f->outgoing_queue);
    return first ? first->due_us : LAB_TIME_MAX;
}

void fleet_send_due(struct fleet *f, int64_t now_us)
{
    while (fleet_outgoing_due_us(f) <= now_us) {
        struct outgoing *out = TAILQ_FIRST(&f->outgoing_queue);
        publish_word(f, out->robot, out->word, out->payload, out->bytes, out->qos, false);
        TAILQ_REMOVE(&f->outgoing_queue, out, link);
        f->outgoing_count--;
        free(out);
    }
}

/* Queues a message published at a lab time until its transport delay is over. False, and
 * counted, when it is incomplete or the queue is full. */
static bool queue_word(struct fleet *f, struct fleet_robot *r, const char *word, int qos,
                       int64_t publish_us, struct json_writer *w)
{
    double delay_s = f->options.delay_s;
    struct outgoing *out = NULL;
    if (json_write_end(w) &&
        f->outgoing_count < FLEET_OUTGOING_MIN + FLEET_OUTGOING_EACH * f->robot_count) {
        out = malloc(sizeof *out + w->used);
    }
    if (!out) {
        f->counts.dropped++;
        return false;
    }
    if (f->options.jitter_s > 0.0) {
        delay_s += random_exponential(&r->random, f->options.jitter_s);
    }
    const int64_t due_us = publish_us + lab_us(delay_s);
    r->last_due_us = due_us > r->last_due_us ? due_us : r->last_due_us;
    *out = (struct outgoing){
        .due_us = r->last_due_us, .robot = r, .word = word, .qos = qos, .bytes = w->used};
    memcpy(out->payload, w->text, w->used);
    struct outgoing *before = TAILQ_LAST(&f->outgoing_queue, outgoing_queue);
    while (before && before->due_us > out->due_us) {
        before = TAILQ_PREV(before, outgoing_queue, link);
    }
    if (before) {
        TAILQ_INSERT_AFTER(&f->outgoing_queue, before, out, link);
    } else {
        TAILQ_INSERT_HEAD(&f->outgoing_queue, out, link);
    }
    f->outgoing_count++;
    return true;
}

/* --- replies, telemetry, echoes ---------------------------------------------------------- */

static bool sends_simulated_time(const struct fleet *f)
{
    return fabs(f->options.pace - 1.0) > 0.0;
}

/* Reopens a closed object for further members. */
static void open_again(struct json_writer *w)
{
    w->used--;
    w->depth++;
}

/* Adds the reason for people. */
static void write_detail(struct json_writer *w, const char *detail)
{
    if (detail[0]) {
        open_again(w);
        json_write_text(w, "detail", detail);
        json_write_close(w);
    }
}

/* Writes values that only some kinds have. */
static void write_more(struct json_writer *w, const struct robot_sample *s)
{
    if (s->more_count == 0) {
        return;
    }
    open_again(w);
    for (size_t i = 0; i < s->more_count; i++) {
        const struct robot_list *list = &s->more[i];
        if (list->count == 1) {
            json_write_real(w, list->name, list->number[0]);
        } else {
            json_write_axes(w, list->name, list->number, list->count);
        }
    }
    json_write_close(w);
}

void fleet_publish_reply(void *context, const struct robot_reply *reply)
{
    struct fleet *f = context;
    struct fleet_robot *r = f->speaking;
    if (fleet_modbus_answer(f, reply) || fleet_ur_answer(f, reply)) {
        return;
    }
    const int64_t end_us = lab_time_of(f, reply->end_us);
    struct event_reply e = {.status = reply->status,
                            .source_us = clock_of(f, r, end_us),
                            .source_start_us = clock_of(f, r, lab_time_of(f, reply->start_us)),
                            .has_sim = sends_simulated_time(f) || r->side == SIDE_VIRTUAL,
                            .sim_us = reply->end_us - f->start_us,
                            .value_count = reply->value_count};
    (void)snprintf(e.id, sizeof e.id, "%s", reply->id);
    memcpy(r->answered, e.id, sizeof r->answered);
    for (size_t i = 0; i < reply->value_count; i++) {
        (void)snprintf(e.values[i].name, sizeof e.values[i].name, "%s", reply->values[i].name);
        e.values[i].number = reply->values[i].number;
    }
    if (random_between(&r->random, 0.0, 1.0) < f->options.loss_ratio) {
        f->counts.lost++;
        return;
    }
    const bool twice = random_between(&r->random, 0.0, 1.0) < f->options.duplicate_ratio;
    for (int i = 0; i < (twice ? 2 : 1); i++) {
        char text[PAYLOAD_MAX];
        struct json_writer w;
        json_write_start(&w, text, sizeof text, NULL, NULL);
        native_write(&w, EVENT_REPLY, &e);
        write_detail(&w, reply->detail);
        (void)queue_word(f, r, "reply", 1, end_us, &w);
    }
    f->counts.duplicated += twice;
    f->counts.replies++;
}

void fleet_publish_telemetry(struct fleet *f, struct fleet_robot *r)
{
    char text[PAYLOAD_MAX];
    struct robot_sample s = {0};
    struct json_writer w;
    f->options.kind->sample(r->memory, &s);
    const int64_t publish_us = lab_time_of(f, s.t_us);
    struct event_telemetry t = {.source_us = clock_of(f, r, publish_us),
                                .seq = r->telemetry_seq++,
                                .has_sim = sends_simulated_time(f),
                                .sim_us = s.t_us - f->start_us,
                                .nu_count = s.nu_count,
                                .tau_count = s.tau_count,
                                .pose_count = s.pose_count};
    (void)snprintf(t.boot, sizeof t.boot, "%s", r->boot);
    memcpy(t.nu, s.nu, sizeof t.nu);
    memcpy(t.tau, s.tau, sizeof t.tau);
    memcpy(t.pose, s.pose, sizeof t.pose);
    json_write_start(&w, text, sizeof text, NULL, NULL);
    native_write(&w, EVENT_TELEMETRY, &t);
    write_more(&w, &s);
    (void)queue_word(f, r, "telemetry", 0, publish_us, &w);
}

void fleet_publish_echo(struct fleet *f, struct fleet_robot *r, const struct event_echo *probe)
{
    char text[PAYLOAD_MAX];
    struct json_writer w;
    struct event_echo echo = *probe;
    const int64_t now_us = lab_clock_now_us();
    echo.source_received_us = clock_of(f, r, probe->source_received_us);
    echo.source_us = clock_of(f, r, now_us);
    json_write_start(&w, text, sizeof text, NULL, NULL);
    native_write(&w, EVENT_ECHO, &echo);
    f->counts.echoes += queue_word(f, r, "echo", 0, now_us, &w);
}

/* --- presence ---------------------------------------------------------------------------- */

void fleet_write_presence(const struct fleet *f, const struct fleet_robot *r, bool online,
                          char text[FLEET_PRESENCE_MAX])
{
    struct event_connection connection = {.online = online, .source_us = LAB_TIME_NONE};
    struct json_writer w;
    (void)snprintf(connection.boot, sizeof connection.boot, "%s", r->boot);
    (void)snprintf(connection.version, sizeof connection.version, "%s", f->options.version);
    json_write_start(&w, text, FLEET_PRESENCE_MAX - 1, NULL, NULL);
    native_write(&w, EVENT_CONNECTION, &connection);
    (void)json_write_end(&w);
    text[w.used] = '\0';
}

void fleet_publish_presence(struct fleet *f, const struct fleet_robot *r, bool online)
{
    char text[FLEET_PRESENCE_MAX];
    fleet_write_presence(f, r, online, text);
    publish_word(f, r, "connection", text, strlen(text), 1, true);
}

/* --- machines ---------------------------------------------------------------------------- */

static void write_machine(const struct fleet *f, const struct fleet_robot *r,
                          const struct robot_machine *machine, struct json_writer *w)
{
    const struct efsm_table *table = machine->table;
    JSON_OPEN(
        w, table->name, JSON("state", efsm_state_name(table, machine->m->state)),
        JSON_SECONDS("since", clock_of(f, r, lab_time_of(f, machine->m->entered_us))),
        JSON_IF(machine->m->fired_arc < table->arc_count, JSON("arc", machine->m->fired_arc)));
    for (size_t k = 0; k < table->cell_count; k++) {
        const bool there = (machine->m->defined >> k & 1U) != 0;
        json_write_real(w, table->cells[k], there ? machine->m->cell[k] : nan(""));
    }
    JSON_MAP(w, "visits", size_t k = 0; k < table->state_count; k++) {
        json_write_int(w, table->states[k].name, machine->stats->visits[k]);
    }
    JSON_MAP(w, "stay_s", size_t k = 0; k < table->state_count; k++) {
        json_write_seconds(w, table->states[k].name, machine->stats->stay_us[k]);
    }
    json_write_int(w, "faults", machine->stats->faults);
    json_write_close(w);
}

static void write_machines(const struct fleet *f, const struct fleet_robot *r,
                           const struct robot_machine *machines, size_t count, int64_t now_us,
                           struct json_writer *w)
{
    JSON_OPEN(w, NULL, JSON_SECONDS("t", clock_of(f, r, now_us)), JSON("boot", r->boot),
              JSON("kind", f->options.kind->name));
    for (size_t i = 0; i < count; i++) {
        write_machine(f, r, &machines[i], w);
    }
    fleet_modbus_write(f, w);
    JSON_WRITE_OBJECT(w, "executive", JSON("period_s", lab_s(f->period_us)),
                      JSON("pace", f->options.pace),
                      JSON("periods", fleet_whole(f, f->executive.periods)),
                      JSON("overruns", fleet_whole(f, f->executive.overruns)));
    json_write_close(w);
}

void fleet_publish_machines(struct fleet *f, struct fleet_robot *r, int64_t now_us)
{
    const struct robot_kind *kind = f->options.kind;
    struct robot_machine machines[ROBOT_MACHINES_MAX];
    uint64_t mark = HASH_START;
    if ((!kind->machines && !f->modbus) || now_us < r->machines_us) {
        return;
    }
    /* Only entries of the first machine count as changes: a lidar that reads all the time is no
     * change. */
    const size_t count = kind->machines ? kind->machines(r->memory, machines) : 0;
    if (count > 0) {
        mark = hash_bytes(mark, &machines[0].m->state, sizeof machines[0].m->state);
        mark = hash_bytes(mark, machines[0].stats->visits, sizeof machines[0].stats->visits);
    }
    if (f->modbus) { /* its indices change all the time */
        mark = hash_bytes(mark, &f->executive.periods, sizeof f->executive.periods);
    }
    if (mark == r->machines_mark && now_us < r->machines_us + MACHINES_AGAIN_US) {
        return;
    }
    char text[MACHINES_BYTES];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    write_machines(f, r, machines, count, now_us, &w);
    r->machines_mark = mark;
    r->machines_us = now_us + lab_us(1.0 / f->options.machines_hz);
    if (json_write_end(&w)) {
        publish_word(f, r, "machines", text, w.used, 0, true);
    } else {
        f->counts.dropped++;
    }
}

/* --- parameters -------------------------------------------------------------------------- */

/* Returns the value as a number, or as the index of its word; NaN when it is neither. */
static double value_of(const struct robot_kind *kind, const char *name, const json_t *value)
{
    const int index = robot_parameter_find(kind, name);
    if (json_is_number(value)) {
        return json_number_value(value);
    }
    if (index >= 0 && json_is_string(value)) {
        const int choice =
            robot_choice_find(&kind->parameters[index], json_string_value(value));
        return choice >= 0 ? choice : nan("");
    }
    return nan("");
}

/* Destinations of the reports while a set is applied. */
struct applying {
    struct fleet *fleet;
    struct fleet_robot *robot;
    struct json_writer *applied, refused;
    int refused_count;
};

static void apply_value(struct applying *a, const char *name, double value)
{
    char reason[ROBOT_REASON_MAX] = "";
    if (robot_set(a->fleet->options.kind, a->robot->memory, name, value, reason) == STATUS_OK) {
        json_write_text(a->applied, NULL, name);
        a->fleet->counts.applied++;
        return;
    }
    a->fleet->counts.refused++;
    if (a->refused_count++ < REFUSED_MAX) {
        JSON_WRITE_OBJECT(&a->refused, NULL, JSON("name", name), JSON("reason", reason));
    }
}

/* Multiplies the robot's own value by the factor and adds; the result is clipped to the range.
 * NaN, which is refused, when the change is invalid. */
static double adjusted_value(const struct fleet *f, const struct fleet_robot *r,
                             const char *name, const json_t *change)
{
    const int index = robot_parameter_find(f->options.kind, name);
    const json_t *factor = json_object_get(change, "factor");
    const json_t *add = json_object_get(change, "add");
    const bool wrong = (factor && !json_is_number(factor)) || (add && !json_is_number(add));
    if (index < 0 || wrong || (!factor && !add) || f->options.kind->parameters[index].choices) {
        return nan("");
    }
    const struct robot_parameter *row = &f->options.kind->parameters[index];
    const double value = r->parameters[index] * (factor ? json_number_value(factor) : 1.0) +
                         (add ? json_number_value(add) : 0.0);
    return isfinite(value) ? fmin(fmax(value, row->min), row->max) : value;
}

/* Writes "applied" and "refused" while it applies values; for a name in both, adjust counts. */
static void apply_values(struct fleet *f, struct fleet_robot *r, json_t *values, json_t *adjust,
                         struct json_writer *w)
{
    char text[PAYLOAD_MAX];
    struct applying a = {.fleet = f, .robot = r, .applied = w};
    const char *name = NULL;
    json_t *value = NULL;
    json_write_start(&a.refused, text, sizeof text, NULL, NULL);
    json_write_array(&a.refused, NULL);
    json_write_array(w, "applied");
    json_object_foreach(adjust, name, value) {
        apply_value(&a, name, adjusted_value(f, r, name, value));
    }
    json_object_foreach(values, name, value) {
        if (!json_object_get(adjust, name)) {
            apply_value(&a, name, value_of(f->options.kind, name, value));
        }
    }
    json_write_close(w);
    json_write_close(&a.refused);
    w->overflow = !json_write_end(&a.refused) || w->overflow;
    json_write_raw(w, "refused", text, a.refused.used);
}

/* Restores all of its own parameters. */
static void restore_values(const struct fleet *f, struct fleet_robot *r)
{
    for (size_t i = 0; i < f->options.kind->parameter_count; i++) {
        robot_set_parameter(f->options.kind, r->memory, i, r->parameters[i]);
    }
}

void fleet_apply_parameters(struct fleet *f, struct fleet_robot *r,
                            const struct message *message)
{
    char text[PAYLOAD_MAX];
    struct json_writer w;
    json_error_t error;
    json_t *document =
        json_loadb(message->payload, message->stored_bytes, JSON_REJECT_DUPLICATES, &error);
    const json_t *version = json_object_get(document, "version");
    json_t *values = json_object_get(document, "values");
    json_t *adjust = json_object_get(document, "adjust");
    if (!json_is_integer(version) || (values && !json_is_object(values)) ||
        (adjust && !json_is_object(adjust))) {
        complain("robot %s/%s: parameters: %s", f->pairs[r->pair], side_name(r->side),
                 document ? "a whole \"version\" and objects \"values\" and \"adjust\" "
                            "were expected"
                          : error.text);
        f->counts.malformed++;
    } else {
        if (json_integer_value(version) == 0 && json_object_size(values) == 0) {
            restore_values(f, r);
        }
        json_write_start(&w, text, sizeof text, NULL, NULL);
        JSON_OPEN(&w, NULL, JSON_WHOLE("version", json_integer_value(version)));
        apply_values(f, r, values, adjust, &w);
        if (json_object_size(adjust) > 0) {
            json_write_text(&w, "form", parameter_form_name(PARAMETERS_RELATIVE));
        }
        json_write_close(&w);
        (void)queue_word(f, r, "parameters/ack", 1, lab_clock_now_us(), &w);
    }
    json_decref(document);
}

/* --- pose -------------------------------------------------------------------------------- */

/* Returns why the pose cannot be set; NULL after setting it. */
static const char *refuse_pose(struct fleet *f, struct fleet_robot *r, const char *id,
                               const double pose[3])
{
    if (!f->options.kind->place) {
        return "the pose of this kind of robot cannot be set";
    }
    if (strcmp(id, r->answered) != 0) {
        return "it answered another command since";
    }
    const enum status status = f->options.kind->place(r->memory, pose);
    return status == STATUS_OK        ? NULL
           : status == STATUS_E_RANGE ? "an obstacle is there"
                                      : "it is in work";
}

void fleet_apply_pose(struct fleet *f, struct fleet_robot *r, const struct message *message)
{
    static const char *const names[] = {"x_m", "y_m", "psi_rad"};
    char text[PAYLOAD_MAX];
    struct json_writer w;
    json_int_t number = 0;
    double pose[3] = {0.0, 0.0, 0.0};
    json_t *document =
        json_loadb(message->payload, message->stored_bytes, JSON_REJECT_DUPLICATES, NULL);
    if (!document || json_unpack(document, "{s:I, s:F, s:F, s:F}", "correction", &number, "x_m",
                                 &pose[0], "y_m", &pose[1], "psi_rad", &pose[2]) != 0) {
        complain("robot %s/%s: pose: a whole \"correction\" and the numbers \"x_m\", \"y_m\" "
                 "and \"psi_rad\" were expected",
                 f->pairs[r->pair], side_name(r->side));
        f->counts.malformed++;
        json_decref(document);
        return;
    }
    const char *id = json_string_value(json_object_get(document, "id"));
    const char *why = refuse_pose(f, r, id ? id : "", pose);
    json_write_start(&w, text, sizeof text, NULL, NULL);
    JSON_OPEN(&w, NULL, JSON_WHOLE("correction", number));
    JSON_LIST(&w, "applied", size_t i = 0; !why && i < COUNT(names); i++) {
        json_write_text(&w, NULL, names[i]);
    }
    json_write_array(&w, "refused");
    if (why) {
        JSON_WRITE_OBJECT(&w, NULL, JSON("name", "pose"), JSON("reason", why));
    }
    json_write_close(&w);
    json_write_close(&w);
    (void)queue_word(f, r, "pose/ack", 1, lab_clock_now_us(), &w);
    json_decref(document);
}
