/* Any topics and payloads through every codec into a lab: what is decoded keeps to its limits,
 * what the lab makes of it can be written, and every command ends in one entry.
 *
 * An input is a row of messages, each "<flags><time><topic> <payload>", with a NUL between
 * them. flags: 1 + 2 QoS, 4 DUP, 8 retained. time: the n-th letter for a step of 4^n us ('J':
 * about a second), at most 67 s; in lower case back in time. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"
#include "logger/message/json_scan.h"
#include "logger/message/record_json.h"
#include "twin/lab.h"
#include "twin/report/pair_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_PAIRS = 2, FUZZ_TOPIC_BYTES = 128 };

static const char fuzz_prefix[] = "tandem/v1";

struct fuzz {
    struct pair_params params[FUZZ_PAIRS];
    struct lab_params lab_params;
    struct lab *lab;
    struct effects effects;
    uint64_t entries[FUZZ_PAIRS];
    uint64_t alarms[FUZZ_PAIRS];
    uint64_t changes[FUZZ_PAIRS];
    size_t emitted;
};

static void fuzz_json(const char *text, size_t bytes)
{
    struct json_scan s;
    json_scan_start(&s, text, bytes, JSON_SCAN_DEPTH_MAX);
    const bool whole = json_scan_skip(&s, NULL, NULL) && json_scan_finish(&s);
    assert(whole);
}

static void fuzz_writer(struct json_writer *w)
{
    static char text[2 * MESSAGE_PAYLOAD_MAX];
    json_write_start(w, text, sizeof text, NULL, NULL);
}

static void fuzz_written(struct json_writer *w, size_t bytes_max)
{
    const bool whole = json_write_end(w);
    assert(whole && w->used <= bytes_max);
    fuzz_json(w->text, w->used);
}

static void fuzz_effect(void *context, const struct effect *effect)
{
    struct fuzz *f = context;
    struct json_writer w;
    assert(effect->pair < FUZZ_PAIRS);
    const char *pair = f->params[effect->pair].id;
    fuzz_writer(&w);
    switch (effect->kind) {
    case EFFECT_ENTRY:
        assert(effect->entry->n == ++f->entries[effect->pair]);
        assert(effect->entry->verdict < VERDICT_COUNT);
        assert(effect->entry->consistency < CONSISTENCY_COUNT);
        entry_write_json(&w, NULL, effect->entry, pair);
        fuzz_written(&w, RECORD_JSON_MAX);
        break;
    case EFFECT_ALARM:
        assert(effect->alarm->n == ++f->alarms[effect->pair]);
        assert(effect->alarm->type < ALARM_TYPE_COUNT);
        alarm_write_json(&w, NULL, effect->alarm, pair);
        fuzz_written(&w, RECORD_JSON_MAX);
        break;
    case EFFECT_FIT:
    case EFFECT_FIDELITY:
    case EFFECT_ETA:
    case EFFECT_DYNAMICS:
        break;
    case EFFECT_LOG:
        event_write_json(&w, NULL, effect->event, 1);
        fuzz_written(&w, sizeof(char[2 * MESSAGE_PAYLOAD_MAX]));
        break;
    case EFFECT_COMMAND:
    case EFFECT_MISSION:
    case EFFECT_NOTICE:
    case EFFECT_REPLY:
    case EFFECT_PARAMETERS:
    case EFFECT_CONTROL:
    case EFFECT_POSE:
        fuzz_json(effect->payload.text, effect->payload.bytes);
        break;
    case EFFECT_CHANGE:
        assert(effect->change->n == ++f->changes[effect->pair]);
        parameters_report_change(&w, NULL, effect->change, pair, "fuzz");
        fuzz_written(&w, sizeof(char[2 * MESSAGE_PAYLOAD_MAX]));
        break;
    case EFFECT_PROBE:
        assert(effect->side < SIDE_COUNT);
        break;
    case EFFECT_CALIBRATION:
    case EFFECT_HISTORY:
    case EFFECT_TEAM:
    case EFFECT_RESPONSE:
    case EFFECT_RESULT:
    case EFFECT_KIND_COUNT:
        break;
    }
}

static void fuzz_axes(const double *axes, size_t count)
{
    assert(count <= EVENT_AXES_MAX);
    for (size_t i = 0; i < count; i++) {
        assert(isfinite(axes[i]));
    }
}

static void fuzz_reply(const struct event_reply *r)
{
    assert(r->status < REPLY_STATUS_COUNT);
    assert(r->value_count <= EVENT_VALUES_MAX);
    assert(r->raw_bytes <= MESSAGE_PAYLOAD_MAX);
    for (size_t i = 0; i < r->value_count; i++) {
        assert(memchr(r->values[i].name, '\0', EVENT_VALUE_NAME_MAX));
        assert(r->values[i].kind < VALUE_KIND_COUNT);
        assert(r->values[i].kind != VALUE_NUMBER || isfinite(r->values[i].number));
    }
}

/* The headers promise these ranges of an event. */
static void fuzz_limits(const struct event *e)
{
    assert(memchr(e->pair, '\0', sizeof e->pair));
    switch (e->kind) {
    case EVENT_COMMAND:
        assert(e->command.op[0] != '\0');
        assert(isfinite(e->command.rotation_rad) && isfinite(e->command.displacement_m));
        fuzz_json(e->command.raw, e->command.raw_bytes);
        break;
    case EVENT_REPLY:
        fuzz_reply(&e->reply);
        fuzz_json(e->reply.raw, e->reply.raw_bytes);
        break;
    case EVENT_TELEMETRY:
        fuzz_axes(e->telemetry.nu, e->telemetry.nu_count);
        fuzz_axes(e->telemetry.tau, e->telemetry.tau_count);
        fuzz_axes(e->telemetry.pose, e->telemetry.pose_count);
        break;
    case EVENT_MISSION:
        assert(memchr(e->mission.id, '\0', EVENT_ID_MAX));
        assert(memchr(e->mission.kind, '\0', sizeof e->mission.kind));
        fuzz_json(e->mission.raw, e->mission.raw_bytes);
        break;
    case EVENT_TEAM:
        assert(e->team.op < TEAM_OP_COUNT && e->team.resource_count <= EVENT_TEAM_WANT_MAX);
        assert(memchr(e->team.id, '\0', EVENT_ID_MAX));
        assert(memchr(e->team.robot, '\0', EVENT_TEAM_NAME_MAX));
        for (size_t i = 0; i < e->team.resource_count; i++) {
            assert(memchr(e->team.resources[i], '\0', EVENT_TEAM_NAME_MAX));
            assert(e->team.fences[i] >= 0);
        }
        break;
    case EVENT_FORECAST:
        assert(e->forecast->number > 0 && e->forecast->bar_count <= TEAM_FORECAST_BARS);
        assert(e->forecast->job_count <= TEAM_FORECAST_JOBS);
        assert(memchr(e->forecast->detail, '\0', sizeof e->forecast->detail));
        break;
    case EVENT_POSE_ACK:
    case EVENT_ACK:
        assert(e->ack.version >= 0);
        assert(e->ack.form >= 0 && e->ack.form <= PARAMETERS_FORM_COUNT);
        assert(memchr(e->ack.reason, '\0', sizeof e->ack.reason));
        break;
    case EVENT_REQUEST:
        assert(e->request.action < REQUEST_ACTION_COUNT);
        assert(memchr(e->request.by, '\0', sizeof e->request.by));
        assert(memchr(e->request.model, '\0', sizeof e->request.model));
        assert(e->request.side < SIDE_COUNT);
        break;
    case EVENT_FIT:
        assert(e->fit.job > 0 && e->fit.outcome < FIT_OUTCOME_COUNT && !e->fit.result);
        assert(e->side < SIDE_COUNT);
        assert(memchr(e->fit.detail, '\0', sizeof e->fit.detail));
        break;
    case EVENT_MALFORMED:
        assert(e->malformed.detail[0] != '\0');
        assert(memchr(e->malformed.detail, '\0', sizeof e->malformed.detail));
        break;
    case EVENT_FAULT:
        assert(e->fault.kind < FAULT_KIND_COUNT && e->side < SIDE_COUNT);
        assert(memchr(e->fault.detail, '\0', sizeof e->fault.detail));
        assert(memchr(e->fault.about, '\0', sizeof e->fault.about));
        break;
    case EVENT_NOTE:
        assert(e->note.kind < NOTE_KIND_COUNT && e->side < SIDE_COUNT);
        assert(memchr(e->note.detail, '\0', sizeof e->note.detail));
        break;
    case EVENT_ECHO:
        assert(e->echo.probe >= 0);
        break;
    case EVENT_SESSION:
        assert(e->session.away_us >= 0);
        break;
    case EVENT_VERSION:
        assert(e->side < SIDE_COUNT);
        break;
    case EVENT_CONNECTION:
    case EVENT_AWAY:
    case EVENT_START:
    case EVENT_STOP:
        break;
    case EVENT_TICK:
    case EVENT_KIND_COUNT:
        assert(0 && "a codec never emits these");
        break;
    }
}

static void fuzz_event(void *context, const struct event *event)
{
    struct fuzz *f = context;
    f->emitted++;
    fuzz_limits(event);
    lab_step(f->lab, event, &f->effects);
}

/* Parses "<flags><time><topic> <payload>" into *m; the time continues from *t_us. */
static void fuzz_message(const uint8_t *text, size_t bytes, int64_t *t_us, struct message *m)
{
    *m = (struct message){.t_us = *t_us, .payload = ""};
    if (bytes < 2) {
        return;
    }
    m->qos = text[0] & 3;
    m->qos -= m->qos == 3;
    m->dup = text[0] & 4;
    m->retained = text[0] & 8;
    const unsigned n = text[1] & 15U;
    const int64_t step_us = INT64_C(1) << 2 * (n < 13 ? n : 13);
    *t_us += text[1] & 32 ? -step_us : step_us;
    m->t_us = *t_us;
    const char *topic = (const char *)text + 2;
    const char *blank = memchr(topic, ' ', bytes - 2);
    const size_t topic_bytes = blank ? (size_t)(blank - topic) : bytes - 2;
    memcpy(m->topic, topic, topic_bytes < FUZZ_TOPIC_BYTES ? topic_bytes : FUZZ_TOPIC_BYTES);
    if (blank) {
        m->payload = blank + 1;
        m->stored_bytes = bytes - 3 - topic_bytes;
        m->payload_bytes = m->stored_bytes;
    }
}

static void fuzz_run(struct fuzz *f, const uint8_t *data, size_t size)
{
    int64_t t_us = INT64_C(1763617674000000);
    const uint8_t *at = data;
    const uint8_t *const end = data + size;
    while (at < end) {
        const uint8_t *nul = memchr(at, 0, (size_t)(end - at));
        const uint8_t *stop = nul ? nul : end;
        struct message m;
        fuzz_message(at, (size_t)(stop - at), &t_us, &m);
        f->emitted = 0;
        const size_t published = codec_decode(NULL, fuzz_prefix, &m, fuzz_event, f);
        assert(published == f->emitted);
        at = nul ? nul + 1 : end;
    }
}

/* The memory is allocated once: each lab starts in it. */
static void fuzz_start(struct fuzz *f)
{
    static void *memory;
    memset(f, 0, sizeof *f);
    lab_pair_defaults(&f->params[0], "r1");
    lab_pair_defaults(&f->params[1], "r2");
    f->params[0].mode = PAIR_LINK;
    f->params[0].record = PAIR_ALL;
    f->params[0].queue_max = 2;
    f->params[0].probe_interval_us = 1000000;
    f->params[1].outstanding_max = 3;
    f->lab_params = (struct lab_params){
        .pair_count = FUZZ_PAIRS, .pairs = f->params, .remember_max = DELIVERY_MIN};
    if (!memory) {
        memory = aligned_alloc(64, (lab_bytes(&f->lab_params) + 63) / 64 * 64);
        assert(memory);
    }
    f->lab = lab_init(memory, &f->lab_params);
    f->effects = (struct effects){fuzz_effect, f};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz f;
    fuzz_start(&f);
    fuzz_run(&f, data, size);
    lab_finish(f.lab, &f.effects);
    for (size_t i = 0; i < FUZZ_PAIRS; i++) {
        const struct pair *pair = lab_pair(f.lab, i);
        assert(pair->outstanding == 0 && pair->open_mask == 0);
        assert(pair->counts.entries == f.entries[i]);
        /* A command whose id is open already is an alarm and no entry. */
        assert(pair->counts.entries <= pair->counts.commands);
        assert(pair->counts.commands - pair->counts.entries <=
               pair->counts.alarm[ALARM_TYPE_DUPLICATE]);
    }
    return 0;
}
