#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "twin/pair/pair_run.h"

struct pair_slot *pair_find_slot(struct pair *pair, const char *id)
{
    uint32_t k = pair_next_open(pair, 0);
    while (k < PAIR_OUTSTANDING_MAX && strcmp(pair->slot[k].id, id) != 0) {
        k = pair_next_open(pair, k + 1);
    }
    return k < PAIR_OUTSTANDING_MAX ? &pair->slot[k] : NULL;
}

struct pair_slot *pair_oldest_slot(const struct pair_run *run, enum side side,
                                   bool (*is_so)(const struct pair_run *run,
                                                 const struct pair_slot *slot, enum side side))
{
    struct pair *pair = run->pair;
    struct pair_slot *oldest = NULL;
    for (uint32_t k = pair_next_open(pair, 0); k < PAIR_OUTSTANDING_MAX;
         k = pair_next_open(pair, k + 1)) {
        struct pair_slot *slot = &pair->slot[k];
        if ((!oldest || slot->order < oldest->order) && is_so(run, slot, side)) {
            oldest = slot;
        }
    }
    return oldest;
}

/* Replies without an id come in the order of the commands: the oldest that is owed. */
static bool is_owed(const struct pair_run *run, const struct pair_slot *slot, enum side side)
{
    (void)run;
    return pair_slot_owed(slot, side);
}

void pair_remember_closed(struct pair *pair, const struct pair_closed *closed)
{
    pair->closed[pair->closed_count % PAIR_CLOSED_MAX] = *closed;
    pair->closed_count++;
}

/* The newest closed command with this id; without an id the newest that had none and that this
 * side left unanswered. */
static struct pair_closed *find_closed(struct pair *pair, const char *id, enum side side)
{
    const uint64_t hash = id[0] ? hash_text(id) : 0;
    const uint32_t kept =
        pair->closed_count < PAIR_CLOSED_MAX ? pair->closed_count : PAIR_CLOSED_MAX;
    for (uint32_t back = 1; back <= kept; back++) {
        struct pair_closed *closed =
            &pair->closed[(pair->closed_count - back) % PAIR_CLOSED_MAX];
        if (closed->id_hash == hash && (hash != 0 || !closed->answered[side])) {
            return closed;
        }
    }
    return NULL;
}

static void alarm_closed(const struct pair_run *run, struct pair_closed *closed)
{
    const enum side side = run->event->side;
    const char *id = run->event->reply.id;
    if (closed->answered[side]) {
        pair_alarm(run, ALARM_DUPLICATE, side, id,
                   "the %s robot has answered this command before", side_name(side));
    } else if (closed->refused) {
        pair_alarm(run, ALARM_LATE, side, id,
                   "its command was not followed because too many were open");
    } else if (closed->timed_out[side]) {
        pair_alarm(run, ALARM_LATE, side, id, "the command was closed as TIMEOUT before");
    } else {
        pair_alarm(run, ALARM_OUT_OF_CONTEXT, side, id, "the %s robot was not asked",
                   side_name(side));
    }
    closed->answered[side] = true;
}

static void alarm_unmatched(const struct pair_run *run)
{
    const struct event *e = run->event;
    struct pair_closed *closed = find_closed(run->pair, e->reply.id, e->side);
    if (closed) {
        alarm_closed(run, closed);
    } else if (e->reply.id[0]) {
        pair_alarm(run, ALARM_OUT_OF_CONTEXT, e->side, e->reply.id,
                   "no command with this id was seen");
    } else {
        pair_alarm(run, ALARM_OUT_OF_CONTEXT, e->side, "", "no command is open at the %s robot",
                   side_name(e->side));
    }
}

struct pair_slot *pair_match_reply(const struct pair_run *run)
{
    const enum side side = run->event->side;
    const char *id = run->event->reply.id;
    struct pair_slot *slot =
        id[0] ? pair_find_slot(run->pair, id) : pair_oldest_slot(run, side, is_owed);
    if (!slot) {
        alarm_unmatched(run);
        return NULL;
    }
    if (slot->answered[side]) {
        pair_alarm(run, ALARM_DUPLICATE, side, id,
                   "the %s robot has answered this command before", side_name(side));
        return NULL;
    }
    if (slot->timed_out[side]) {
        pair_alarm(run, ALARM_LATE, side, id, "this side of the command was closed as TIMEOUT");
        slot->answered[side] = true;
        return NULL;
    }
    if (!slot->expected[side] || !slot->sent[side]) {
        pair_alarm(run, ALARM_OUT_OF_CONTEXT, side, id, "the %s robot was not asked%s",
                   side_name(side), slot->expected[side] ? " yet" : "");
        return NULL;
    }
    return slot;
}

void pair_keep_values(struct pair_slot *slot, const struct event_reply *reply)
{
    slot->value_count = 0;
    slot->value_is_text = 0;
    for (size_t i = 0; i < reply->value_count && i < PAIR_VALUES_MAX; i++) {
        struct pair_value *value = &slot->value[i];
        value->name = hash_text(reply->values[i].name);
        if (reply->values[i].is_number) {
            value->number = reply->values[i].number;
        } else {
            value->text = reply->values[i].text_hash;
            slot->value_is_text |= (uint16_t)(1U << i);
        }
        slot->value_count++;
    }
}

static bool numbers_differ(double a, double b, const struct pair_params *p)
{
    const double larger = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    const double gap = fabs(a - b);
    return !(gap <= p->value_tolerance_abs) && !(gap <= p->value_tolerance_ratio * larger);
}

static bool value_differs(const struct pair_slot *slot, const struct event_value *v,
                          const struct pair_params *p, char detail[160])
{
    const uint64_t name = hash_text(v->name);
    for (size_t k = 0; k < slot->value_count; k++) {
        if (slot->value[k].name != name) {
            continue;
        }
        const bool is_text = slot->value_is_text & 1U << k;
        if (is_text != !v->is_number ||
            (is_text ? slot->value[k].text != v->text_hash
                     : numbers_differ(slot->value[k].number, v->number, p))) {
            if (!is_text && v->is_number) {
                (void)snprintf(detail, 160, "%s: %.9g and then %.9g", v->name,
                               slot->value[k].number, v->number);
            } else {
                (void)snprintf(detail, 160, "%s: not the same text", v->name);
            }
            return true;
        }
    }
    return false;
}

bool pair_reply_differs(const struct pair_slot *slot, enum side first,
                        const struct event_reply *reply, const struct pair_params *p,
                        char detail[160])
{
    if (slot->status[first] != (uint8_t)reply->status) {
        (void)snprintf(detail, 160, "status: the %s robot says %s, the other %s",
                       side_name(first), reply_status_name(slot->status[first]),
                       reply_status_name(reply->status));
        return true;
    }
    for (size_t i = 0; i < reply->value_count; i++) {
        if (value_differs(slot, &reply->values[i], p, detail)) {
            return true;
        }
    }
    return false;
}
