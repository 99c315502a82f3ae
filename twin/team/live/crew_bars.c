#include "twin/team/live/crew_bars.h"

#include <stdio.h>
#include <string.h>

static void take_forecast(struct bar *bar, const struct crew_bar *from)
{
    bar->foretold = true;
    bar->predicted_from_us = from->from_us;
    bar->predicted_p05_us = from->p05_us;
    bar->predicted_p95_us = from->p95_us;
}

void crew_foretell_bar(const struct crew *crew, const struct team_params *p, struct bar *bar)
{
    uint16_t robot = 0;
    if ((bar->kind != BAR_TASK && bar->kind != BAR_FAILED) || bar->number > UINT32_MAX) {
        return;
    }
    while (robot < p->robot_count && strcmp(p->robots[robot].name, bar->robot) != 0) {
        robot++;
    }
    const struct crew_bar *from = crew_find_bar(crew, robot, (uint32_t)bar->number);
    if (from) {
        take_forecast(bar, from);
    }
}

void crew_bars_ahead(const struct crew *crew, const struct team_params *p, team_bar_emit *emit,
                     void *context)
{
    for (size_t k = 0; k < crew->forecast.bar_count; k++) {
        const struct crew_bar *from = &crew->forecast.bar[k];
        struct team_robot_view view;
        struct bar bar = {.kind = BAR_AHEAD,
                          .number = from->n,
                          .from_us = from->from_us,
                          .to_us = from->p95_us > from->from_us ? from->p95_us : from->from_us};
        team_robot(crew_team(crew, p), from->robot, &view);
        if (from->n <= view.n) {
            continue;
        }
        (void)snprintf(bar.robot, sizeof bar.robot, "%s", p->robots[from->robot].name);
        (void)snprintf(bar.task, sizeof bar.task, "%s", p->tasks[from->task].name);
        (void)snprintf(bar.arg, sizeof bar.arg, "%s", team_name(p, from->arg));
        take_forecast(&bar, from);
        emit(context, &bar);
    }
}
