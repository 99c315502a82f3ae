/* twin/team/live/team_live_bars.h - what was foretold of a team as bars of its chart. Pure. */
#ifndef TWIN_TEAM_LIVE_TEAM_LIVE_BARS_H
#define TWIN_TEAM_LIVE_TEAM_LIVE_BARS_H

#include "twin/team/live/team_live.h"
#include "twin/team/step/team_bars.h"

/* How the activity of this bar was foretold, into the bar; others are left alone. */
void team_live_predict_bar(const struct team_live *live, const struct team_params *p,
                           struct bar *bar);

/* The activities that are foretold and have not begun, BAR_AHEAD. */
void team_live_list_bars(const struct team_live *live, const struct team_params *p,
                         team_bar_emit *emit, void *context);

#endif
