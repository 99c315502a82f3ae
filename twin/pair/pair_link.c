/* twin/pair/pair_link.c - link mode: sends L1's commands to both robots and merges their
 * replies. */
#include <stdio.h>
#include <string.h>

#include "logger/message/json_write.h"
#include "logger/message/message.h"
#include "logger/message/record_json.h"
#include "twin/pair/pair_run.h"

enum {
    MERGED_MORE_MAX = 6 * (ENTRY_DIFFERS_MAX + EVENT_ID_MAX) + 64, /* bytes, all escaped */
    NOTICE_MAX = 6 * (ENTRY_DIFFERS_MAX + EVENT_ID_MAX) + 128,
    REFUSAL_MAX = 6 * (ENTRY_DIFFERS_MAX + EVENT_ID_MAX) + 128
};

static void emit_reply(const struct pair_run *run, const char *id, enum reply_status status,
                       enum side from, const char *text, size_t bytes)
{
    pair_emit(run, (struct effect){.kind = EFFECT_REPLY,
                                   .side = SIDE_COUNT,
                                   .payload = {text, bytes, id, status, from}});
}

void pair_link_expect(const struct pair *pair, const struct pair_params *p,
                      bool expected[SIDE_COUNT])
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const struct pair_side *side = &pair->side[s];
        expected[s] = p->expected[s] == PAIR_ALWAYS ||
                      (p->expected[s] == PAIR_AUTO && (!side->known || side->online));
    }
    if (!expected[SIDE_REAL] && !expected[SIDE_VIRTUAL]) {
        /* No robot is connected. The command is sent nevertheless: a robot with a session at
         * the broker gets it when it returns, and otherwise the timeouts report it. */
        expected[SIDE_REAL] = p->expected[SIDE_REAL] != PAIR_NEVER;
        expected[SIDE_VIRTUAL] = p->expected[SIDE_VIRTUAL] != PAIR_NEVER;
        expected[SIDE_REAL] = expected[SIDE_REAL] || !expected[SIDE_VIRTUAL];
    }
}

static struct pair_relay *relay_of(const struct pair_run *run, const struct pair_slot *slot)
{
    return (struct pair_relay *)(void *)(pair_slot_at(run->pair, slot->place) + 1);
}

const struct pair_relay *pair_relay(const struct pair *pair, int k)
{
    return (const struct pair_relay *)(const void *)(pair_look_slot(pair, k) + 1);
}

void pair_link_open(const struct pair_run *run, const struct pair_slot *slot)
{
    const struct event_command *c = &run->event->command;
    struct pair_relay *relay = relay_of(run, slot);
    memset(relay, 0, sizeof *relay);
    efsm_reset(&link_table, &relay->link, run->t_us);
    if (c->raw_bytes > 0) {
        memcpy(relay->raw, c->raw, c->raw_bytes);
    }
    relay->raw_bytes = (uint16_t)c->raw_bytes;
}

static bool is_waiting(const struct pair_run *run, const struct pair_slot *slot, enum side side)
{
    (void)run;
    return slot->expected[side] && !slot->sent[side];
}

uint32_t pair_link_waiting(const struct pair_run *run, enum side side)
{
    uint32_t count = 0;
    for (int k = -1; pair_next_open(run->pair, &k);) {
        count += is_waiting(run, pair_look_slot(run->pair, k), side);
    }
    return count;
}

/* ---- dispatch machine ---------------------------------------------------------------------
 */

struct dispatch_run {
    const struct pair_run *run;
    enum side side;
    struct dispatch_in in;
};

static void sense_dispatch(void *context, unsigned cycle, int64_t t_us)
{
    struct dispatch_run *d = context;
    const struct pair *pair = d->run->pair;
    const int8_t busy = pair->side[d->side].busy_slot;
    (void)cycle;
    (void)t_us;
    d->in.queued = pair_oldest_slot(d->run, d->side, is_waiting) != NULL;
    d->in.done = busy < 0 || !(pair->open_mask >> busy & 1U) ||
                 pair_slot_through(pair_look_slot(pair, busy), d->side);
}

static void send_slot(const struct pair_run *run, enum side side, struct pair_slot *slot)
{
    slot->sent[side] = true;
    slot->sent_us[side] = run->t_us;
    pair_forecast_sent(run, slot, 1U << side);
    const struct pair_relay *relay = relay_of(run, slot);
    pair_emit_payload(run, EFFECT_COMMAND, side, relay->raw, relay->raw_bytes);
}

static void commit_dispatch(void *context, unsigned cycle, int64_t t_us)
{
    struct dispatch_run *d = context;
    struct pair *pair = d->run->pair;
    struct pair_slot *slot = pair_oldest_slot(d->run, d->side, is_waiting);
    (void)cycle;
    (void)t_us;
    if (pair_linked(pair)->dispatch[d->side].state == DISPATCH_SEND && slot) {
        pair->side[d->side].busy_slot = (int8_t)slot->place;
        send_slot(d->run, d->side, slot);
    }
}

void pair_withhold(struct pair *pair, int64_t t_us)
{
    for (int k = -1; pair_next_open(pair, &k);) {
        struct pair_slot *slot = pair_slot_at(pair, k);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (slot->expected[s] && !slot->sent[s]) {
                slot->sent[s] = true;
                slot->sent_us[s] = t_us;
            }
        }
    }
}

void pair_mark_sent(struct pair *pair, int64_t since_us, int64_t away_us)
{
    for (int k = -1; pair_next_open(pair, &k);) {
        struct pair_slot *slot = pair_slot_at(pair, k);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (pair_slot_owed(slot, s) && slot->sent_us[s] >= since_us &&
                slot->away_us < away_us) {
                slot->away_us = away_us;
            }
        }
    }
}

bool pair_link_overtakes(const char *op)
{
    return strcmp(op, "halt") == 0 || strcmp(op, "stopj") == 0;
}

bool pair_link_withdraw(const struct pair_run *run, struct pair_slot *slot)
{
    bool any = false;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (is_waiting(run, slot, s) && !pair_link_overtakes(slot->op)) {
            slot->expected[s] = false;
            slot->withdrawn[s] = true;
            any = true;
        }
    }
    return any;
}

/* A halt overtakes the running command; behind it, it would stop nothing. */
static void send_halts(const struct pair_run *run, enum side side)
{
    struct pair *pair = run->pair;
    for (int k = -1; pair_next_open(pair, &k);) {
        struct pair_slot *slot = pair_slot_at(pair, k);
        if (is_waiting(run, slot, side) && pair_link_overtakes(slot->op)) {
            send_slot(run, side, slot);
        }
    }
}

void pair_dispatch(const struct pair_run *run)
{
    struct pair_linked *const linked = pair_linked(run->pair);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        struct dispatch_run d = {.run = run, .side = s};
        const struct efsm_machine machine = {&dispatch_table,
                                             &linked->dispatch[s],
                                             &linked->dispatch_stats,
                                             (uint16_t)(2 * PAIR_OUTSTANDING_MAX + s),
                                             &d.in,
                                             NULL};
        const struct efsm_network net = {
            &machine, 1, sense_dispatch, commit_dispatch, &d, &run->pair->trace, 0};
        (void)efsm_run_instant(&net, run->t_us);
        send_halts(run, s);
    }
}

/* ---- link machine -------------------------------------------------------------------------
 */

/* Writes the result of the comparison. */
static void write_comparison(struct json_writer *w, const struct pair_run *run,
                             const struct pair_slot *slot)
{
    JSON_WRITE(w, CONSISTENCY_ROW("consistent", slot->consistency));
    if (slot->consistency == INCONSISTENT) {
        json_write_text(w, "differs", run->changes->differs);
    }
}

/* Robots without ids still get the id in the reply to L1, unless they sent one (also null). */
static bool lacks_id(const struct event_reply *reply)
{
    static const char name[] = "\"id\"";
    bool found = reply->id[0] != '\0';
    for (size_t i = 0; !found && i + sizeof name - 1 <= reply->raw_bytes; i++) {
        found = memcmp(reply->raw + i, name, sizeof name - 1) == 0;
    }
    return !found;
}

/* Merges the reply for L1: the robot's reply as it came, the id of the command, the side, and
 * whether the other robot's reply agreed if it was first. */
static void merge_reply(const struct pair_run *run, const struct pair_slot *slot,
                        enum side from)
{
    char text[MESSAGE_PAYLOAD_MAX + MERGED_MORE_MAX];
    char more[MERGED_MORE_MAX];
    struct json_writer w;
    const char *raw = run->event->reply.raw;
    size_t bytes = run->event->reply.raw_bytes;
    while (bytes > 0 && raw[bytes - 1] != '}') {
        bytes--;
    }
    if (bytes == 0 || bytes > MESSAGE_PAYLOAD_MAX) {
        return;
    }
    json_write_start(&w, more, sizeof more, NULL, NULL);
    json_write_object(&w, NULL);
    if (slot->consistency != CONSISTENCY_UNKNOWN) {
        write_comparison(&w, run, slot);
    }
    JSON_WRITE(&w, JSON_IF(slot->id[0] && lacks_id(&run->event->reply), JSON("id", slot->id)),
               JSON("from", side_name(from)));
    json_write_close(&w);
    if (!json_write_end(&w)) {
        return;
    }
    memcpy(text, raw, bytes - 1);
    memcpy(text + bytes - 1, more, w.used);
    text[bytes - 1] = ','; /* instead of the brace */
    emit_reply(run, slot->id, (enum reply_status)slot->status[from], from, text,
               bytes - 1 + w.used);
}

void pair_link_notice(const struct pair_run *run, const struct pair_slot *slot)
{
    char text[NOTICE_MAX];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    JSON_OPEN(&w, NULL, JSON("id", slot->id[0] ? slot->id : NULL),
              JSON_SECONDS("t", run->t_us));
    write_comparison(&w, run, slot);
    json_write_close(&w);
    if (json_write_end(&w)) {
        pair_emit_payload(run, EFFECT_NOTICE, SIDE_COUNT, text, w.used);
    }
}

/* Tandem replies on behalf of a robot. */
static void answer_itself(const struct pair_run *run, const char *id, enum reply_status status,
                          const char *code, const char *why)
{
    char text[REFUSAL_MAX];
    const size_t bytes = JSON_FORMAT(
        text, sizeof text, JSON_OPTIONAL("id", id), JSON_SECONDS("t", run->t_us),
        JSON("status", reply_status_name(status)), JSON_IF(code, JSON("code", code)),
        JSON("detail", why), JSON("from", "tandem"));
    if (bytes > 0) {
        emit_reply(run, id, status, SIDE_COUNT, text, bytes);
    }
}

void pair_link_refuse(const struct pair_run *run, const char *id, const char *code,
                      const char *why)
{
    answer_itself(run, id, REPLY_ERROR, code, why);
}

static const char withdrawn_words[] = "a halt came before it was sent to the robot";
static const char *const unanswered_words[SIDE_COUNT] = {
    "the real robot did not answer in time", "no robot answered in time"};

bool pair_link_is_unanswered(const struct effect *reply)
{
    char code[64];
    char text[REFUSAL_MAX];
    (void)snprintf(code, sizeof code, "\"code\":\"%s\"", alarm_code_name(ALARM_NO_REPLY));
    (void)snprintf(text, sizeof text, "%.*s", (int)reply->payload.bytes, reply->payload.text);
    return reply->payload.from == SIDE_COUNT && strstr(text, code);
}

void pair_link_record_end(const struct pair_run *run, const char *id,
                          struct delivery_outcome outcome)
{
    if (run->deliveries && id[0]) {
        delivery_end_id(run->deliveries, run->p->id, id, outcome);
    }
}

/* Sends the outcome of the earlier command. */
static void send_outcome(const struct pair_run *run, const struct delivery_outcome *o)
{
    const bool answered = o->end == DELIVERY_ANSWERED;
    const char *what = answered                        ? "answered before"
                       : o->end == DELIVERY_UNANSWERED ? unanswered_words[o->from]
                       : o->end == DELIVERY_REFUSED    ? "too many commands were open"
                       : o->end == DELIVERY_WITHDRAWN  ? withdrawn_words
                                                       : "its outcome is unknown";
    const enum reply_status status = answered                       ? o->status
                                     : o->end == DELIVERY_WITHDRAWN ? REPLY_HALTED
                                                                    : REPLY_ERROR;
    char detail[128];
    char text[6 * EVENT_ID_MAX + 384];
    (void)snprintf(detail, sizeof detail, "sent again, not passed on to the robots again: %s",
                   what);
    const size_t bytes = JSON_FORMAT(
        text, sizeof text, JSON("id", run->event->command.id), JSON_SECONDS("t", run->t_us),
        JSON("status", reply_status_name(status)), JSON("detail", detail),
        JSON("from", answered ? side_name(o->from) : "tandem"));
    if (bytes > 0) {
        emit_reply(run, run->event->command.id, status,
                   answered ? (enum side)o->from : SIDE_COUNT, text, bytes);
    }
}

bool pair_link_answer_known(const struct pair_run *run)
{
    const char *id = run->event->command.id;
    const struct delivery_outcome *known =
        delivery_find_id(run->deliveries, run->p->id, id, run->t_us);
    const bool same = delivery_knows(run->deliveries, run->event);
    const bool open = pair_find_slot(run->pair, id) != NULL;
    if (!known || (open && !same)) {
        return false;
    }
    run->pair->version++;
    if (same) {
        run->pair->counts.redelivered++;
        if (!open) {
            send_outcome(run, known);
        }
        return true;
    }
    run->pair->counts.commands++;
    pair_check_command_seq(run);
    pair_alarm(run, ALARM_COMMAND_ID_REUSED, SIDE_COUNT, id,
               "this id was another command's before: it was not sent");
    pair_link_refuse(run, id, alarm_code_name(ALARM_COMMAND_ID_REUSED),
                     "this id was another command's before: use a new one");
    return true;
}

/* Checks the robot whose reply L1 gets: the real one, or the virtual one if the real one is
 * absent. */
static bool is_withdrawn(const struct pair_slot *slot)
{
    return slot->withdrawn[SIDE_REAL] ||
           (slot->withdrawn[SIDE_VIRTUAL] && !slot->expected[SIDE_REAL]);
}

static void commit_link(void *context, unsigned cycle, int64_t t_us)
{
    const struct command_run *c = context;
    const struct pair_slot *slot = c->slot;
    const uint8_t state = relay_of(c->run, slot)->link.state;
    (void)cycle;
    (void)t_us;
    if (is_withdrawn(slot) && (state == LINK_FAIL || state == LINK_STAND_IN)) {
        pair_link_record_end(c->run, slot->id,
                             (struct delivery_outcome){DELIVERY_WITHDRAWN, 0, 0});
        answer_itself(c->run, slot->id, REPLY_HALTED, NULL, withdrawn_words);
    } else if (state == LINK_FAIL) {
        const enum side asked = slot->expected[SIDE_REAL] ? SIDE_REAL : SIDE_VIRTUAL;
        pair_link_record_end(c->run, slot->id,
                             (struct delivery_outcome){DELIVERY_UNANSWERED, (uint8_t)asked, 0});
        pair_link_refuse(c->run, slot->id, alarm_code_name(ALARM_NO_REPLY),
                         unanswered_words[asked]);
    } else if (state == LINK_ANSWER || state == LINK_STAND_IN) {
        const enum side from = state == LINK_ANSWER ? SIDE_REAL : SIDE_VIRTUAL;
        pair_link_record_end(
            c->run, slot->id,
            (struct delivery_outcome){DELIVERY_ANSWERED, (uint8_t)from, slot->status[from]});
        merge_reply(c->run, slot, from);
    }
}

void pair_link_step(const struct pair_run *run, struct pair_slot *slot, bool command)
{
    struct efsm *link = &relay_of(run, slot)->link;
    const struct efsm_machine machine = {.table = &link_table,
                                         .m = link,
                                         .stats = &pair_linked(run->pair)->link_stats,
                                         .number =
                                             (uint16_t)(PAIR_OUTSTANDING_MAX + slot->place)};
    const bool was_behind = link->state == LINK_BEHIND;
    pair_run_command(run, slot, command, &machine, commit_link);
    if (was_behind && link->state == LINK_IDLE) {
        run->pair->link_lag_cycles += link->cell[LINK_D];
    }
}
