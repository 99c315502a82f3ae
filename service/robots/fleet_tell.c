/* What the fleet says: messages that wait until their transport delay is over. */
#include "service/robots/fleet_tell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/hash.h"
#include "logger/message/codec_native.h"

enum { MACHINES_BYTES = 8192, REFUSED_MAX = 16 };

#define MACHINES_AGAIN_US (INT64_C(10) * 1000000) /* tell them again, changed or not */

/* --- the outbox: a heap by time ---------------------------------------------------------- */

enum status fleet_outbox_create(struct fleet *f)
{
    f->outbox_max = FLEET_OUTBOX_MIN + FLEET_OUTBOX_EACH * f->robot_count;
    f->slots = calloc(f->outbox_max, sizeof *f->slots);
    f->heap = calloc(f->outbox_max, sizeof *f->heap);
    f->unused = calloc(f->outbox_max, sizeof *f->unused);
    if (!f->slots || !f->heap || !f->unused) {
        return STATUS_E_NOMEM;
    }
    for (size_t i = 0; i < f->outbox_max; i++) {
        f->unused[i] = (uint32_t)i;
    }
    return STATUS_OK;
}

void fleet_outbox_destroy(struct fleet *f)
{
    free(f->slots);
    free(f->heap);
    free(f->unused);
}

static bool is_before(const struct fleet *f, size_t a, size_t b)
{
    const struct outgoing *x = &f->slots[f->heap[a]];
    const struct outgoing *y = &f->slots[f->heap[b]];
    return x->due_us != y->due_us ? x->due_us < y->due_us : x->number < y->number;
}

static void swap_in_heap(struct fleet *f, size_t a, size_t b)
{
    const uint32_t slot = f->heap[a];
    f->heap[a] = f->heap[b];
    f->heap[b] = slot;
}

static void rise_in_heap(struct fleet *f, size_t i)
{
    while (i > 0 && is_before(f, i, (i - 1) / 2)) {
        swap_in_heap(f, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void sink_in_heap(struct fleet *f)
{
    size_t i = 0;
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++) {
            if (child < f->outbox_count && is_before(f, child, least)) {
                least = child;
            }
        }
        if (least == i) {
            return;
        }
        swap_in_heap(f, i, least);
        i = least;
    }
}

int64_t fleet_outbox_due_us(const struct fleet *f)
{
    return f->outbox_count > 0 ? f->slots[f->heap[0]].due_us : LAB_TIME_MAX;
}

static void send_message(struct fleet *f, const struct outgoing *out)
{
    static const char *const words[OUT_COUNT] = {"reply", "telemetry", "echo",
                                                 "parameters/ack"};
    char topic[MESSAGE_TOPIC_MAX];
    const int qos = out->kind == OUT_REPLY || out->kind == OUT_ACK ? 1 : 0;
    fleet_topic(f, &f->robots[out->robot], words[out->kind], topic);
    if (mqtt_client_publish(f->session.client, topic, out->payload, out->bytes, qos, false) !=
        STATUS_OK) {
        f->counts.dropped++;
    }
}

void fleet_send_due(struct fleet *f, int64_t now_us)
{
    while (fleet_outbox_due_us(f) <= now_us) {
        const uint32_t slot = f->heap[0];
        send_message(f, &f->slots[slot]);
        f->outbox_count--;
        f->heap[0] = f->heap[f->outbox_count];
        f->unused[f->outbox_count] = slot;
        sink_in_heap(f);
    }
}

/* Begin a message that is said at a lab time; it leaves when its transport is over. NULL when
 * the outbox is full. */
static struct outgoing *begin_message(struct fleet *f, uint32_t robot, enum outgoing_kind kind,
                                      int64_t said_us, struct json_writer *w)
{
    struct fleet_robot *r = &f->robots[robot];
    if (f->outbox_count == f->outbox_max) {
        f->counts.dropped++;
        return NULL;
    }
    struct outgoing *out = &f->slots[f->unused[f->outbox_count]];
    double delay_s = f->options.delay_s;
    if (f->options.jitter_s > 0.0) {
        delay_s += random_exponential(&r->random, f->options.jitter_s);
    }
    const int64_t due_us = said_us + lab_us(delay_s);
    out->kind = kind;
    out->robot = robot;
    out->due_us = due_us > r->last_due_us ? due_us : r->last_due_us;
    json_write_start(w, out->payload, sizeof out->payload, NULL, NULL);
    return out;
}

static bool end_message(struct fleet *f, struct outgoing *out, struct json_writer *w)
{
    if (!json_write_end(w)) {
        f->counts.dropped++;
        return false;
    }
    out->bytes = w->used;
    out->number = f->outbox_number++;
    f->robots[out->robot].last_due_us = out->due_us;
    f->heap[f->outbox_count] = f->unused[f->outbox_count];
    rise_in_heap(f, f->outbox_count++);
    return true;
}

/* --- replies, telemetry, echoes ---------------------------------------------------------- */

static bool tells_simulated_time(const struct fleet *f)
{
    return fabs(f->options.pace - 1.0) > 0.0;
}

/* native_write() and, for people, why: the last member of the object. */
static void write_reply(struct json_writer *w, const struct event_reply *reply,
                        const char *detail)
{
    struct json_writer more;
    native_write(w, EVENT_REPLY, reply);
    if (!detail[0] || !json_write_end(w)) {
        return;
    }
    char *brace = w->text + w->used - 1; /* {"status":…} and {"detail":…} become one */
    json_write_start(&more, brace, w->capacity - w->used + 1, NULL, NULL);
    json_write_object(&more, NULL);
    json_write_text(&more, "detail", detail);
    json_write_close(&more);
    *brace = ',';
    w->overflow = !json_write_end(&more);
    w->used += more.used - 1;
}

void fleet_tell_reply(struct fleet *f, uint32_t robot, const struct robot_reply *reply)
{
    struct fleet_robot *r = &f->robots[robot];
    const int64_t end_us = fleet_lab_us(f, reply->end_us);
    struct event_reply e = {.status = reply->status,
                            .source_us = fleet_clock_us(f, r, end_us),
                            .source_start_us =
                                fleet_clock_us(f, r, fleet_lab_us(f, reply->start_us)),
                            .has_sim = tells_simulated_time(f),
                            .sim_us = reply->end_us - f->start_us,
                            .value_count = reply->value_count};
    (void)snprintf(e.id, sizeof e.id, "%s", reply->id);
    for (size_t i = 0; i < reply->value_count; i++) {
        (void)snprintf(e.values[i].name, sizeof e.values[i].name, "%s", reply->values[i].name);
        e.values[i].is_number = true;
        e.values[i].number = reply->values[i].number;
    }
    if (random_between(&r->random, 0.0, 1.0) < f->options.loss_ratio) {
        f->counts.lost++;
        return;
    }
    const bool twice = random_between(&r->random, 0.0, 1.0) < f->options.duplicate_ratio;
    for (int i = 0; i < (twice ? 2 : 1); i++) {
        struct json_writer w;
        struct outgoing *out = begin_message(f, robot, OUT_REPLY, end_us, &w);
        if (out) {
            write_reply(&w, &e, reply->detail);
            (void)end_message(f, out, &w);
        }
    }
    f->counts.duplicated += twice;
    f->counts.replies++;
}

void fleet_tell_telemetry(struct fleet *f, uint32_t robot)
{
    struct fleet_robot *r = &f->robots[robot];
    struct robot_sample s;
    struct json_writer w;
    f->options.kind->sample(r->memory, &s);
    const int64_t said_us = fleet_lab_us(f, s.t_us);
    struct event_telemetry t = {.source_us = fleet_clock_us(f, r, said_us),
                                .seq = r->telemetry_seq++,
                                .has_sim = tells_simulated_time(f),
                                .sim_us = s.t_us - f->start_us,
                                .nu_count = s.nu_count,
                                .tau_count = s.tau_count,
                                .pose_count = s.pose_count};
    (void)snprintf(t.boot, sizeof t.boot, "%s", r->boot);
    memcpy(t.nu, s.nu, sizeof t.nu);
    memcpy(t.tau, s.tau, sizeof t.tau);
    memcpy(t.pose, s.pose, sizeof t.pose);
    struct outgoing *out = begin_message(f, robot, OUT_TELEMETRY, said_us, &w);
    if (out) {
        native_write(&w, EVENT_TELEMETRY, &t);
        (void)end_message(f, out, &w);
    }
}

void fleet_tell_echo(struct fleet *f, uint32_t robot, const struct incoming *in, int64_t now_us)
{
    const struct fleet_robot *r = &f->robots[robot];
    const struct event_echo echo = {.probe = in->probe,
                                    .sent_us = in->sent_us,
                                    .source_received_us = fleet_clock_us(f, r, in->arrival_us),
                                    .source_us = fleet_clock_us(f, r, now_us)};
    struct json_writer w;
    struct outgoing *out = begin_message(f, robot, OUT_ECHO, now_us, &w);
    if (out) {
        native_write(&w, EVENT_ECHO, &echo);
        f->counts.echoes += end_message(f, out, &w);
    }
}

/* --- presence ---------------------------------------------------------------------------- */

void fleet_write_presence(const struct fleet_robot *r, bool online, char text[128])
{
    struct event_connection connection = {.online = online, .source_us = LAB_TIME_NONE};
    struct json_writer w;
    (void)snprintf(connection.boot, sizeof connection.boot, "%s", r->boot);
    json_write_start(&w, text, 127, NULL, NULL);
    native_write(&w, EVENT_CONNECTION, &connection);
    (void)json_write_end(&w);
    text[w.used] = '\0';
}

void fleet_tell_presence(struct fleet *f, const struct fleet_robot *r, bool online)
{
    char text[128];
    char topic[MESSAGE_TOPIC_MAX];
    fleet_write_presence(r, online, text);
    fleet_topic(f, r, "connection", topic);
    if (mqtt_client_publish(f->session.client, topic, text, strlen(text), 1, true) !=
        STATUS_OK) {
        f->counts.dropped++;
    }
}

/* --- machines ---------------------------------------------------------------------------- */

static void write_machine(const struct fleet *f, const struct fleet_robot *r,
                          const struct robot_machine *machine, struct json_writer *w)
{
    const struct efsm_table *table = machine->table;
    json_write_object(w, table->name);
    json_write_text(w, "state", efsm_state_name(table, machine->m->state));
    json_write_seconds(w, "since",
                       fleet_clock_us(f, r, fleet_lab_us(f, machine->m->entered_us)));
    for (size_t k = 0; k < table->cell_count; k++) {
        json_write_real(w, table->cells[k], machine->m->cell[k]);
    }
    json_write_object(w, "visits");
    for (size_t k = 0; k < table->state_count; k++) {
        json_write_int(w, table->states[k].name, machine->stats->visits[k]);
    }
    json_write_close(w);
    json_write_object(w, "stay_s");
    for (size_t k = 0; k < table->state_count; k++) {
        json_write_seconds(w, table->states[k].name, machine->stats->stay_us[k]);
    }
    json_write_close(w);
    json_write_int(w, "faults", machine->stats->faults);
    json_write_close(w);
}

static void write_machines(const struct fleet *f, const struct fleet_robot *r,
                           const struct robot_machine *machines, size_t count, int64_t now_us,
                           struct json_writer *w)
{
    json_write_object(w, NULL);
    json_write_seconds(w, "t", fleet_clock_us(f, r, now_us));
    json_write_text(w, "boot", r->boot);
    json_write_text(w, "kind", f->options.kind->name);
    for (size_t i = 0; i < count; i++) {
        write_machine(f, r, &machines[i], w);
    }
    json_write_object(w, "executive");
    json_write_real(w, "period_s", lab_s(f->period_us));
    json_write_real(w, "pace", f->options.pace);
    json_write_int(w, "periods", (int64_t)f->executive.periods);
    json_write_int(w, "overruns", (int64_t)f->executive.overruns);
    json_write_close(w);
    json_write_close(w);
}

void fleet_tell_machines(struct fleet *f, uint32_t robot, int64_t now_us)
{
    struct fleet_robot *r = &f->robots[robot];
    const struct robot_kind *kind = f->options.kind;
    struct robot_machine machines[ROBOT_MACHINES_MAX];
    uint64_t mark = HASH_START;
    if (!kind->machines || now_us < r->machines_us) {
        return;
    }
    /* Only the first's entries count: a lidar that reads all the time is no news. */
    const size_t count = kind->machines(r->memory, machines);
    mark = hash_bytes(mark, &machines[0].m->state, sizeof machines[0].m->state);
    mark = hash_bytes(mark, machines[0].stats->visits, sizeof machines[0].stats->visits);
    const int64_t rest_us = lab_us(1.0 / f->options.machines_hz);
    if (mark == r->machines_mark && now_us < r->machines_us + MACHINES_AGAIN_US) {
        return;
    }
    char text[MACHINES_BYTES];
    char topic[MESSAGE_TOPIC_MAX];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    write_machines(f, r, machines, count, now_us, &w);
    fleet_topic(f, r, "machines", topic);
    r->machines_mark = mark;
    r->machines_us = now_us + rest_us;
    if (!json_write_end(&w) ||
        mqtt_client_publish(f->session.client, topic, text, w.used, 0, true) != STATUS_OK) {
        f->counts.dropped++;
    }
}

/* --- parameters -------------------------------------------------------------------------- */

/* Index of the value among the kind's words or as a number; NaN when it is neither. */
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

static void restore_parameters(struct fleet *f, struct fleet_robot *r)
{
    for (size_t i = 0; i < f->options.kind->parameter_count; i++) {
        robot_set_parameter(f->options.kind, r->memory, i, r->parameters[i]);
    }
}

/* Writes "applied" and "refused" while it applies. */
static void apply_values(struct fleet *f, struct fleet_robot *r, json_t *values,
                         struct json_writer *w)
{
    const struct robot_kind *kind = f->options.kind;
    struct {
        const char *name;
        char reason[ROBOT_REASON_MAX];
    } refused[REFUSED_MAX];
    size_t refused_count = 0;
    const char *name = NULL;
    json_t *value = NULL;
    json_write_array(w, "applied");
    json_object_foreach(values, name, value)
    {
        char reason[ROBOT_REASON_MAX] = "";
        if (robot_set(kind, r->memory, name, value_of(kind, name, value), reason) ==
            STATUS_OK) {
            json_write_text(w, NULL, name);
            f->counts.applied++;
            continue;
        }
        f->counts.refused++;
        if (refused_count < REFUSED_MAX) {
            refused[refused_count].name = name;
            memcpy(refused[refused_count++].reason, reason, sizeof reason);
        }
    }
    json_write_close(w);
    json_write_array(w, "refused");
    for (size_t i = 0; i < refused_count; i++) {
        json_write_object(w, NULL);
        json_write_text(w, "name", refused[i].name);
        json_write_text(w, "reason", refused[i].reason);
        json_write_close(w);
    }
    json_write_close(w);
}

void fleet_apply_parameters(struct fleet *f, uint32_t robot, const struct incoming *in,
                            int64_t now_us)
{
    struct fleet_robot *r = &f->robots[robot];
    json_error_t error;
    json_t *document = json_loadb(in->text, in->text_bytes, JSON_REJECT_DUPLICATES, &error);
    const json_t *version = json_object_get(document, "version");
    json_t *values = json_object_get(document, "values");
    struct json_writer w;
    struct outgoing *out = NULL;
    if (!json_is_integer(version) || (values && !json_is_object(values))) {
        (void)fprintf(stderr, "tandem: robot %s/%s: parameters: %s\n", f->pairs[r->pair],
                      side_name(r->side),
                      document ? "a whole \"version\" and an object \"values\" were expected"
                               : error.text);
        f->counts.malformed++;
    } else {
        out = begin_message(f, robot, OUT_ACK, now_us, &w);
    }
    if (out) {
        if (json_integer_value(version) == 0 && json_object_size(values) == 0) {
            restore_parameters(f, r);
        }
        json_write_object(&w, NULL);
        json_write_int(&w, "version", json_integer_value(version));
        apply_values(f, r, values, &w);
        json_write_close(&w);
        (void)end_message(f, out, &w);
    }
    json_decref(document);
}
