/* twin/pair/clock_line.h - the lower envelope of a window of points as a line, and how far
 * below the points the edge of their law may lie.
 *
 * The points are the lowest (arrival - source) of each bucket of time; their noise is
 * one-sided. Equations 4 to 9 of docs/model/clock.md. Used by the clock map alone.
 *
 * Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_PAIR_CLOCK_LINE_H
#define TWIN_PAIR_CLOCK_LINE_H

#include <stddef.h>

enum {
    CLOCK_LINE_POINTS_MAX = 48,
    CLOCK_LINE_POINTS_MIN = 10 /* below, a slope says more about noise than about the clock */
};

/* Stamps are whole microseconds: residuals of this size are rounding, not a pattern. */
#define CLOCK_LINE_QUANTUM_US 1.0

struct clock_line_points {
    size_t n;                           /* CLOCK_LINE_POINTS_MIN .. CLOCK_LINE_POINTS_MAX */
    double x_us[CLOCK_LINE_POINTS_MAX]; /* strictly ascending */
    double y_us[CLOCK_LINE_POINTS_MAX];
};

struct clock_line {
    size_t from, n;  /* it rests on the points from .. from + n - 1, the newest included */
    double mid_us;   /* mean x of these */
    double span_us;  /* last x - first x, > 0 */
    double level_us; /* at mid_us */
    double slope;
    double quartile_us, median_us; /* of the residuals, which are >= 0 */
};

/* Line below the points with the smallest mean residual and |slope| <= slope_max. The oldest
 * points are dropped until the residuals look random, or CLOCK_LINE_POINTS_MIN are left.
 * Sorts by insertion: O(n^2), once per point that is dropped. */
void clock_line_fit(const struct clock_line_points *p, double slope_max,
                    struct clock_line *line);

/* 1/shape of the lower tail of the law behind the residuals, taken as a Weibull law's: 1 is a
 * sharp edge (exponential, uniform), 0.2 the least that is told apart from none (eq. 8). */
double clock_line_shape_inv(const struct clock_line *line);

/* Distance from the lowest of the points down to the edge of their law, >= 0, for a given
 * 1/shape (eq. 9). */
double clock_line_gap_us(const struct clock_line *line, double shape_inv);

#endif
