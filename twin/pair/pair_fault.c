/* twin/pair/pair_fault.c - alarms of faults that a robot reports, and of observations that its
 * codec makes; pauses that it reports (docs/protocol/telemetry.md). */
#include "twin/pair/pair_run.h"

void pair_apply_fault(const struct pair_run *run)
{
    const struct event_fault *f = &run->event->fault;
    pair_alarm(run,
               f->kind == FAULT_ERROR   ? ALARM_ROBOT_ERROR
               : f->kind == FAULT_ESTOP ? ALARM_EMERGENCY_STOP
                                        : ALARM_MODE_CHANGED,
               run->event->side, f->id, "%s%s%s%s%s", f->level, f->level[0] ? " " : "",
               f->detail, f->about[0] ? ": " : "", f->about);
}

void pair_apply_note(const struct pair_run *run)
{
    const struct event_note *n = &run->event->note;
    if (n->kind == NOTE_MISSING) {
        pair_alarm(
            run, ALARM_MESSAGES_MISSING, run->event->side, "",
            "%lld messages of the %s robot were lost: times that depend on them are unknown",
            (long long)n->count, side_name(run->event->side));
    } else if (n->kind == NOTE_CONTRADICTION) {
        pair_alarm(run, ALARM_CONTRADICTION, run->event->side, n->id, "%s", n->detail);
    }
}

void pair_redelivered(struct pair *pair)
{
    pair->version++;
    pair->counts.redelivered++;
}

/* A robot that says no more that it waits is silent: its commands time out. */
static const int64_t PAUSE_GAP_US = 2000000;

void pair_count_pause(const struct pair_run *run, bool paused)
{
    const enum side s = run->event->side;
    struct pair_side *side = &run->pair->side[s];
    const int64_t from_us =
        run->t_us - side->paused_us < PAUSE_GAP_US ? side->paused_us : run->t_us - PAUSE_GAP_US;
    for (int k = -1; paused && side->paused && pair_next_open(run->pair, &k);) {
        struct pair_slot *slot = pair_slot_at(run->pair, k);
        const int64_t begin_us = from_us > slot->sent_us[s] ? from_us : slot->sent_us[s];
        slot->paused_us[s] += pair_slot_owed(slot, s) ? run->t_us - begin_us : 0;
    }
    side->paused = paused;
    side->paused_us = run->t_us;
}

int64_t pair_timeout_of(const struct pair_run *run, const struct pair_slot *slot,
                        enum side side)
{
    return slot->sent_us[side] + slot->paused_us[side] + run->p->timeout_us;
}
