/* twin/team/step/team_emit.c - builds and emits the effects of a team's step. */
#include "twin/team/step/team_parts.h"

/* The members are assigned one by one, because the compiler clears a struct of this size with a
 * string instruction: a million tasks then take 10 % longer (tests/bench/bench_team.c). */
struct team_effect team_effect_of(const struct team_work *w, enum team_effect_kind kind,
                                  uint16_t robot)
{
    struct team_effect e;
    e.kind = kind;
    e.alarm = TEAM_ALARM_COUNT;
    e.t_us = w->t_us;
    e.robot = robot;
    e.step = NULL;
    e.n = 0;
    e.timed = false;
    e.took_us = e.waited_us = e.min_us = 0;
    e.part = e.resource = e.meeting = e.because = TEAM_NONE;
    e.fence = e.current = 0;
    e.count = 0;
    e.resources = e.held = e.robots = NULL;
    e.resource_count = e.held_count = e.robot_count = 0;
    e.waits_us = NULL;
    e.owners = NULL;
    e.why = NULL;
    e.policy = TEAM_HOLD;
    e.event = TEAM_EVENT_COUNT;
    e.job = NULL;
    e.cycle = NULL;
    e.cycle_count = 0;
    e.id = "";
    return e;
}

struct team_effect team_alarm_of(const struct team_work *w, enum team_alarm alarm,
                                 uint16_t robot)
{
    struct team_effect e = team_effect_of(w, TEAM_ALARM, robot);
    e.alarm = alarm;
    return e;
}

void team_emit(const struct team_work *w, const struct team_effect *effect)
{
    w->fx->emit(w->fx->context, effect);
}

void team_emit_plain(const struct team_work *w, enum team_effect_kind kind, uint16_t robot)
{
    const struct team_effect e = team_effect_of(w, kind, robot);
    team_emit(w, &e);
}

void team_emit_halt(const struct team_work *w, uint16_t robot, uint16_t because)
{
    const struct team_member *m = &w->members[robot];
    struct team_effect e = team_effect_of(w, TEAM_HALT, robot);
    e.because = because;
    if (m->phase == TEAM_PHASE_ACTIVE) {
        e.step = team_step_if_any(w, robot);
        e.n = m->n;
        e.took_us = w->t_us - m->began_us;
    }
    team_emit(w, &e);
}

void team_emit_out_of_context(const struct team_work *w, uint16_t robot,
                              enum team_event_kind event)
{
    struct team_effect e = team_alarm_of(w, TEAM_ALARM_OUT_OF_CONTEXT, robot);
    e.event = event;
    team_emit(w, &e);
}

void team_emit_done(const struct team_work *w, uint16_t robot, const uint16_t *resources,
                    size_t count)
{
    struct team_effect e = team_effect_of(w, TEAM_DONE, robot);
    const bool other = w->members[robot].client || w->members[robot].regains;
    e.step = other ? NULL : team_step_if_any(w, robot);
    e.part = w->members[robot].part;
    e.resources = resources;
    e.resource_count = count;
    e.id = w->members[robot].client ? w->members[robot].id : "";
    team_emit(w, &e);
}
