/* twin/report/team_chart.h - draws a team's chart (place over time) as SVG.
 *
 * One lane per robot, then one per resource, in the order of the team's file. Activities are
 * solid, waits pale, failures struck through; a resource has the colour of its owner. The
 * picture works alone or within a page, whose text colour it takes. It has no style elements,
 * because a page's policy may forbid them. Every bar has a title with its times. A predicted
 * activity has a tick at its predicted begin, and a whisker from P05 to P95 of its end. It
 * computes nothing. Pure: the text is passed to `put` in pieces.
 */
#ifndef TWIN_REPORT_TEAM_CHART_H
#define TWIN_REPORT_TEAM_CHART_H

#include "logger/message/bar.h"
#include "logger/message/json_write.h"
#include "twin/team/step/team_params.h"

enum { TEAM_CHART_TEXT_MAX = 160 };

/* An alarm of the team, in words. */
struct team_chart_mark {
    int64_t t_us;
    char text[TEAM_CHART_TEXT_MAX];
};

struct team_chart {
    const struct team_params *p;
    const struct bar
        *bars; /* [bar_count]; bars of robots and resources that p lacks are skipped */
    size_t bar_count;
    const struct team_chart_mark *marks; /* [mark_count] */
    size_t mark_count;
    int64_t now_us;         /* a line here if the chart goes on; LAB_TIME_MAX: none */
    int64_t from_us, to_us; /* from < to: visible range; bars are cut to it */
};

void team_chart_write_svg(const struct team_chart *chart, json_write_flush *output,
                          void *context);

#endif
