#include "twin/team/live/team_live_bars.h"

#include <stdio.h>

static void copy_prediction(struct bar *bar, const struct team_live_bar *from)
{
    bar->has_forecast = true;
    bar->predicted_from_us = from->from_us;
    bar->predicted_p05_us = from->p05_us;
    bar->predicted_p95_us = from->p95_us;
}

void team_live_predict_bar(const struct team_live *live, const struct team_params *p,
                           struct bar *bar)
{
    if ((bar->kind != BAR_TASK && bar->kind != BAR_FAILED) || bar->number > UINT32_MAX) {
        return;
    }
    const struct team_live_bar *from =
        team_live_find_bar(live, team_find_robot(p, bar->robot), (uint32_t)bar->number);
    if (from) {
        copy_prediction(bar, from);
    }
}

void team_live_list_bars(const struct team_live *live, const struct team_params *p,
                         team_bar_emit *emit, void *context)
{
    for (size_t k = 0; k < live->forecast.bar_count; k++) {
        const struct team_live_bar *from = &live->forecast.bar[k];
        struct team_robot_view view;
        struct bar bar = {.kind = BAR_AHEAD,
                          .number = from->n,
                          .from_us = from->from_us,
                          .to_us = from->p95_us > from->from_us ? from->p95_us : from->from_us};
        team_robot(team_live_team(live, p), from->robot, &view);
        if (from->n <= view.n) {
            continue;
        }
        (void)snprintf(bar.robot, sizeof bar.robot, "%s", p->robots[from->robot].name);
        (void)snprintf(bar.task, sizeof bar.task, "%s", p->tasks[from->task].name);
        (void)snprintf(bar.arg, sizeof bar.arg, "%s", team_name(p, from->arg));
        copy_prediction(&bar, from);
        emit(context, &bar);
    }
}
