/* twin/team/live/team_live_laps.c - mean and spread of the durations of each kind of activity,
 * from which forecasts are made.
 *
 * After 64 values, all of them together count as 32. So a mean follows a robot that changes,
 * and it always rests on at least 32 values.
 */
#include <math.h>

#include "twin/team/live/team_live_parts.h"
#include "twin/team/step/team_predict.h"

enum { REMEMBERED = 64 };

static struct team_live_law *find_law(struct team_live_robot *r, uint16_t task, uint16_t arg)
{
    for (uint32_t k = 0; k < r->law_count; k++) {
        if (r->law[k].task == task && r->law[k].arg == arg) {
            return &r->law[k];
        }
    }
    if (r->law_count == TEAM_LIVE_LAWS) {
        return NULL;
    }
    r->law[r->law_count] = (struct team_live_law){.task = task, .arg = arg};
    return &r->law[r->law_count++];
}

static void add_lap(struct team_laps *laps, double lap_s)
{
    if (!isfinite(lap_s)) {
        return;
    }
    if (laps->n >= REMEMBERED) {
        laps->squares_s2 *= (double)(REMEMBERED / 2 - 1) / (double)(laps->n - 1);
        laps->n = REMEMBERED / 2;
    }
    team_laps_add(laps, lap_s);
}

/* The law has just become usable: a prediction that lacked it can be made now. */
static void predict_again(struct team_live *live, const struct team_live_law *law)
{
    struct team_live_course *c = &live->course;
    const bool judged = c->has_forecast && forecast_has_interval(&c->predicted);
    if (law->laps.n == TEAM_LAW_FREEDOM_MIN + 1 && c->open && !judged) {
        c->learnt = live->forecast.due = true;
    }
}

void team_live_learn_effect(const struct team_live_run *run, const struct team_effect *effect)
{
    if (effect->kind == TEAM_DONE && effect->timed && effect->step) {
        struct team_live_law *law = find_law(&team_live_robots(run->live)[effect->robot],
                                             effect->step->task, effect->step->arg);
        if (law) {
            add_lap(&law->laps, lab_s(effect->took_us));
            predict_again(run->live, law);
        }
    }
}

bool team_live_lap_counts(const struct entry *entry, enum side side)
{
    return entry->answered[side] && entry->status[side] == REPLY_DONE &&
           !entry->uncalibrated[side] && entry->lap_us[side] != LAB_TIME_NONE &&
           entry->interrupted_us <= 0 && entry->ambiguous == ENTRY_SURE;
}

void team_live_learn_entry(const struct team_live_run *run, uint16_t robot,
                           const struct team_live_command *sent, const struct entry *entry)
{
    struct team_live_robot *r = &team_live_robots(run->live)[robot];
    const enum side s = r->virtual_only ? SIDE_VIRTUAL : SIDE_REAL;
    const bool moved = fabs(entry->rotation_rad) > 0.0 || fabs(entry->displacement_m) > 0.0;
    if (sent->n == 0 || !moved || !team_live_lap_counts(entry, s)) {
        return;
    }
    struct team_live_law *law = find_law(r, sent->task, sent->arg);
    if (law && fabs(entry->displacement_m) > 0.0) {
        add_lap(&law->turns, fabs(entry->rotation_rad));
        add_lap(&law->distances, entry->displacement_m);
    }
}
