/* twin/pair/pair_fault.c - alarms of faults that a robot reports, and of observations that its
 * codec makes. */
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
