/* service/daemon/effect_executor.c - stores and publishes the effects of the lab, in the
 * order in which lab_step() emits them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/codec_native.h"
#include "service/daemon/daemon_parts.h"
#include "service/replay/rows.h"
#include "service/tool/log.h"
#include "twin/report/following_report.h"
#include "twin/report/team_live_report.h"
#include "twin/report/team_report.h"
#include "twin/team/live/team_live_bars.h"
#include "twin/team/step/team_bars.h"

enum {
    PROBE_LATE_US = 1000000,
    QUEUE_WAIT_MS = 1000,     /* wait for room in the store's queue while restoring */
    QUEUE_ROWS_AHEAD = 16384, /* rows that may wait then */
    UNSTORED_SYNC = 16384     /* uncommitted records between two syncs */
};

/* Stands in for a pair's id. */
static const char LAB_ITSELF[] = "$lab";

static const char *pair_id(const struct daemon *d, uint32_t pair)
{
    const char *name = lab_name(&d->params, pair);
    return name ? name : LAB_ITSELF;
}

static void publish_rest(struct daemon *d, uint32_t pair, const char *rest, const char *payload,
                         size_t bytes, enum gateway_delivery delivery)
{
    const enum status status = gateway_send(d, rest, payload, bytes, delivery);
    if (status == STATUS_OK) {
        d->effect_executor.counts.published++;
    } else {
        d->effect_executor.counts.not_published++;
        /* The link's state is logged elsewhere, and parameters are sent again. */
        if (status != STATUS_E_STALE && delivery != GATEWAY_RETAINED) {
            log_write(LOG_NOT_PUBLISHED, pair_id(d, pair), "%s: %s",
                      rest + strlen(pair_id(d, pair)) + 1, status_name(status));
        }
    }
}

/* Publishes on "<pair>/<what>". */
static void publish_for(struct daemon *d, uint32_t pair, const char *what, const char *payload,
                        size_t bytes, enum gateway_delivery delivery)
{
    char rest[MESSAGE_TOPIC_MAX];
    (void)snprintf(rest, sizeof rest, "%s/%s", pair_id(d, pair), what);
    publish_rest(d, pair, rest, payload, bytes, delivery);
}

/* Publishes on a topic outside the prefix. */
static void publish_whole(struct daemon *d, const char *pair, const char *topic,
                          const char *payload, size_t bytes, enum gateway_delivery delivery)
{
    const enum status status = gateway_send_whole(d, topic, payload, bytes, delivery);
    d->effect_executor.counts.published += status == STATUS_OK;
    d->effect_executor.counts.not_published += status != STATUS_OK;
    if (status != STATUS_OK && status != STATUS_E_STALE) {
        log_write(LOG_NOT_PUBLISHED, pair, "%s: %s", topic, status_name(status));
    }
}

static void publish_message(struct daemon *d, uint32_t pair, const struct codec_message *m,
                            enum gateway_delivery delivery)
{
    if (m->whole) {
        publish_whole(d, pair_id(d, pair), m->topic, m->payload, m->bytes, delivery);
    } else {
        publish_rest(d, pair, m->topic, m->payload, m->bytes, delivery);
    }
}

/* Sends a message to the pair's robots and L1 in the format of its codec. */
static void send_out(struct daemon *d, uint32_t pair, enum codec_kind kind, enum side side,
                     const char *payload, size_t bytes, enum gateway_delivery delivery)
{
    struct codec_pair to;
    struct codec_message m;
    lab_codec_pair(d->lab, pair, &to);
    to.state = NULL; /* The state belongs to the lab. */
    const struct codec_out out = {.kind = kind,
                                  .pair = to.id,
                                  .side = side,
                                  .payload = payload,
                                  .bytes = bytes,
                                  .t_us = inbox_now_us(d->inbox),
                                  .to = &to};
    if (codec_encode(to.codec, &out, &m)) {
        publish_message(d, pair, &m, delivery);
    }
}

/* Sends an effect; the lab may have formatted the message already. */
static void send_effect(struct daemon *d, const struct effect *effect, enum codec_kind kind,
                        enum side side, enum gateway_delivery delivery)
{
    if (effect->message) {
        publish_message(d, effect->pair, effect->message, delivery);
    } else {
        send_out(d, effect->pair, kind, side, effect->payload.text, effect->payload.bytes,
                 delivery);
    }
}

/* Publishes a codec's own answer, on the lab thread while a line is decoded. */
static void send_answer(void *context, const char *pair, const char *topic, const char *payload,
                        size_t bytes)
{
    struct daemon *d = context;
    if (!d->effect_executor.live) {
        d->effect_executor.counts.held_back++;
        return;
    }
    publish_whole(d, pair, topic, payload, bytes, GATEWAY_ONCE);
}

static bool copy_time(void *context, const struct store_row *row)
{
    int64_t *t_us = context;
    *t_us = row->t_us;
    return false;
}

/* A store that cannot be read counts as empty: it accepts each row only once anyway. */
void effect_executor_open(struct daemon *d)
{
    d->gateway.answer = send_answer;
    for (int kind = 0; kind < STORE_KIND_COUNT; kind++) {
        d->effect_executor.newest_us[kind] = LAB_TIME_NONE;
    }
    if (store_reader_open(&d->store_params, &d->effect_executor.reader, NULL) != STATUS_OK) {
        d->effect_executor.reader = NULL;
        return;
    }
    if (standby_is_shared(d)) { /* rows are held, and compared when this daemon takes over */
        store_reader_close(d->effect_executor.reader);
        d->effect_executor.reader = NULL;
        return;
    }
    for (int kind = 0; kind < STORE_KIND_COUNT; kind++) {
        const struct store_query query = {.kind = (enum store_kind)kind,
                                          .since_us = INT64_MIN,
                                          .until_us = INT64_MAX,
                                          .newest_first = true,
                                          .limit = 1};
        char cursor[STORE_CURSOR_MAX];
        const enum status status =
            store_query(d->effect_executor.reader, &query, copy_time,
                        &d->effect_executor.newest_us[kind], cursor, NULL);
        (void)status;
    }
    store_reader_hold(d->effect_executor.reader, true);
}

/* ---- records ---- */

/* While the journal is read back, the previous run may have stored the row. */
static bool is_known(struct daemon *d, const struct store_row *row)
{
    bool holds = false;
    if (d->effect_executor.live || !d->effect_executor.reader) {
        return false;
    }
    if (row->t_us > d->effect_executor.newest_us[row->kind]) {
        store_reader_hold(d->effect_executor.reader,
                          false); /* many may be written from here on */
        return false;
    }
    const enum status status = store_holds(d->effect_executor.reader, row, &holds, NULL);
    return status == STATUS_OK && holds;
}

/* Counts a known row; nothing else happens to it. */
static bool pass_known(struct daemon *d, const struct store_row *row)
{
    const bool known = is_known(d, row);
    d->effect_executor.counts.known += known;
    return known;
}

/* Reading the journal back makes rows faster than the store commits them. Nobody waits for the
 * lab thread then, so it may wait for room, but not if the store cannot commit. */
static void wait_for_room(struct store_queue *queue)
{
    struct store_queue_stats s;
    store_queue_stats(queue, &s);
    if (s.waiting_rows > QUEUE_ROWS_AHEAD && !s.failing) {
        const enum status status = store_queue_flush(queue, QUEUE_WAIT_MS);
        (void)status;
    }
}

static void store_row(struct daemon *d, const struct store_row *row, const char *what)
{
    if (standby_is_shared(d) && !d->effect_executor.live) {
        struct store_row held = *row;
        held.seq = 0; /* the owner's numbers are others */
        const enum status status = store_queue_push(d->queue, &held);
        (void)status; /* a full queue drops its oldest rows, and reports that */
        return;
    }
    if (!d->effect_executor.live) {
        wait_for_room(d->queue);
    }
    if (store_queue_push(d->queue, row) != STATUS_OK) {
        log_write(LOG_STORE_FULL, row->pair, "%s %llu", what, (unsigned long long)row->n);
        if (++d->effect_executor.counts.not_stored % UNSTORED_SYNC == 0) {
            /* A failure shows in journal_stats(). */
            const enum status synced = journal_sync(d->journal, LAB_TIME_MAX);
            (void)synced;
        }
    }
}

static enum event_type type_of(const struct store_row *row)
{
    return row->kind == STORE_ENTRIES  ? EVENT_TYPE_ENTRY
           : row->kind == STORE_ALARMS ? EVENT_TYPE_ALARM
                                       : EVENT_TYPE_CHANGE;
}

static void emit_record(struct daemon *d, uint32_t pair, struct store_row *row,
                        const char *what)
{
    row->seq = d->events ? event_hub_number(d->events, type_of(row)) : 0;
    store_row(d, row, what);
    if (d->events) {
        /* the lab and its teams share the index after the pairs */
        const size_t pairs = d->params.pair_count;
        event_hub_publish(d->events, type_of(row), pair < pairs ? pair : pairs, row->seq,
                          row->json, row->json_bytes);
    }
    const bool goes_out = d->effect_executor.live || d->effect_executor.republishes;
    if (row->kind == STORE_ALARMS && goes_out) {
        alarm_webhook_offer(d->alarm_webhook, row->json, row->json_bytes);
    }
    const bool of_team =
        pair >= d->params.pair_count && pair < d->params.pair_count + d->params.team_count;
    if (of_team) { /* The team's own message carries this alarm to MQTT. */
        return;
    }
    if (!goes_out) {
        d->effect_executor.counts.held_back++;
    } else {
        publish_for(d, pair, what, row->json, row->json_bytes, GATEWAY_SURE);
    }
}

static void emit_entry(struct daemon *d, const struct effect *effect)
{
    const uint32_t pair = effect->pair;
    const struct entry *entry = effect->entry;
    struct record_row r;
    const struct store_row key = {.kind = STORE_ENTRIES,
                                  .pair = pair_id(d, pair),
                                  .t_us = entry->t_us,
                                  .id = entry->id,
                                  .type = verdict_name(entry->verdict)};
    log_write(LOG_ENTRY, key.pair, "%llu %s %s", (unsigned long long)entry->n, key.id,
              key.type);
    /* Most rows of a replayed journal are known: they are not even formatted as JSON. */
    if (!pass_known(d, &key)) {
        row_of_entry(&r, entry, key.pair);
        emit_record(d, pair, &r.row, "entry");
        capturer_offer(d->capturer, d->lab, effect);
    }
}

static void emit_alarm(struct daemon *d, const struct effect *effect)
{
    const struct alarm *alarm = effect->alarm;
    struct record_row r;
    row_of_alarm(&r, alarm, pair_id(d, effect->pair));
    if (d->effect_executor.live) {
        log_write(LOG_ALARM, r.row.pair, "%s %s%s%s", r.row.type, side_name(alarm->side),
                  alarm->side < SIDE_COUNT ? ": " : "", alarm->detail);
    }
    if (!pass_known(d, &r.row)) {
        emit_record(d, effect->pair, &r.row, "alarm");
        capturer_offer(d->capturer, d->lab, effect);
    }
}

static void emit_change(struct daemon *d, const struct effect *effect)
{
    struct large_row r;
    row_of_change(&r, effect->change, pair_id(d, effect->pair));
    if (d->effect_executor.live) {
        log_write(LOG_PARAMETERS, r.row.pair, "%s, version %u, by %s%s%s", r.row.type,
                  effect->change->version, effect->change->by,
                  effect->change->detail[0] ? ": " : "", effect->change->detail);
    }
    if (!pass_known(d, &r.row)) {
        emit_record(d, effect->pair, &r.row, "change");
    }
}

/* ---- fits for the history ------------------------------------------------------------ */

/* Nobody is notified of such a row: it only serves queries. */
static void store_new_row(struct daemon *d, const struct store_row *row, const char *what)
{
    if (!pass_known(d, row)) {
        store_row(d, row, what);
    }
}

/* Nobody waits for the lab thread while the journal is read back, so it computes missing fits
 * itself. */
static void restore_travel_fits(struct daemon *d, const struct effect *effect)
{
    const struct pair_params *p = lab_pair_params(d->lab, effect->pair);
    struct pair_fits fits;
    struct large_row r;
    bool known = true;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        known = known && is_known(d, &(struct store_row){.kind = STORE_FITS,
                                                         .pair = p->id,
                                                         .t_us = effect->t_us,
                                                         .id = side_name(s),
                                                         .type = ROW_TRAVEL_TIME});
    }
    if (known) {
        d->effect_executor.counts.known += SIDE_COUNT;
        return;
    }
    pair_fit_window(lab_pair(d->lab, effect->pair), p, &fits);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (row_of_travel_fit(&r, effect, s, &fits, p->id)) {
            store_new_row(d, &r.row, "fit");
        }
    }
}

static void emit_history(struct daemon *d, const struct effect *effect)
{
    struct large_row r;
    if (effect->side < SIDE_COUNT) {
        row_of_dynamics_fit(&r, effect, lab_dynamics(d->lab, effect->pair),
                            pair_id(d, effect->pair));
        store_new_row(d, &r.row, "fit");
    } else if (d->effect_executor.live) {
        pending_fits_add(d, effect);
    } else {
        restore_travel_fits(d, effect);
    }
}

/* Retained, so that a simulator that starts later finds them. Idempotent, so each start may
 * send them again. */
static void send_parameters(struct daemon *d, uint32_t pair, const char *payload, size_t bytes)
{
    send_out(d, pair, CODEC_PARAMETERS, SIDE_VIRTUAL, payload, bytes, GATEWAY_RETAINED);
}

static void send_active(struct daemon *d, uint32_t pair)
{
    char text[PAIR_PARAMETERS_MAX];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    const struct pair_dynamics *dynamics = lab_dynamics(d->lab, pair);
    const bool ever =
        pair_write_parameters(&w, lab_pair(d->lab, pair), lab_pair_params(d->lab, pair),
                              dynamics ? &dynamics->sets : NULL);
    if (ever && json_write_end(&w)) {
        send_parameters(d, pair, text, w.used);
    }
}

/* record: all - only for the store; MQTT clients received it already. */
static void emit_event(struct daemon *d, const struct effect *effect)
{
    struct record_row r;
    row_of_event(&r, effect->event, effect->n, pair_id(d, effect->pair));
    store_row(d, &r.row, "event");
}

/* ---- alarms of the lab --------------------------------------------------------------- */

void effect_executor_publish_alarms(struct daemon *d)
{
    struct alarm alarm;
    while (lab_alarm_next(d, &alarm)) {
        struct record_row r;
        /* No journal line numbers them, so their time is their number: unique in every run. */
        alarm.t_us = inbox_now_us(d->inbox);
        alarm.n = (uint64_t)alarm.t_us > d->effect_executor.last_alarm_n
                      ? (uint64_t)alarm.t_us
                      : d->effect_executor.last_alarm_n + 1;
        d->effect_executor.last_alarm_n = alarm.n;
        row_of_alarm(&r, &alarm, LAB_ITSELF);
        log_write(LOG_ALARM, r.row.pair, "%s: %s", r.row.type, alarm.detail);
        emit_record(d, (uint32_t)(d->params.pair_count + d->params.team_count), &r.row,
                    "alarm");
    }
}

/* ---- messages ------------------------------------------------------------------------ */

/* A command past its deadline would move a robot that nobody waits for. */
static void emit_command(struct daemon *d, const struct effect *effect)
{
    if (inbox_now_us(d->inbox) - effect->t_us >
        lab_pair_params(d->lab, effect->pair)->timeout_us) {
        d->effect_executor.counts.stale++;
        log_write(LOG_NOT_SENT, pair_id(d, effect->pair), "%s robot", side_name(effect->side));
        return;
    }
    send_effect(d, effect, CODEC_COMMAND, effect->side, GATEWAY_ONCE);
}

/* A late probe would measure a wrong round trip; a machine that slept has thousands. */
static void emit_probe(struct daemon *d, const struct effect *effect)
{
    if (inbox_now_us(d->inbox) - effect->t_us > PROBE_LATE_US) {
        d->effect_executor.counts.stale++;
        return;
    }
    char json[128];
    struct json_writer w;
    json_write_start(&w, json, sizeof json, NULL, NULL);
    native_write_probe(&w, effect->probe, effect->t_us); /* the pair remembers the time */
    if (json_write_end(&w)) {
        send_out(d, effect->pair, CODEC_PROBE, effect->side, json, w.used, GATEWAY_NOW);
    }
}

const double effect_executor_lateness_s[EFFECT_EXECUTOR_LATENESS - 1] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.1};

static size_t class_of(int64_t late_us)
{
    size_t class = 0;
    while (class < EFFECT_EXECUTOR_LATENESS - 1 &&
           lab_s(late_us) > effect_executor_lateness_s[class]) {
        class ++;
    }
    return class;
}

/* Measures the latency of a grant when its message is sent: a command to this pair, or an
 * answer. */
static void time_grant(struct daemon *d, uint32_t pair, int64_t t_us)
{
    struct effect_executor *o = &d->effect_executor;
    for (size_t k = 0; o->live && o->grant_us == t_us && k < o->grants_due; k++) {
        if (o->grant_pair[k] == pair) {
            const int64_t duration_us = inbox_now_us(d->inbox) - t_us;
            o->grant_pair[k] = o->grant_pair[--o->grants_due];
            o->counts.granted[class_of(duration_us)]++;
            o->counts.granted_s += lab_s(duration_us);
            return;
        }
    }
}

static void emit_message(struct daemon *d, const struct effect *effect)
{
    if (!d->effect_executor.live) {
        d->effect_executor.counts.held_back++;
    } else if (effect->kind == EFFECT_COMMAND) {
        emit_command(d, effect);
        time_grant(d, effect->pair, effect->t_us);
    } else if (effect->kind == EFFECT_PROBE) {
        emit_probe(d, effect);
    } else if (effect->kind == EFFECT_POSE) {
        send_effect(d, effect, CODEC_POSE, effect->side, GATEWAY_ONCE);
    } else if (effect->kind == EFFECT_MISSION) {
        if (d->events) {
            event_hub_publish(d->events, EVENT_TYPE_MISSION, effect->pair, 0,
                              effect->payload.text, effect->payload.bytes);
        }
        publish_for(d, effect->pair, "mission/status", effect->payload.text,
                    effect->payload.bytes, GATEWAY_SURE);
    } else {
        send_out(d, effect->pair, effect->kind == EFFECT_REPLY ? CODEC_REPLY : CODEC_NOTICE,
                 SIDE_COUNT, effect->payload.text, effect->payload.bytes, GATEWAY_SURE);
    }
}

/* An effort that is one period late is not sent, because its successor follows. */
static void emit_control(struct daemon *d, const struct effect *effect)
{
    const struct pair_following_params *f = lab_pair_params(d->lab, effect->pair)->following;
    const int64_t late_us = inbox_now_us(d->inbox) - effect->t_us;
    if (!d->effect_executor.live) {
        d->effect_executor.counts.held_back++;
        return;
    }
    d->effect_executor.counts.late[class_of(late_us)]++;
    if ((double)late_us * (effect->side == SIDE_REAL ? MISSION_EFFORT_HZ : f->rate_hz) > 1e6) {
        d->effect_executor.counts.overruns++;
        return;
    }
    send_effect(d, effect, CODEC_CONTROL, effect->side, GATEWAY_NOW);
}

static void emit_fidelity(struct daemon *d, const struct effect *effect)
{
    char text[FOLLOWING_REPORT_MAX];
    struct json_writer w;
    if (!d->effect_executor.live) {
        return;
    }
    json_write_start(&w, text, sizeof text, NULL, NULL);
    fidelity_report_write(&w, NULL, lab_following(d->lab, effect->pair),
                          lab_pair_params(d->lab, effect->pair));
    if (json_write_end(&w)) {
        if (d->events) {
            event_hub_publish(d->events, EVENT_TYPE_FIDELITY, effect->pair, 0, text, w.used);
        }
        publish_for(d, effect->pair, "fidelity", text, w.used, GATEWAY_NOW);
    }
}

/* A forecast is useless after the command's deadline, and the broker must not keep it longer.
 */
static void send_eta(struct daemon *d, uint32_t pair, const char *text, size_t bytes)
{
    char rest[MESSAGE_TOPIC_MAX];
    const double timeout_s = lab_s(lab_pair_params(d->lab, pair)->timeout_us);
    (void)snprintf(rest, sizeof rest, "%s/eta", pair_id(d, pair));
    const enum status status =
        gateway_send_expiring(d, rest, text, bytes, 1 + (uint32_t)fmin(timeout_s, 1e9));
    d->effect_executor.counts.published += status == STATUS_OK;
    d->effect_executor.counts.not_published += status != STATUS_OK;
}

/* Messages of the last run are of commands that have ended since. */
static void send_first_eta(struct daemon *d, uint32_t pair)
{
    const struct pair_params *p = lab_pair_params(d->lab, pair);
    char text[PAIR_ETA_MAX];
    struct json_writer w;
    if (p->forecast_publish == PAIR_FORECAST_NONE) {
        return;
    }
    json_write_start(&w, text, sizeof text, NULL, NULL);
    pair_write_eta(&w, lab_pair(d->lab, pair), p, lab_time(d->lab));
    if (json_write_end(&w)) {
        send_eta(d, pair, text, w.used);
    }
}

/* ---- teams --------------------------------------------------------------------------- */

/* The bars that an effect ends, by number. A robot ends one at a meeting. */
struct bars_ended {
    struct daemon *d;
    size_t team;
    const struct team_params *p;
    uint64_t n;
};

static void store_bar(void *context, const struct bar *bar)
{
    struct bars_ended *ended = context;
    struct record_row r;
    struct bar predicted = *bar;
    team_live_predict_bar(lab_team(ended->d->lab, ended->team), ended->p, &predicted);
    row_of_bar(&r, &predicted, ended->p->name, ended->n++);
    store_new_row(ended->d, &r.row, "bar");
}

/* Streams what a team did or achieved to HTTP clients; what: "effect" or "result". It belongs
 * to the lab, because a team is no pair. */
static void stream_team(struct daemon *d, const struct team_params *p, const char *what,
                        const char *json, size_t bytes)
{
    const size_t size = bytes + sizeof(struct team_params);
    char *text = d->events ? malloc(size) : NULL;
    if (text) {
        const size_t used =
            JSON_FORMAT(text, size, JSON("team", p->name), JSON_RAW(what, json, bytes));
        event_hub_publish(d->events, EVENT_TYPE_TEAM, d->params.pair_count, 0, text, used);
        free(text);
    }
}

/* Streams only steps that others wait for or a person would watch. */
static bool is_streamed(enum team_effect_kind kind)
{
    return kind == TEAM_GRANT || kind == TEAM_FREED || kind == TEAM_ALARM ||
           kind == TEAM_ERROR || kind == TEAM_JOB || kind == TEAM_ASSIGN || kind == TEAM_FINISH;
}

static uint32_t pair_of(const struct daemon *d, uint32_t team, uint16_t robot)
{
    const size_t i = team - d->params.pair_count;
    return team_live_robot(lab_team(d->lab, i), lab_team_params(d->lab, i), robot)->pair;
}

static void record_grant(struct daemon *d, uint32_t team, const struct team_effect *effect)
{
    struct effect_executor *o = &d->effect_executor;
    if (effect->kind != TEAM_GRANT || effect->waited_us == 0) {
        return;
    }
    o->grants_due = o->grant_us == effect->t_us ? o->grants_due : 0;
    o->grant_us = effect->t_us;
    if (o->grants_due < EFFECT_EXECUTOR_GRANTS) {
        o->grant_pair[o->grants_due++] = pair_of(d, team, effect->robot);
    }
}

/* Team alarms are published on the alarm topic, too, in their own format. */
static void emit_team(struct daemon *d, const struct effect *effect)
{
    const size_t team = effect->pair - d->params.pair_count;
    const struct team_params *p = lab_team_params(d->lab, team);
    const struct team_effect *e = effect->team.effect;
    struct json_writer w;
    struct bars_ended ended = {d, team, p, effect->team.n * TEAM_ROBOTS_MAX};
    record_grant(d, effect->pair, e);
    team_bars_ended(p, e, store_bar, &ended);
    if (!d->effect_executor.live) {
        d->effect_executor.counts.held_back++;
        return;
    }
    char *text = malloc(TEAM_LIVE_EFFECT_MAX);
    if (!text) {
        return;
    }
    json_write_start(&w, text, TEAM_LIVE_EFFECT_MAX, NULL, NULL);
    team_report_effect(&w, NULL, p, e, TEAM_TIME_S);
    if (json_write_end(&w)) {
        publish_for(d, effect->pair, "event", text, w.used, GATEWAY_SURE);
        if (e->kind == TEAM_ALARM) {
            publish_for(d, effect->pair, "alarm", text, w.used, GATEWAY_SURE);
        }
        if (is_streamed(e->kind)) {
            stream_team(d, p, "effect", text, w.used);
        }
    }
    free(text);
}

static void emit_response(struct daemon *d, const struct effect *effect)
{
    char text[TEAM_LIVE_RESPONSE_MAX];
    struct json_writer w;
    if (!d->effect_executor.live) {
        d->effect_executor.counts.held_back++;
        return;
    }
    json_write_start(&w, text, sizeof text, NULL, NULL);
    team_live_report_response(&w, lab_team_params(d->lab, effect->pair - d->params.pair_count),
                              effect->response);
    if (json_write_end(&w)) {
        publish_for(d, effect->pair, "response", text, w.used, GATEWAY_SURE);
        if (effect->message) { /* also in the robot's own format */
            publish_message(d, effect->pair, effect->message, GATEWAY_SURE);
        }
        if (effect->response->grant == TEAM_LIVE_GRANTED) {
            time_grant(d, pair_of(d, effect->pair, effect->response->robot), effect->t_us);
        }
    }
}

/* Publishes the result of a course or of one of its jobs. */
static void emit_result(struct daemon *d, const struct effect *effect)
{
    char text[1024];
    struct json_writer w;
    if (!d->effect_executor.live) {
        d->effect_executor.counts.held_back++;
        return;
    }
    json_write_start(&w, text, sizeof text, NULL, NULL);
    const struct team_params *p = lab_team_params(d->lab, effect->pair - d->params.pair_count);
    team_live_report_result(&w, NULL, p, effect->result.what, effect->result.job);
    if (json_write_end(&w)) {
        stream_team(d, p, "result", text, w.used);
        /* The last course's result is retained at the broker. */
        publish_for(d, effect->pair, "result", text, w.used,
                    effect->result.job ? GATEWAY_SURE : GATEWAY_RETAINED);
    }
}

/* Results need a journal line of their time before them; one line per tick is enough. Control
 * efforts and probes leave no record and are useless later, so they need none. While the
 * journal cannot be written nothing is sent: the next run would not know of it and would send
 * it again. */
static void write_time(struct daemon *d, enum effect_kind kind)
{
    struct effect_executor *o = &d->effect_executor;
    if (!o->live || kind == EFFECT_CONTROL || kind == EFFECT_PROBE || kind == EFFECT_FIDELITY ||
        kind == EFFECT_ETA) {
        return;
    }
    if (d->thread.no_line) {
        d->thread.no_line = false;
        inbox_write_time(d->inbox, lab_time(d->lab));
        o->may_owe = true;
    }
    if (o->may_owe || !inbox_is_placed(d->inbox)) {
        o->may_owe = inbox_owes(d->inbox);
        if (o->may_owe) {
            mqtt_client_hold(gateway_client(d), "the journal cannot be written");
        }
    }
}

void effect_executor_emit(void *context, const struct effect *effect)
{
    struct daemon *d = context;
    if (!standby_is_shared(d)) { /* else each deadline has a line already */
        write_time(d, effect->kind);
    }
    d->effect_executor.counts.effects[effect->kind]++;
    switch (effect->kind) {
    case EFFECT_ENTRY:
        emit_entry(d, effect);
        break;
    case EFFECT_ALARM:
        emit_alarm(d, effect);
        break;
    case EFFECT_COMMAND:
    case EFFECT_REPLY:
    case EFFECT_MISSION:
    case EFFECT_NOTICE:
    case EFFECT_PROBE:
    case EFFECT_POSE:
        emit_message(d, effect);
        break;
    case EFFECT_CALIBRATION:
        result_publisher_offer(d, RESULT_TRAVEL_TIME, effect->pair);
        break;
    case EFFECT_HISTORY:
        emit_history(d, effect);
        break;
    case EFFECT_CHANGE:
        emit_change(d, effect);
        break;
    case EFFECT_PARAMETERS:
        if (d->effect_executor.live) {
            send_parameters(d, effect->pair, effect->payload.text, effect->payload.bytes);
        }
        break;
    case EFFECT_CONTROL:
        emit_control(d, effect);
        break;
    case EFFECT_FIDELITY:
        emit_fidelity(d, effect);
        break;
    case EFFECT_ETA:
        if (d->effect_executor.live) {
            send_eta(d, effect->pair, effect->payload.text, effect->payload.bytes);
        }
        break;
    case EFFECT_FIT:
        if (d->effect_executor.live) {
            fits_begin(d->fits, effect->pair, effect->side);
        }
        break;
    case EFFECT_DYNAMICS:
        result_publisher_offer(d, RESULT_DYNAMICS, effect->pair);
        break;
    case EFFECT_LOG:
        emit_event(d, effect);
        break;
    case EFFECT_TEAM:
        emit_team(d, effect);
        break;
    case EFFECT_RESPONSE:
        emit_response(d, effect);
        break;
    case EFFECT_RESULT:
        emit_result(d, effect);
        break;
    case EFFECT_KIND_COUNT:
        break;
    }
}

void effect_executor_go_live(struct daemon *d)
{
    d->effect_executor.live = true;
    for (size_t i = 0; i < d->params.pair_count; i++) {
        send_active(d, (uint32_t)i);
        send_first_eta(d, (uint32_t)i);
        if (lab_dynamics(d->lab, i)) {
            result_publisher_offer(d, RESULT_DYNAMICS, (uint32_t)i);
        }
    }
    fits_go_live(d->fits);
    const struct effects effects = {.emit = effect_executor_emit, .context = d};
    lab_repeat_commands(d->lab, &effects);
    store_reader_close(d->effect_executor.reader);
    d->effect_executor.reader = NULL;
}
