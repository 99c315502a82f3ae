#include "twin/pair/clock_line.h"

#include <math.h>
#include <stdbool.h>

enum {
    OLDEST = 2,      /* points that may be left over from before a change of the clock */
    LAST_RUN = 8,    /* newest points above the median: by chance once in 256 */
    SHAPE_STEPS = 12 /* bisections for the shape: 4096 steps over its range */
};

/* One-sided 1 % point: each closed bucket asks again, a laxer test would shorten good windows.
 */
#define RUNS_Z (-2.326)
/* Range of 1/shape: 1 is exponential; below 0.2 the tail is no edge at all. */
#define SHAPE_INV_MIN 0.2

struct residuals {
    double r_us[CLOCK_LINE_POINTS_MAX];      /* in order of time, >= 0 */
    double sorted_us[CLOCK_LINE_POINTS_MAX]; /* the same, ascending */
};

/* The lower envelope of a clock (docs/model/clock.md). A stamp that arrives shows the offset of
 * the clocks plus a delay that is never below zero, with a long tail upwards: the mean wanders
 * with the network, the edge does not. Of all lines below the points the one with the smallest
 * mean distance goes through an edge of their lower convex hull, the one that spans the mean of
 * the times: no search is needed. Signs of the residuals in too few runs say that a line does
 * not describe the window, which is shortened at its old end until one does. */

/* Edge of the lower convex hull of points from..n-1 that spans x_us = mid: among all lines
 * below the points the one with the smallest mean residual (eq. 5). */
static void hull_edge(const struct clock_line_points *p, size_t from, double mid, size_t *left,
                      size_t *right)
{
    size_t hull[CLOCK_LINE_POINTS_MAX] = {0};
    size_t size = 0;

    for (size_t i = from; i < p->n; i++) {
        while (size >= 2) {
            const size_t a = hull[size - 2];
            const size_t b = hull[size - 1];
            const double turn = (p->x_us[b] - p->x_us[a]) * (p->y_us[i] - p->y_us[a]) -
                                (p->y_us[b] - p->y_us[a]) * (p->x_us[i] - p->x_us[a]);
            if (turn > 0.0) {
                break;
            }
            size--;
        }
        hull[size++] = i;
    }
    size_t k = 1;
    while (k + 1 < size && p->x_us[hull[k]] < mid) {
        k++;
    }
    *left = hull[k - 1];
    *right = hull[k];
}

static void insert_sorted(double *sorted, size_t n, double value)
{
    while (n > 0 && sorted[n - 1] > value) {
        sorted[n] = sorted[n - 1];
        n--;
    }
    sorted[n] = value;
}

/* Envelope of the points from..n-1, at least two, with |slope| <= slope_max. */
static void fit_line(const struct clock_line_points *p, size_t from, double slope_max,
                     struct clock_line *line, struct residuals *res)
{
    const size_t n = p->n - from;
    size_t a;
    size_t b;

    line->mid_us = 0.0;
    for (size_t i = from; i < p->n; i++) {
        line->mid_us += p->x_us[i] / (double)n;
    }
    hull_edge(p, from, line->mid_us, &a, &b);
    line->slope = (p->y_us[b] - p->y_us[a]) / (p->x_us[b] - p->x_us[a]);
    line->slope = fmax(-slope_max, fmin(slope_max, line->slope));
    line->level_us = INFINITY;
    for (size_t i = from; i < p->n; i++) {
        res->r_us[i - from] = p->y_us[i] - line->slope * (p->x_us[i] - line->mid_us);
        line->level_us = fmin(line->level_us, res->r_us[i - from]);
    }
    for (size_t i = 0; i < n; i++) {
        res->r_us[i] -= line->level_us;
        insert_sorted(res->sorted_us, i, res->r_us[i]);
    }
}

/* All residuals but those of the oldest points exceed half the median: a handful of points from
 * before a change hold a line, at its steepest, that has nothing to do with the others. */
static bool hangs_on_oldest(const struct residuals *res, size_t n)
{
    for (size_t i = OLDEST; i < n; i++) {
        if (res->r_us[i] < 0.5 * res->sorted_us[n / 2]) {
            return false;
        }
    }
    return true;
}

/* Wald and Wolfowitz: too few runs about the median mean that a line does not describe the
 * window (eq. 7). Nor does it when the newest buckets are all above the median: the old part of
 * the window still holds the line while the clock has gone elsewhere. */
static bool looks_random(const struct residuals *res, size_t n)
{
    const double median = res->sorted_us[n / 2];
    double high = 0.0;
    double runs = 0.0;
    int last = -1;
    int length = 0; /* of the present run */

    if (!(median > 2.0 * CLOCK_LINE_QUANTUM_US)) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        const int side = res->r_us[i] >= median;
        length = side == last ? length + 1 : 1;
        high += side;
        runs += side != last;
        last = side;
    }
    if ((last == 1 && length >= LAST_RUN) || hangs_on_oldest(res, n)) {
        return false;
    }
    const double low = (double)n - high;
    if (high < 3.0 || low < 3.0) {
        return true;
    }
    const double mean = 2.0 * high * low / (double)n + 1.0;
    const double var = (mean - 1.0) * (mean - 2.0) / ((double)n - 1.0);
    return runs + 0.5 - mean > RUNS_Z * sqrt(var);
}

/* Weibull quantiles relative to the scale, the shape being 1/k: median, quartile, and where the
 * lowest of n lies. */
struct weibull {
    double median, quartile, lowest;
};

static struct weibull weibull_at(double k, double log_n)
{
    const double log_log_2 = -0.36651292058166435; /* ln ln 2 */
    const double log_log_43 = -1.2458993237072384; /* ln ln 4/3 */

    return (struct weibull){exp(k * log_log_2), exp(k * log_log_43), exp(-k * log_n)};
}

double clock_line_shape_inv(const struct clock_line *line)
{
    const double log_n = log((double)line->n);
    double low = SHAPE_INV_MIN;
    double high = 1.0;

    for (int step = 0; step < SHAPE_STEPS; step++) {
        const double k = 0.5 * (low + high);
        const struct weibull w = weibull_at(k, log_n);
        /* (median - quartile) / (quartile - lowest) grows with k. */
        if ((line->median_us - line->quartile_us) * (w.quartile - w.lowest) >
            (w.median - w.quartile) * line->quartile_us) {
            low = k;
        } else {
            high = k;
        }
    }
    return 0.5 * (low + high);
}

double clock_line_gap_us(const struct clock_line *line, double shape_inv)
{
    const struct weibull w = weibull_at(fmax(shape_inv, SHAPE_INV_MIN), log((double)line->n));
    /* Two ways to the scale, of which the larger is taken: by chance quartile and median can
     * lie close to each other. */
    const double scale_us =
        fmax((line->median_us - line->quartile_us) / (w.median - w.quartile),
             line->median_us / w.median);

    return scale_us * w.lowest;
}

void clock_line_fit(const struct clock_line_points *p, double slope_max,
                    struct clock_line *line)
{
    struct residuals res = {0};
    size_t from = 0;

    fit_line(p, from, slope_max, line, &res);
    while (p->n - from > CLOCK_LINE_POINTS_MIN && !looks_random(&res, p->n - from)) {
        from++;
        fit_line(p, from, slope_max, line, &res);
    }
    line->from = from;
    line->n = p->n - from;
    line->span_us = p->x_us[p->n - 1] - p->x_us[from];
    line->quartile_us = res.sorted_us[line->n / 4];
    line->median_us = res.sorted_us[line->n / 2];
}
