/* twin/team/live/team_live_alarm.c - alarms of a team as texts, with a rate limit per kind. */
#include <stdio.h>

#include "base/text/text.h"
#include "twin/team/live/team_live_parts.h"

/* ---- in words ---- */

static void add_resources(char *w, const struct team_params *p, const char *before,
                          const uint16_t *resources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_append(w, ALARM_DETAIL_MAX, "%s%s", i == 0 ? before : ", ",
                    p->resources[resources[i]].name);
    }
}

static void add_robots(char *w, const struct team_params *p, const char *before,
                       const uint16_t *robots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_append(w, ALARM_DETAIL_MAX, "%s%s", i == 0 ? before : ", ",
                    p->robots[robots[i]].name);
    }
}

static void add_cycle(char *w, const struct team_params *p, const struct team_effect *e)
{
    for (size_t i = 0; i < e->cycle_count; i++) {
        const struct team_wait *wait = &e->cycle[i];
        text_append(w, ALARM_DETAIL_MAX, "%s%s", i == 0 ? "" : "; ",
                    p->robots[wait->robot].name);
        add_resources(w, p, " holds ", wait->held, wait->held_count);
        if (wait->meeting != TEAM_NONE) {
            text_append(w, ALARM_DETAIL_MAX, "%s waits at meeting %s",
                        wait->held_count > 0 ? "," : "", team_name(p, wait->meeting));
        }
        add_resources(w, p, wait->held_count > 0 ? ", wants " : " wants ", wait->wants,
                      wait->want_count);
    }
}

/* Writes for example "deadlock: R1 holds A, wants B; R2 holds B, wants A". */
static void describe_alarm(const struct team_params *p, const struct team_effect *e,
                           char text[ALARM_DETAIL_MAX])
{
    text[0] = '\0';
    text_append(text, ALARM_DETAIL_MAX, "%s: ", team_alarm_name(e->alarm));
    if (e->alarm == TEAM_ALARM_DEADLOCK) {
        add_cycle(text, p, e);
        return;
    }
    if (e->robot != TEAM_NONE) {
        text_append(text, ALARM_DETAIL_MAX, "%s", p->robots[e->robot].name);
    }
    if (e->step && e->step->task != TEAM_NONE && e->step->task < p->task_count) {
        text_append(text, ALARM_DETAIL_MAX, ", %s", p->tasks[e->step->task].name);
    }
    if (e->alarm == TEAM_ALARM_LEASE_EXPIRED || e->alarm == TEAM_ALARM_STALE_FENCE ||
        e->alarm == TEAM_ALARM_STALE_RELEASE) {
        text_append(text, ALARM_DETAIL_MAX, "%s%s, fence %llu", text[2] ? " " : "",
                    p->resources[e->resource].name, (unsigned long long)e->fence);
    }
    add_resources(text, p, " holds ", e->held, e->held_count);
    add_resources(text, p, e->held_count > 0 ? ", of " : " of ", e->resources,
                  e->resource_count);
    add_robots(text, p, ", behind ", e->robots, e->robot_count);
    if (e->alarm == TEAM_ALARM_BLOCKED && e->resource_count == 0) {
        text_append(text, ALARM_DETAIL_MAX, " at meeting %s, %u missing",
                    team_name(p, e->meeting), e->count);
    } else if (e->alarm == TEAM_ALARM_NOBODY_CAN) {
        text_append(text, ALARM_DETAIL_MAX, "part %s", team_name(p, e->part));
    } else if (e->alarm == TEAM_ALARM_OUT_OF_CONTEXT) {
        text_append(text, ALARM_DETAIL_MAX, " %s", team_event_name(e->event));
    } else if (e->alarm == TEAM_ALARM_EARLY) {
        text_append(text, ALARM_DETAIL_MAX, " after %.3f s, %.3f s at least were expected",
                    lab_s(e->took_us), lab_s(e->min_us));
    }
}

void team_live_record_alarm(const struct team_live_run *run, const struct team_effect *effect)
{
    struct team_live *live = run->live;
    const enum team_alarm kind = effect->alarm;
    live->counts.alarm[kind]++;
    if (!pair_alarm_allow(&live->alarm_rate[kind], live->counts.alarm[kind], run->t_us)) {
        return;
    }
    struct alarm alarm = {.pair = live->named,
                          .n = ++live->counts.alarms + live->counts.numbers_skipped,
                          .t_us = run->t_us,
                          .type = (enum alarm_type)ALARM_TYPE_TEAM,
                          .code = team_alarm_name(kind),
                          .side = SIDE_COUNT,
                          .suppressed = live->alarm_rate[kind].suppressed};
    live->alarm_rate[kind].suppressed = 0;
    const bool robot = effect->robot != TEAM_NONE;
    (void)snprintf(alarm.id, sizeof alarm.id, "%.15s%s%s", team_alarm_name(kind),
                   robot ? ":" : "", robot ? run->p->robots[effect->robot].name : "");
    describe_alarm(run->p, effect, alarm.detail);
    const struct effect out = {.kind = EFFECT_ALARM,
                               .pair = live->named,
                               .t_us = run->t_us,
                               .side = SIDE_COUNT,
                               .alarm = &alarm};
    run->fx->emit(run->fx->context, &out);
}
