/* twin/team/step/team_bars.h - what a team does as bars of a chart (space against time).
 *
 * A bar is told by the effect that ends it, which says how long it took: nothing is kept
 * between effects. Pure.
 */
#ifndef TWIN_TEAM_STEP_TEAM_BARS_H
#define TWIN_TEAM_STEP_TEAM_BARS_H

#include "logger/message/bar.h"
#include "twin/team/step/team.h"

typedef void team_bar_emit(void *context, const struct bar *bar);

/* The bars that this effect ends: none, one, or one for each robot of a meeting. Waits of no
 * time are left out. */
void team_bars_ended(const struct team_params *p, const struct team_effect *effect,
                     team_bar_emit *emit, void *context);

/* Those that are open at t_us, robots first, in the order of the file. */
void team_bars_open(const struct team_params *p, const struct team *team, int64_t t_us,
                    team_bar_emit *emit, void *context);

#endif
