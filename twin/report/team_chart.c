#include "twin/report/team_chart.h"

#include <stdio.h>
#include <string.h>

#include "twin/report/svg_text.h"

enum { WIDTH = 960, LANE = 26, TOP = 24, MARGIN_MIN = 48, MARGIN_MAX = 200, RIGHT = 16 };

/* Six colours that colour-blind people can distinguish (Paul Tol, "bright"). */
static const char *const COLOURS[] = {SVG_BLUE,  "#ee6677", "#228833",
                                      "#ccbb44", "#66ccee", "#aa3377"};
static const double CHARACTER = 6.0; /* width of a character, at the size of the text */

struct svg {
    const struct team_chart *g;
    struct svg_text text;
    double margin;
};

static double x_of(const struct svg *svg, int64_t t_us)
{
    const struct team_chart *g = svg->g;
    const int64_t t = t_us < g->from_us ? g->from_us : t_us > g->to_us ? g->to_us : t_us;
    return svg->margin + (WIDTH - RIGHT - svg->margin) * (double)(t - g->from_us) /
                             (double)(g->to_us - g->from_us);
}

static double y_of(size_t lane)
{
    return TOP + LANE * (double)lane;
}

/* ---- lanes --------------------------------------------------------------------------------
 */

static const char *name_lane(const struct team_params *p, size_t lane)
{
    return lane < p->robot_count ? p->robots[lane].name
                                 : p->resources[lane - p->robot_count].name;
}

static size_t count_lanes(const struct team_params *p)
{
    return p->robot_count + p->resource_count;
}

/* Returns count_lanes() if the team has none of this name. */
static size_t find_lane(const struct team_params *p, const struct bar *bar)
{
    if (bar->kind != BAR_HOLD) {
        const size_t i = team_find_robot(p, bar->robot);
        return i < p->robot_count ? i : count_lanes(p);
    }
    size_t i = 0;
    while (i < p->resource_count && strcmp(p->resources[i].name, bar->resource) != 0) {
        i++;
    }
    return p->robot_count + i;
}

static double measure_names(const struct team_params *p)
{
    size_t longest = 0;
    for (size_t i = 0; i < count_lanes(p); i++) {
        const size_t length = strlen(name_lane(p, i));
        longest = length > longest ? length : longest;
    }
    const double width = 12 + CHARACTER * (double)longest;
    return width < MARGIN_MIN ? MARGIN_MIN : width > MARGIN_MAX ? MARGIN_MAX : width;
}

/* ---- bars ---------------------------------------------------------------------------------
 */

static void describe_bar(const struct bar *bar, char *text, size_t size)
{
    const char *gap = bar->arg[0] ? " " : "";
    const unsigned long long number = (unsigned long long)bar->number;
    switch (bar->kind) {
    case BAR_HOLD:
        (void)snprintf(text, size, "%s #%llu", bar->robot, number);
        break;
    case BAR_WAIT:
        (void)snprintf(text, size, "waits for %s", bar->resource);
        break;
    case BAR_MEET:
        (void)snprintf(text, size, "meets at %s", bar->task);
        break;
    case BAR_TASK:
    case BAR_FAILED:
    case BAR_AHEAD:
    case BAR_KIND_COUNT:
        (void)snprintf(text, size, "%s%s%s%s", bar->task, gap, bar->arg,
                       bar->kind == BAR_FAILED ? " failed" : "");
        break;
    }
}

static double seconds_of(const struct svg *svg, int64_t t_us)
{
    return (double)(t_us - svg->g->from_us) / 1e6;
}

static bool is_shown(const struct svg *svg, int64_t from_us, int64_t to_us)
{
    return to_us >= svg->g->from_us && from_us <= svg->g->to_us;
}

/* Draws a triangle above the predicted begin, which no border of a bar has, and a whisker from
 * P05 to P95 of the end, which a guess lacks. */
static void draw_forecast(const struct svg *svg, const struct bar *bar)
{
    const size_t lane = find_lane(svg->g->p, bar);
    char text[3 * BAR_NAME_MAX], escaped[6 * sizeof text], name[6 * BAR_NAME_MAX];
    if (!bar->has_forecast || lane >= count_lanes(svg->g->p)) {
        return;
    }
    const double y = y_of(lane), middle = y + (LANE - 6) / 2.0;
    describe_bar(bar, text, sizeof text);
    svg_printf(&svg->text,
               "<g class=\"forecast\" fill=\"none\" stroke=\"currentColor\"><title>%s: ",
               svg_escape(name_lane(svg->g->p, lane), name));
    const bool guess = bar->predicted_p05_us >= bar->predicted_p95_us;
    svg_printf(&svg->text, "%s, predicted to begin at %.3f s", svg_escape(text, escaped),
               seconds_of(svg, bar->predicted_from_us));
    if (!guess) {
        svg_printf(&svg->text, " and to end at %.3f s to %.3f s",
                   seconds_of(svg, bar->predicted_p05_us),
                   seconds_of(svg, bar->predicted_p95_us));
    }
    svg_printf(&svg->text, "</title>");
    if (is_shown(svg, bar->predicted_from_us, bar->predicted_from_us)) {
        svg_printf(&svg->text, "<path class=\"begin\" d=\"M %.1f %.0f l -4 -5 h 8 z\"/>",
                   x_of(svg, bar->predicted_from_us), y);
    }
    if (!guess && is_shown(svg, bar->predicted_p05_us, bar->predicted_p95_us)) {
        const double x = x_of(svg, bar->predicted_p05_us);
        const double end = x_of(svg, bar->predicted_p95_us);
        svg_printf(&svg->text, "<path d=\"M %.1f %.1f v 6 m 0 -3 H %.1f m 0 -3 v 6\"/>", x,
                   middle - 3, end);
    }
    svg_printf(&svg->text, "</g>\n");
}

static void draw_bar(const struct svg *svg, const struct bar *bar)
{
    const struct team_chart *g = svg->g;
    const size_t lane = find_lane(g->p, bar);
    if (bar->kind == BAR_AHEAD || lane >= count_lanes(g->p) ||
        !is_shown(svg, bar->from_us, bar->to_us)) {
        return;
    }
    char text[3 * BAR_NAME_MAX], escaped[6 * sizeof text], name[6 * BAR_NAME_MAX];
    describe_bar(bar, text, sizeof text);
    (void)svg_escape(text, escaped);
    const double x = x_of(svg, bar->from_us), end = x_of(svg, bar->to_us), y = y_of(lane);
    const double width = end - x > 1 ? end - x : 1;
    svg_printf(&svg->text, "<g class=\"%s\"><title>%s: ", bar_kind_name(bar->kind),
               svg_escape(name_lane(g->p, lane), name));
    svg_printf(&svg->text, "%s, %.3f s to %.3f s%s</title>", escaped,
               seconds_of(svg, bar->from_us), seconds_of(svg, bar->to_us),
               bar->open ? " and on" : "");
    const char *colour =
        COLOURS[team_find_robot(g->p, bar->robot) % (sizeof COLOURS / sizeof COLOURS[0])];
    const bool idle = bar->kind == BAR_WAIT || bar->kind == BAR_MEET;
    svg_printf(&svg->text,
               "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"%s\" "
               "fill-opacity=\"%s\" stroke=\"%s\"%s/>",
               x, y, width, LANE - 6, colour, idle ? ".08" : ".4",
               bar->kind == BAR_FAILED ? SVG_RED : colour,
               idle ? " stroke-dasharray=\"3 2\"" : "");
    if (bar->kind == BAR_FAILED) {
        svg_printf(&svg->text, "<path stroke=\"%s\" d=\"M %.1f %.0f L %.1f %.0f\"/>", SVG_RED,
                   x, y + LANE - 6, x + width, y);
    }
    if (width > CHARACTER * (double)strlen(text) + 6) {
        svg_printf(&svg->text, "<text x=\"%.1f\" y=\"%.0f\">%s</text>", x + 4, y + 14, escaped);
    }
    svg_printf(&svg->text, "</g>\n");
}

static void draw_mark(const struct svg *svg, const struct team_chart_mark *mark)
{
    char text[6 * TEAM_CHART_TEXT_MAX];
    svg_printf(&svg->text,
               "<path class=\"mark\" fill=\"%s\" d=\"M %.1f 18 l -5 -9 h 10 z\">"
               "<title>%s, %.3f s</title></path>\n",
               SVG_RED, x_of(svg, mark->t_us), svg_escape(mark->text, text),
               seconds_of(svg, mark->t_us));
}

/* ---- axes ---------------------------------------------------------------------------------
 */

/* Chooses the microseconds between ticks so that at most a dozen fit. */
static int64_t choose_step(int64_t span_us)
{
    static const int64_t steps[] = {1,   2,   5,    10,   20,   30,   60,    120,
                                    300, 600, 1200, 1800, 3600, 7200, 14400, 43200};
    size_t i = 0;
    while (i + 1 < sizeof steps / sizeof steps[0] && span_us / 1000000 / steps[i] > 12) {
        i++;
    }
    int64_t step = steps[i];
    while (span_us / 1000000 / step > 12) {
        step *= 2;
    }
    return step;
}

static void draw_axis(const struct svg *svg)
{
    const struct team_chart *g = svg->g;
    const int64_t step = choose_step(g->to_us - g->from_us);
    const double bottom = y_of(count_lanes(g->p));
    for (int64_t s = 0; g->from_us + s * 1000000 <= g->to_us; s += step) {
        const double x = x_of(svg, g->from_us + s * 1000000);
        svg_printf(
            &svg->text,
            "<path stroke=\"currentColor\" stroke-opacity=\".2\" d=\"M %.1f %d V %.0f\"/>", x,
            TOP - 2, bottom);
        svg_printf(&svg->text, "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%.0f\">", x,
                   bottom + 14);
        if (step < 60) {
            svg_printf(&svg->text, "%lld s</text>\n", (long long)s);
        } else {
            svg_printf(&svg->text, "%lld:%02lld</text>\n", (long long)(s / 3600),
                       (long long)(s / 60 % 60));
        }
    }
}

static void draw_lanes(const struct svg *svg)
{
    char name[6 * BAR_NAME_MAX];
    for (size_t i = 0; i < count_lanes(svg->g->p); i++) {
        svg_printf(&svg->text,
                   "<text x=\"4\" y=\"%.0f\">%s</text><path stroke=\"currentColor\" "
                   "stroke-opacity=\".2\" d=\"M %.0f %.0f H %d\"/>\n",
                   y_of(i) + 14, svg_escape(name_lane(svg->g->p, i), name), svg->margin,
                   y_of(i) + LANE - 3, WIDTH - RIGHT);
    }
}

void team_chart_write_svg(const struct team_chart *chart, json_write_flush *output,
                          void *context)
{
    const struct svg svg = {chart, {output, context}, measure_names(chart->p)};
    const size_t lanes = count_lanes(chart->p);
    char name[6 * EVENT_PAIR_MAX];
    svg_printf(&svg.text,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"team-chart\" "
               "viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"Chart of team %s\" "
               "font-family=\"sans-serif\" font-size=\"10\" fill=\"currentColor\">\n",
               WIDTH, y_of(lanes) + 22, svg_escape(chart->p->name, name));
    draw_axis(&svg);
    draw_lanes(&svg);
    for (size_t i = 0; i < chart->bar_count; i++) {
        draw_bar(&svg, &chart->bars[i]);
    }
    for (size_t i = 0; i < chart->bar_count; i++) {
        draw_forecast(&svg, &chart->bars[i]);
    }
    if (chart->now_us < chart->to_us) {
        svg_printf(&svg.text,
                   "<path class=\"now\" stroke=\"currentColor\" d=\"M %.1f %d V %.0f\">"
                   "<title>now</title></path>\n",
                   x_of(&svg, chart->now_us), TOP - 6, y_of(lanes));
    }
    for (size_t i = 0; i < chart->mark_count; i++) {
        draw_mark(&svg, &chart->marks[i]);
    }
    svg_printf(&svg.text, "</svg>\n");
}
