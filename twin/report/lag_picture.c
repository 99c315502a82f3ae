#include "twin/report/lag_picture.h"

#include <math.h>
#include <stdio.h>

#include "logger/message/message.h"
#include "twin/report/svg_text.h"

enum { WIDTH = 960, PANEL = 230, LEFT = 64, RIGHT = 16, TOP = 26, BOTTOM = 36, TICKS = 8 };

/* A panel with the range of its data. */
struct frame {
    const struct svg_text *svg;
    const struct lag_panel *panel;
    double top;
    double x_low, x_high, y_low, y_high;
    bool empty;
};

static double x_of(const struct frame *f, double x)
{
    return LEFT + (WIDTH - RIGHT - LEFT) * (x - f->x_low) / (f->x_high - f->x_low);
}

static double y_of(const struct frame *f, double y)
{
    const double height = PANEL - TOP - BOTTOM;
    return f->top + TOP + height * (f->y_high - y) / (f->y_high - f->y_low);
}

static bool is_drawn(const struct lag_point *point)
{
    return isfinite(point->x) && isfinite(point->y);
}

static void include_value(double *low, double *high, double value)
{
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* Widens a range, so that no mark lies on the frame. */
static void widen_range(double *low, double *high)
{
    const double width = *high - *low;
    const double more = width > 0.0 ? 0.04 * width : fmax(0.1 * fabs(*low), 1e-3);
    *low -= more;
    *high += more;
}

static struct frame find_frame(const struct svg_text *svg, const struct lag_panel *panel,
                               size_t row)
{
    struct frame f = {svg,       panel,    PANEL * (double)row, INFINITY,
                      -INFINITY, INFINITY, -INFINITY,           true};
    for (size_t s = 0; s < panel->series_count; s++) {
        for (size_t i = 0; i < panel->series[s].count; i++) {
            const struct lag_point *point = &panel->series[s].points[i];
            if (is_drawn(point)) {
                include_value(&f.x_low, &f.x_high, point->x);
                include_value(&f.y_low, &f.y_high, point->y);
                f.empty = false;
            }
        }
    }
    if (!f.empty && panel->band_low < panel->band_high) {
        include_value(&f.y_low, &f.y_high, panel->band_low);
        include_value(&f.y_low, &f.y_high, panel->band_high);
    }
    widen_range(&f.x_low, &f.x_high);
    widen_range(&f.y_low, &f.y_high);
    return f;
}

/* ---- axes ---------------------------------------------------------------------------------
 */

/* 1, 2 or 5 times a power of ten, so that at most TICKS + 1 ticks fit. */
static double choose_step(double range)
{
    const double power = pow(10.0, floor(log10(range / TICKS)));
    const double ratio = range / TICKS / power;
    return power * (ratio <= 1.0 ? 1.0 : ratio <= 2.0 ? 2.0 : ratio <= 5.0 ? 5.0 : 10.0);
}

/* Times have steps that clocks know. */
static double choose_time_step(double range)
{
    static const double steps[] = {1,   2,   5,    10,   15,   30,    60,    120,
                                   300, 600, 1800, 3600, 7200, 14400, 43200, 86400};
    for (size_t i = 0; i < COUNT(steps); i++) {
        if (range / steps[i] <= TICKS) {
            return steps[i];
        }
    }
    return 86400.0 * ceil(range / TICKS / 86400.0);
}

static void format_tick(const struct frame *f, double value, double step, char text[24])
{
    char time[28]; /* 2026-11-20T05:55:55.599953Z */
    if (!f->panel->x_is_time) {
        (void)snprintf(text, 24, "%.6g", fabs(value) < 1e-9 * step ? 0.0 : value);
        return;
    }
    message_format_time((int64_t)(value * 1e6), time);
    (void)snprintf(text, 24, "%.*s",
                   step < 60.0      ? 8
                   : step < 86400.0 ? 5
                                    : 10,
                   step < 86400.0 ? time + 11 : time);
}

static void print_text(const struct svg_text *svg, double x, double y, bool at_end,
                       const char *text)
{
    svg_printf(svg, "<text%s x=\"%.1f\" y=\"%.1f\">", at_end ? " text-anchor=\"end\"" : "", x,
               y);
    svg_print_escaped(svg, text);
    svg_printf(svg, "</text>\n");
}

static void draw_x_axis(const struct frame *f)
{
    char text[24];
    const double bottom = f->top + PANEL - BOTTOM;
    const double range = f->x_high - f->x_low;
    const double step = f->panel->x_is_time ? choose_time_step(range) : choose_step(range);
    for (double k = ceil(f->x_low / step); k * step <= f->x_high; k += 1.0) {
        format_tick(f, k * step, step, text);
        svg_printf(f->svg,
                   "<path stroke=\"currentColor\" d=\"M %.1f %.1f v 4\"/><text "
                   "text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                   x_of(f, k * step), bottom, x_of(f, k * step), bottom + 14, text);
    }
    print_text(f->svg, WIDTH - RIGHT, bottom + 28, true, f->panel->x_label);
}

static void draw_y_axis(const struct frame *f)
{
    const double step = choose_step(f->y_high - f->y_low);
    for (double k = ceil(f->y_low / step); k * step <= f->y_high; k += 1.0) {
        const double y = y_of(f, k * step);
        svg_printf(f->svg,
                   "<path stroke=\"currentColor\" stroke-opacity=\"%s\" d=\"M %d %.1f H %d\"/>"
                   "<text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%.6g</text>\n",
                   fabs(k) < 0.5 ? ".6" : ".15", LEFT, y, WIDTH - RIGHT, LEFT - 4, y + 3,
                   fabs(k) < 0.5 ? 0.0 : k * step);
    }
    print_text(f->svg, 4.0, f->top + 14, false, f->panel->y_label);
}

static void draw_bands(const struct frame *f)
{
    const struct lag_panel *p = f->panel;
    if (p->band_low < p->band_high) {
        svg_printf(f->svg,
                   "<rect class=\"band\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" "
                   "fill=\"currentColor\" fill-opacity=\".1\"/>\n",
                   LEFT, y_of(f, p->band_high), WIDTH - RIGHT - LEFT,
                   y_of(f, p->band_low) - y_of(f, p->band_high));
    }
    if (isfinite(p->mark_y)) {
        svg_printf(f->svg,
                   "<path stroke=\"currentColor\" stroke-dasharray=\"6 3\" d=\"M %d %.1f H "
                   "%d\"/>\n",
                   LEFT, y_of(f, p->mark_y), WIDTH - RIGHT);
    }
}

/* ---- series -------------------------------------------------------------------------------
 */

static const char *colour_of(enum lag_mark mark, double y)
{
    const bool red =
        mark == LAG_MARK_CROSS || mark == LAG_MARK_DASHES || (mark == LAG_MARK_SIGN && y < 0.0);
    return red ? SVG_RED : SVG_BLUE;
}

static void draw_mark(const struct svg_text *svg, enum lag_mark mark, double x, double y,
                      double sign)
{
    static const char *const shapes[] = {[LAG_MARK_SIGN] = "m -3.5 3 h 7 l -3.5 -6.5 z",
                                         [LAG_MARK_CIRCLE] =
                                             "m -3 0 a 3 3 0 1 0 6 0 a 3 3 0 1 0 -6 0",
                                         [LAG_MARK_CROSS] = "m -3 -3 l 6 6 m 0 -6 l -6 6",
                                         [LAG_MARK_LINE] = "m -8 0 h 16",
                                         [LAG_MARK_DASHES] = "m -8 0 h 6 m 3 0 h 6"};
    const bool downwards = mark == LAG_MARK_SIGN && sign < 0.0;
    svg_printf(svg, "<path fill=\"none\" stroke=\"%s\" d=\"M %.1f %.1f %s\"/>\n",
               colour_of(mark, sign), x, y,
               downwards ? "m -3.5 -3 h 7 l -3.5 6.5 z" : shapes[mark]);
}

/* The points in progress. A line is one path. */
struct drawing {
    const struct frame *f;
    enum lag_mark mark;
    bool is_line, begun;
};

static void draw_point(struct drawing *d, const struct lag_point *point)
{
    const double x = x_of(d->f, point->x);
    const double y = y_of(d->f, point->y);
    if (d->is_line) {
        svg_printf(d->f->svg, "%s%.1f %.1f ", d->begun ? "L " : "M ", x, y);
    } else {
        draw_mark(d->f->svg, d->mark, x, y, point->y);
    }
    d->begun = true;
}

/* Draws the least and the greatest of points[count], in their order. */
static void draw_extremes(struct drawing *d, const struct lag_point *points, size_t count)
{
    const struct lag_point *least = NULL;
    const struct lag_point *greatest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (is_drawn(&points[i])) {
            least = !least || points[i].y < least->y ? &points[i] : least;
            greatest = !greatest || points[i].y > greatest->y ? &points[i] : greatest;
        }
    }
    if (least) {
        draw_point(d, least < greatest ? least : greatest);
        if (least != greatest) {
            draw_point(d, least < greatest ? greatest : least);
        }
    }
}

static void draw_series(const struct frame *f, const struct lag_series *s)
{
    struct drawing d = {f, s->mark, s->mark == LAG_MARK_LINE || s->mark == LAG_MARK_DASHES,
                        false};
    const size_t intervals = LAG_PICTURE_POINTS_MAX / 2;
    if (d.is_line) {
        svg_printf(f->svg, "<path fill=\"none\" stroke=\"%s\"%s d=\"", colour_of(s->mark, 0.0),
                   s->mark == LAG_MARK_DASHES ? " stroke-dasharray=\"5 3\"" : "");
    }
    for (size_t i = 0; i < s->count && s->count <= LAG_PICTURE_POINTS_MAX; i++) {
        draw_extremes(&d, &s->points[i], 1);
    }
    for (size_t k = 0; k < intervals && s->count > LAG_PICTURE_POINTS_MAX; k++) {
        const size_t from = k * s->count / intervals;
        draw_extremes(&d, &s->points[from], (k + 1) * s->count / intervals - from);
    }
    if (d.is_line) {
        svg_printf(f->svg, "\"/>\n");
    }
}

static void draw_legend(const struct frame *f)
{
    double x = WIDTH / 2.0;
    for (size_t s = 0; s < f->panel->series_count; s++) {
        const struct lag_series *series = &f->panel->series[s];
        if (series->name) {
            draw_mark(f->svg, series->mark, x, f->top + 11, 1.0);
            print_text(f->svg, x + 12.0, f->top + 14, false, series->name);
            x += 200.0;
        }
    }
}

static void draw_panel(const struct svg_text *svg, const struct lag_panel *panel, size_t row)
{
    const struct frame f = find_frame(svg, panel, row);
    if (f.empty) {
        print_text(svg, LEFT, f.top + PANEL / 2.0, false, "There is no point to draw.");
        return;
    }
    draw_bands(&f);
    draw_x_axis(&f);
    draw_y_axis(&f);
    for (size_t s = 0; s < panel->series_count; s++) {
        draw_series(&f, &panel->series[s]);
    }
    draw_legend(&f);
}

void lag_picture_write(const struct lag_picture *picture, json_write_flush *output,
                       void *context)
{
    const struct svg_text svg = {output, context};
    svg_printf(&svg,
               "<svg%s class=\"lag-picture\" viewBox=\"0 0 %d %zu\" role=\"img\" "
               "font-family=\"sans-serif\" font-size=\"10\" fill=\"currentColor\">\n",
               picture->embedded ? "" : " xmlns=\"http://www.w3.org/2000/svg\"", WIDTH,
               PANEL * picture->panel_count);
    svg_printf(&svg, "<title>");
    svg_print_escaped(&svg, picture->title);
    svg_printf(&svg, "</title><desc>");
    svg_print_escaped(&svg, picture->description);
    svg_printf(&svg, "</desc>\n");
    for (size_t i = 0; i < picture->panel_count; i++) {
        draw_panel(&svg, &picture->panels[i], i);
    }
    svg_printf(&svg, "</svg>\n");
}
