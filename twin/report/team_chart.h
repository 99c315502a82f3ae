/* twin/report/team_chart.h - a team's chart of space against time, as SVG.
 *
 * A lane a robot, then a lane a resource, in the order of the team's file. Robots' activities
 * stand solid, waits pale, failures struck through; a resource has the colour of its owner. The
 * picture stands alone, or in a page whose colour of text it takes; it has no styles of its
 * own, which a page's policy might forbid. Every bar has a title with its times. Of an activity
 * that was foretold there is a tick where it was to begin, and a whisker from P05 to P95 of its
 * end. Prints, computes nothing. Pure: text goes to `put`, piece by piece.
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
        *bars; /* [bar_count], of robots and resources that p has, others left out */
    size_t bar_count;
    const struct team_chart_mark *marks; /* [mark_count] */
    size_t mark_count;
    int64_t now_us; /* a line there, where there is more behind it; LAB_TIME_MAX: none */
    int64_t from_us, to_us; /* from < to: what is shown; bars beyond are cut */
};

void team_chart_write_svg(const struct team_chart *chart, json_write_flush *output,
                          void *context);

#endif
