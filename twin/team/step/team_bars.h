/* twin/team/step/team_bars.h - the work of a team as bars of a chart (place over time).
 *
 * The effect that ends a bar has its duration, so no state is needed between effects. Pure.
 */
#ifndef TWIN_TEAM_STEP_TEAM_BARS_H
#define TWIN_TEAM_STEP_TEAM_BARS_H

#include "logger/message/bar.h"
#include "twin/team/step/team.h"

typedef void team_bar_emit(void *context, const struct bar *bar);

/* Emits the bars that this effect ends: none, one, or one per robot of a meeting. Waits of zero
 * time are omitted. */
void team_bars_ended(const struct team_params *p, const struct team_effect *effect,
                     team_bar_emit *emit, void *context);

/* Emits the bars that are open at t_us, robots first, in the order of the file. */
void team_bars_open(const struct team_params *p, const struct team *team, int64_t t_us,
                    team_bar_emit *emit, void *context);

#endif
