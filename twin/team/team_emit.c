#include "twin/team/team_parts.h"

struct team_effect team_effect_of(const struct team_work *w, enum team_effect_kind kind,
                                  uint16_t robot)
{
    return (struct team_effect){.kind = kind,
                                .t_us = w->t_us,
                                .robot = robot,
                                .part = TEAM_NONE,
                                .resource = TEAM_NONE,
                                .meeting = TEAM_NONE,
                                .because = TEAM_NONE,
                                .id = ""};
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
    e.step = w->members[robot].client ? NULL : team_step_of(w, robot);
    e.part = w->members[robot].part;
    e.resources = resources;
    e.resource_count = count;
    e.id = w->members[robot].client ? w->members[robot].id : "";
    team_emit(w, &e);
}
