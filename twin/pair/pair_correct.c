/* twin/pair/pair_correct.c - pose correction: the simulator is set to the real robot's pose, so
 * that errors of moves do not add up (docs/model/pair.md).
 */
#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "logger/message/json_write.h"
#include "twin/pair/pair_run.h"

enum { POSE_BYTES = 6 * EVENT_ID_MAX + 192 };

/* After this command the simulator is at rest: all commands sent to it are closed, and none is
 * newer. A command that waits in link mode is sent after the pose. */
static bool is_still(const struct pair *pair, const struct pair_slot *closing)
{
    if (pair->correction.closed_order > closing->order) {
        return false;
    }
    for (int k = -1; pair_next_open(pair, &k);) {
        const struct pair_slot *slot = pair_look_slot(pair, k);
        if (slot != closing && slot->sent[SIDE_VIRTUAL]) {
            return false;
        }
    }
    return true;
}

/* Poses that waited until reception resumed may be old. */
static bool is_wanted(const struct pair_run *run, const struct pair_slot *slot,
                      const struct entry *e)
{
    const struct pair_poses *poses = run->changes ? &run->changes->poses : NULL;
    return run->p->correct != PAIR_CORRECT_OFF && poses && poses->known &&
           (strcmp(e->op, "go") == 0 || strcmp(e->op, "halt") == 0) &&
           (run->p->correct == PAIR_CORRECT_EACH_MOVE || !poses->agree) && slot->away_us == 0 &&
           e->ambiguous == ENTRY_SURE && is_still(run->pair, slot);
}

/* The correction failed. This is reported once until one succeeds, because a simulator that
 * does not support the message would fail after every move. */
static void report_failure(const struct pair_run *run, enum alarm_code code, const char *what,
                           const char *why)
{
    struct pair_correction *c = &run->pair->correction;
    if (!c->reported) {
        pair_alarm(
            run, code, SIDE_VIRTUAL, c->id,
            "the simulator %s%s (correction %llu); not reported again until it applies one",
            what, why, (unsigned long long)c->sent);
    }
    c->reported = true;
}

/* Stops waiting for its answer. */
static void give_up(const struct pair_run *run)
{
    struct pair_correction *c = &run->pair->correction;
    c->awaited_us = LAB_TIME_MAX;
    c->unanswered++;
    report_failure(run, ALARM_POSE_UNANSWERED, "did not acknowledge the real robot's pose", "");
}

static void send_pose(const struct pair_run *run, const double pose[3])
{
    const struct pair_correction *c = &run->pair->correction;
    char text[POSE_BYTES];
    const size_t bytes =
        JSON_FORMAT(text, sizeof text, JSON("correction", c->sent),
                    JSON("id", c->id[0] ? c->id : NULL), JSON_SECONDS("t", run->t_us),
                    JSON("x_m", pose[0]), JSON("y_m", pose[1]), JSON("psi_rad", pose[2]));
    if (bytes > 0) {
        pair_emit_payload(run, EFFECT_POSE, SIDE_VIRTUAL, text, bytes);
    }
}

void pair_correct(const struct pair_run *run, const struct pair_slot *slot, struct entry *e)
{
    struct pair_correction *c = &run->pair->correction;
    const bool wanted = is_wanted(run, slot, e);
    if (slot->order >= c->closed_order) {
        c->closed_order = slot->order + 1;
    }
    if (!wanted) {
        return;
    }
    const double *real = run->changes->poses.of[SIDE_REAL];
    const double *virtual = run->changes->poses.of[SIDE_VIRTUAL];
    if (c->awaited_us != LAB_TIME_MAX) {
        give_up(run);
    }
    c->sent++;
    c->awaited_us = run->t_us + run->p->timeout_us;
    memcpy(c->id, slot->id, sizeof c->id);
    e->correction = c->sent;
    e->correction_m = hypot(real[0] - virtual[0], real[1] - virtual[1]);
    e->correction_rad = remainder(real[2] - virtual[2], 2.0 * PI);
    send_pose(run, real);
}

void pair_correct_acknowledge(const struct pair_run *run)
{
    struct pair_correction *c = &run->pair->correction;
    const struct event_ack *a = &run->event->ack;
    if (c->awaited_us == LAB_TIME_MAX || a->version != (int64_t)c->sent) {
        return; /* of one that was given up, or of somebody else's */
    }
    c->awaited_us = LAB_TIME_MAX;
    if (a->refused > 0) {
        c->refused++;
        report_failure(run, ALARM_POSE_REFUSED, "refused: ", a->reason);
    } else {
        c->applied++;
        c->reported = false;
    }
}

void pair_correct_fire(const struct pair_run *run)
{
    if (run->pair->correction.awaited_us <= run->t_us) {
        give_up(run);
    }
}
