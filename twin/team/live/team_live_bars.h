/* twin/team/live/team_live_bars.h - the prediction for a team as bars of its chart. Pure. */
#ifndef TWIN_TEAM_LIVE_TEAM_LIVE_BARS_H
#define TWIN_TEAM_LIVE_TEAM_LIVE_BARS_H

#include "twin/team/live/team_live.h"
#include "twin/team/step/team_bars.h"

/* Adds the prediction of this bar's activity to the bar, if there is one. */
void team_live_predict_bar(const struct team_live *live, const struct team_params *p,
                           struct bar *bar);

/* Lists the predicted activities that have not begun, BAR_AHEAD. */
void team_live_list_bars(const struct team_live *live, const struct team_params *p,
                         team_bar_emit *emit, void *context);

#endif
