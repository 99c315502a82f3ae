#include "twin/team/step/team_bars.h"

#include <stdio.h>

static struct bar make_bar(const struct team_params *p, enum bar_kind kind, uint16_t robot,
                           int64_t from_us, int64_t to_us)
{
    struct bar bar = {.kind = kind, .from_us = from_us, .to_us = to_us};
    (void)snprintf(bar.robot, sizeof bar.robot, "%s", p->robots[robot].name);
    return bar;
}

static void name_resource(struct bar *bar, const struct team_params *p, uint16_t resource)
{
    (void)snprintf(bar->resource, sizeof bar->resource, "%s", p->resources[resource].name);
}

static void name_activity(struct bar *bar, const struct team_params *p,
                          const struct team_step *step)
{
    (void)snprintf(bar->task, sizeof bar->task, "%s", p->tasks[step->task].name);
    (void)snprintf(bar->arg, sizeof bar->arg, "%s", team_name(p, step->arg));
}

static void end_activity(const struct team_params *p, const struct team_effect *e,
                         enum bar_kind kind, team_bar_emit *emit, void *context)
{
    if (e->step && team_step_acts(e->step)) {
        struct bar bar = make_bar(p, kind, e->robot, e->t_us - e->took_us, e->t_us);
        name_activity(&bar, p, e->step);
        bar.number = e->n;
        emit(context, &bar);
    }
}

static void end_use(const struct team_params *p, const struct team_effect *e,
                    enum bar_kind kind, int64_t took_us, team_bar_emit *emit, void *context)
{
    struct bar bar = make_bar(p, kind, e->robot, e->t_us - took_us, e->t_us);
    name_resource(&bar, p, e->resource);
    bar.number = e->fence;
    emit(context, &bar);
}

static void end_meeting(const struct team_params *p, const struct team_effect *e,
                        team_bar_emit *emit, void *context)
{
    for (size_t k = 0; k < e->robot_count; k++) {
        if (e->waits_us[k] > 0) {
            struct bar bar =
                make_bar(p, BAR_MEET, e->robots[k], e->t_us - e->waits_us[k], e->t_us);
            (void)snprintf(bar.task, sizeof bar.task, "%s", team_name(p, e->meeting));
            emit(context, &bar);
        }
    }
}

void team_bars_ended(const struct team_params *p, const struct team_effect *effect,
                     team_bar_emit *emit, void *context)
{
    const struct team_effect *e = effect;
    if (e->kind == TEAM_DONE && e->timed) {
        end_activity(p, e, BAR_TASK, emit, context);
    } else if (e->kind == TEAM_ERROR || e->kind == TEAM_HALT) {
        end_activity(p, e, BAR_FAILED, emit, context);
    } else if (e->kind == TEAM_GRANT && e->waited_us > 0) {
        end_use(p, e, BAR_WAIT, e->waited_us, emit, context);
    } else if (e->kind == TEAM_FREED) {
        end_use(p, e, BAR_HOLD, e->took_us, emit, context);
    } else if (e->kind == TEAM_MEET) {
        end_meeting(p, e, emit, context);
    }
}

static void open_robot(const struct team_params *p, const struct team *team, uint16_t robot,
                       int64_t t_us, team_bar_emit *emit, void *context)
{
    struct team_robot_view view;
    team_robot(team, robot, &view);
    const struct team_step *step = view.step;
    struct bar bar = make_bar(p, BAR_TASK, robot, view.since_us, t_us);
    bar.open = true;
    if (view.phase == TEAM_PHASE_ACTIVE && step && team_step_acts(step)) {
        name_activity(&bar, p, step);
        bar.number = view.n;
    } else if (view.phase == TEAM_PHASE_MEETING && step) {
        bar.kind = BAR_MEET;
        (void)snprintf(bar.task, sizeof bar.task, "%s", team_name(p, step->meeting));
    } else if (view.waits_for != TEAM_NONE) {
        bar.kind = BAR_WAIT;
        name_resource(&bar, p, view.waits_for);
    } else {
        return;
    }
    emit(context, &bar);
}

void team_bars_open(const struct team_params *p, const struct team *team, int64_t t_us,
                    team_bar_emit *emit, void *context)
{
    for (size_t i = 0; i < p->robot_count; i++) {
        open_robot(p, team, (uint16_t)i, t_us, emit, context);
    }
    for (size_t i = 0; i < p->resource_count; i++) {
        struct team_resource_view view;
        team_resource(team, (uint16_t)i, &view);
        for (size_t k = 0; k < view.held_count; k++) {
            struct bar bar =
                make_bar(p, BAR_HOLD, view.held[k].robot, view.held[k].since_us, t_us);
            bar.open = true;
            bar.number = view.held[k].fence;
            name_resource(&bar, p, (uint16_t)i);
            emit(context, &bar);
        }
    }
}
