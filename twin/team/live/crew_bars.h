/* twin/team/live/crew_bars.h - what was foretold of a team as bars of its chart. Pure. */
#ifndef TWIN_TEAM_LIVE_CREW_BARS_H
#define TWIN_TEAM_LIVE_CREW_BARS_H

#include "twin/team/live/crew.h"
#include "twin/team/step/team_bars.h"

/* How the activity of this bar was foretold, into the bar; others are left alone. */
void crew_foretell_bar(const struct crew *crew, const struct team_params *p, struct bar *bar);

/* The activities that are foretold and have not begun, BAR_AHEAD. */
void crew_bars_ahead(const struct crew *crew, const struct team_params *p, team_bar_emit *emit,
                     void *context);

#endif
