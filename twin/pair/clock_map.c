#include "twin/pair/clock_map.h"

#include <math.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "identification/fit/estimate.h"
#include "twin/pair/pair_thresholds.def"

/* ---- the lower envelope -------------------------------------------------------------------
 */

enum {
    OLDEST = 2,      /* points that may be left over from before a change of the clock */
    SHAPE_STEPS = 12 /* bisections for the shape: 4096 steps over its range */
};

struct residuals {
    double r_us[CLOCK_MAP_BUCKETS];    /* in order of time, >= 0 */
    double rest_us[CLOCK_MAP_BUCKETS]; /* the same, partitioned at the median */
    double median_us;
};

/* Returns the k-th smallest of n values, k from 0, and moves the smaller ones before the k-th.
 * Half of all comparisons cannot be predicted, so values are exchanged without a branch. */
static double select_smallest(double *x, size_t n, size_t k)
{
    size_t low = 0;
    size_t last = n - 1;

    for (;;) {
        const size_t middle = low + (last - low) / 2;
        const double pivot = x[middle];
        size_t at = low;
        x[middle] = x[last];
        for (size_t i = low; i < last; i++) {
            const double value = x[i];
            x[i] = x[at];
            x[at] = value;
            at += value < pivot;
        }
        x[last] = x[at];
        x[at] = pivot;
        if (at == k) {
            return pivot;
        }
        if (k < at) {
            last = at - 1;
        } else {
            low = at + 1;
        }
    }
}

/* The lower envelope of a clock (docs/model/clock.md).
 *
 * It estimates offset and drift of two clocks. Each stamp gives the offset plus a delay that is
 * never negative and has a long upper tail. The network moves the mean of the delay but not its
 * lower edge, so the edge is fitted, not the mean. Of all lines below the points, the one with
 * the smallest mean distance passes through an edge of their lower convex hull: the edge that
 * spans the mean of the times (eq. 5). No iterative search is needed. A line is assumed to hold
 * over the window. The runs test of the residuals' signs checks this (eq. 7), and the window is
 * shortened at its old end until the test passes. */

/* Finds the edge of the lower convex hull of points from..n-1 that spans x_us = mid. Its line
 * has the smallest mean residual of all lines below the points (eq. 5). */
static void hull_edge(const struct clock_line_points *p, size_t from, double mid, size_t *left,
                      size_t *right)
{
    uint8_t hull[CLOCK_MAP_BUCKETS] = {0};
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
        hull[size++] = (uint8_t)i;
    }
    size_t k = 1;
    while (k + 1 < size && p->x_us[hull[k]] < mid) {
        k++;
    }
    *left = hull[k - 1];
    *right = hull[k];
}

/* Fits the envelope of the points from..n-1, at least two, with |slope| <= slope_max. */
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
        line->level_us =
            res->r_us[i - from] < line->level_us ? res->r_us[i - from] : line->level_us;
    }
    for (size_t i = 0; i < n; i++) {
        res->r_us[i] -= line->level_us;
        res->rest_us[i] = res->r_us[i];
    }
    res->median_us = select_smallest(res->rest_us, n, n / 2);
}

/* True if all residuals except those of the oldest points exceed half the median: then a few
 * points from before a change hold the line at its steepest, and it does not describe the
 * others. */
static bool hangs_on_oldest(const struct residuals *res, size_t n)
{
    for (size_t i = OLDEST; i < n; i++) {
        if (res->r_us[i] < 0.5 * res->median_us) {
            return false;
        }
    }
    return true;
}

/* Wald-Wolfowitz test: too few runs about the median mean that a line does not describe the
 * window (eq. 7). The same holds if the newest buckets are all above the median: the old part
 * of the window holds the line while the clock has changed. */
static bool looks_random(const struct residuals *res, size_t n)
{
    const double median = res->median_us;
    int above = res->r_us[0] >= median;
    int run_count = 1;
    size_t newest = 0; /* length of the newest run above the median, up to LAST_RUN */

    if (!(median > 2.0 * CLOCK_LINE_QUANTUM_US)) {
        return true;
    }
    for (size_t i = 1; i < n; i++) {
        const int side = res->r_us[i] >= median;
        above += side;
        run_count += side != (res->r_us[i - 1] >= median);
    }
    while (newest < LAST_RUN && newest < n && res->r_us[n - 1 - newest] >= median) {
        newest++;
    }
    if (newest == LAST_RUN || hangs_on_oldest(res, n)) {
        return false;
    }
    const double high = above;
    const double low = (double)n - high;
    if (high < 3.0 || low < 3.0) {
        return true;
    }
    const double mean = 2.0 * high * low / (double)n + 1.0;
    const double var = (mean - 1.0) * (mean - 2.0) / ((double)n - 1.0);
    return run_count + 0.5 - mean > RUNS_Z * sqrt(var);
}

/* Weibull quantiles relative to the scale, for shape 1/k: median, quartile, and expected
 * minimum of n. */
struct weibull {
    double median, quartile, lowest;
};

static struct weibull weibull_at(double k, double log_n)
{
    const double log_log_2 = -0.36651292058166435; /* ln ln 2 */
    const double log_log_43 = -1.2458993237072384; /* ln ln 4/3 */

    return (struct weibull){exp(k * log_log_2), exp(k * log_log_43), exp(-k * log_n)};
}

/* Estimates 1/shape of the residuals' lower tail as a Weibull distribution: 1 is a sharp edge
 * (exponential, uniform), 0.2 the smallest distinguishable value (eq. 8). */
static double find_shape_inv(const struct clock_line *line)
{
    const double log_n = log((double)line->n);
    double low = SHAPE_INV_MIN;
    double high = 1.0;
    struct weibull at_low = weibull_at(low, log_n);
    /* The quantiles are powers: those at the middle are those at low times these roots. */
    struct weibull root = weibull_at(high - low, log_n);

    for (int step = 0; step < SHAPE_STEPS; step++) {
        const double k = 0.5 * (low + high);
        root = (struct weibull){sqrt(root.median), sqrt(root.quartile), sqrt(root.lowest)};
        const struct weibull w = {at_low.median * root.median, at_low.quartile * root.quartile,
                                  at_low.lowest * root.lowest};
        /* (median - quartile) / (quartile - lowest) grows with k. */
        if ((line->median_us - line->quartile_us) * (w.quartile - w.lowest) >
            (w.median - w.quartile) * line->quartile_us) {
            low = k;
            at_low = w;
        } else {
            high = k;
        }
    }
    return 0.5 * (low + high);
}

/* Estimates the distance from the lowest point down to the edge of the distribution, >= 0, for
 * a given 1/shape (eq. 9). */
static double find_gap_us(const struct clock_line *line, double shape_inv)
{
    const struct weibull w = weibull_at(fmax(shape_inv, SHAPE_INV_MIN), log((double)line->n));
    /* The scale is estimated in two ways and the larger is used, because quartile and median
     * can be close by chance. */
    const double scale_us =
        fmax((line->median_us - line->quartile_us) / (w.median - w.quartile),
             line->median_us / w.median);

    return scale_us * w.lowest;
}

void clock_line_fit(const struct clock_line_points *p, double slope_max,
                    struct clock_line *line)
{
    struct residuals res;
    size_t from = 0;

    fit_line(p, from, slope_max, line, &res);
    while (p->n - from > CLOCK_LINE_POINTS_MIN && !looks_random(&res, p->n - from)) {
        from++;
        fit_line(p, from, slope_max, line, &res);
    }
    line->from = from;
    line->n = p->n - from;
    line->span_us = p->x_us[p->n - 1] - p->x_us[from];
    line->median_us = res.median_us;
    line->quartile_us = select_smallest(res.rest_us, line->n / 2, line->n / 4);
}

/* ---- the map ------------------------------------------------------------------------------
 */

enum {
    SHAPES_MAX = 200, /* windows over which the shape is averaged */
    SHAPE_KNOWN = 16  /* residuals that what is known of the shape beforehand is worth */
};

/* Drift of a crystal between windows: widens the margin for jumps after a silence. */
#define WANDER 1e-6
/* Random walk of a plain crystal's rate, per root second: about 1 ppm in three hours. That
 * exceeds a quiet room's, and is less than that of a robot carried from the cold into the
 * warm. */
#define DRIFT_WALK 1e-8
/* Standard error of 1/shape times the root of the number of residuals. */
#define SHAPE_DOUBT 2.2
/* One sigma of the level, and of slope times span, in gaps. It is chosen such that the claimed
 * error was not below the actual one for any tested distribution (eq. 10). */
#define LEVEL_GAPS 1.0
#define SLOPE_GAPS 3.5

#define US_LIMIT ((int64_t)(LAB_TIME_S_LIMIT * 1e6))

static bool is_absurd(int64_t us)
{
    return us > US_LIMIT || us < -US_LIMIT;
}

static double line_at(const struct clock_map *map, int64_t t_us)
{
    return map->offset_us + map->drift * (double)(t_us - map->at_us);
}

static double drift_prior_sd(const struct clock_map_params *p)
{
    return p->drift_ppm_max * 1e-6 / sqrt(3.0); /* uniform within +-max */
}

static void forget_buckets(struct clock_map *map)
{
    memset(map, 0, offsetof(struct clock_map, samples));
}

void clock_map_restart(struct clock_map *map)
{
    forget_buckets(map);
    map->restarts++;
}

/* Loads the ring relative to its newest point, so that the numbers are small. */
static void load_points(const struct clock_map *map, struct clock_line_points *points)
{
    const struct clock_map_point *newest =
        &map->bucket[(map->first + map->count - 1) % CLOCK_MAP_BUCKETS];

    points->n = map->count;
    for (size_t i = 0; i < points->n; i++) {
        const struct clock_map_point *point =
            &map->bucket[(map->first + i) % CLOCK_MAP_BUCKETS];
        points->x_us[i] = (double)(point->t_us - newest->t_us);
        points->y_us[i] = (double)(point->delay_us - newest->delay_us);
    }
}

/* With too few buckets, or noise too large for a slope: uses the lowest sample, and the prior
 * of the drift. */
static void rest_on_lowest(struct clock_map *map, const struct clock_map_params *p)
{
    struct clock_map_point lowest = map->open;
    double sum = 0.0;

    for (size_t i = 0; i < map->count; i++) {
        const struct clock_map_point *point =
            &map->bucket[(map->first + i) % CLOCK_MAP_BUCKETS];
        if (point->delay_us < lowest.delay_us) {
            lowest = *point;
        }
    }
    for (size_t i = 0; i < map->count; i++) {
        sum += (double)(map->bucket[(map->first + i) % CLOCK_MAP_BUCKETS].delay_us -
                        lowest.delay_us);
    }
    map->state = CLOCK_MAP_WARMING;
    map->used = 0;
    map->at_us = lowest.t_us;
    map->offset_us = (double)lowest.delay_us;
    map->drift = 0.0;
    map->drift_sd = drift_prior_sd(p);
    map->offset_us_sd = (double)p->jump_us / (1.0 + (double)map->fresh_count);
    if (map->count >= CLOCK_LINE_POINTS_MIN / 2) {
        const double n = (double)map->count;
        map->offset_us_sd = 2.0 * sum / (n * (n - 1.0)) + CLOCK_LINE_QUANTUM_US;
    }
}

static void refresh_path(struct clock_map *map)
{
    const double lower = map->probe_offset_us - 0.5 * (double)map->rtt_us;

    map->path_us = fmax(0.0, line_at(map, map->probe_at_us) - lower);
}

static void refit_line(struct clock_map *map, const struct clock_map_params *p)
{
    struct clock_line_points points;
    struct clock_line line;

    if (map->count < CLOCK_LINE_POINTS_MIN) {
        rest_on_lowest(map, p);
        return;
    }
    const struct clock_map_point newest =
        map->bucket[(map->first + map->count - 1) % CLOCK_MAP_BUCKETS];
    load_points(map, &points);
    clock_line_fit(&points, p->drift_ppm_max * 1e-6, &line);
    map->first = (uint16_t)((map->first + line.from) % CLOCK_MAP_BUCKETS);
    map->count = (uint16_t)line.n;

    /* The shape is a property of the network, not of this window, so it is averaged over
     * many. */
    if (map->shapes < SHAPES_MAX) {
        map->shapes++;
    }
    map->shape_inv += (find_shape_inv(&line) - map->shape_inv) / (double)map->shapes;
    const double doubt = SHAPE_DOUBT / sqrt((double)(SHAPE_KNOWN + line.n + map->shapes));
    const double gap_us = find_gap_us(&line, map->shape_inv);
    const double wide_us = find_gap_us(&line, map->shape_inv - doubt) + CLOCK_LINE_QUANTUM_US;
    const double walk = DRIFT_WALK * sqrt(line.span_us * 1e-6);
    const double drift_sd = hypot(SLOPE_GAPS * wide_us / line.span_us, walk);
    if (!(drift_sd < drift_prior_sd(p))) {
        rest_on_lowest(map, p);
        return;
    }
    map->state = CLOCK_MAP_LOCKED;
    map->used = map->count;
    map->at_us = newest.t_us + (int64_t)llround(line.mid_us);
    map->drift = line.slope;
    map->drift_sd = drift_sd;
    map->offset_us =
        (double)newest.delay_us + (line.level_us - (1.0 + map->shape_inv) * gap_us);
    map->offset_us_sd = LEVEL_GAPS * wide_us;
}

static void open_bucket(struct clock_map *map, int64_t arrival_us, int64_t delay_us)
{
    map->open.t_us = arrival_us;
    map->open.delay_us = delay_us;
    map->open_since_us = arrival_us;
}

static void close_bucket(struct clock_map *map, const struct clock_map_params *p)
{
    if (map->count == CLOCK_MAP_BUCKETS) {
        map->first = (uint16_t)((map->first + 1) % CLOCK_MAP_BUCKETS);
        map->count--;
    }
    map->bucket[(map->first + map->count) % CLOCK_MAP_BUCKETS] = map->open;
    map->count++;
    refit_line(map, p);
    /* A probe older than the window cannot be compared with the line, so its bound stays. */
    if (map->probed && map->probe_at_us >= map->bucket[map->first].t_us) {
        refresh_path(map);
    }
}

static void begin_map(struct clock_map *map, const struct clock_map_params *p,
                      int64_t arrival_us, int64_t delay_us)
{
    forget_buckets(map);
    open_bucket(map, arrival_us, delay_us);
    map->fresh_count = 1;
    rest_on_lowest(map, p);
}

static enum clock_map_outcome apply_jump(struct clock_map *map,
                                         const struct clock_map_params *p, int64_t arrival_us,
                                         int64_t delay_us, double excess_us)
{
    map->jumps++;
    map->last_jump_us = -(int64_t)llround(excess_us);
    map->last_jump_at_us = arrival_us;
    begin_map(map, p, arrival_us, delay_us);
    return CLOCK_MAP_JUMPED;
}

/* Returns the distance from the line beyond which a sample suggests that the clock was set. */
static double margin_us(const struct clock_map *map, const struct clock_map_params *p,
                        int64_t t_us)
{
    const double rate = fmin(3.0 * map->drift_sd + WANDER, p->drift_ppm_max * 1e-6);

    return (double)p->jump_us + rate * fabs((double)(t_us - map->at_us));
}

static void start_stage(struct clock_map *map, int64_t arrival_us, int64_t excess_us,
                        int64_t before_us)
{
    map->above_count = 1;
    map->above_since_us = arrival_us;
    map->above_lowest_us = excess_us;
    map->above_before_us = before_us;
}

/* Adds a sample far above the line. True if the run proves that the clock was set back: several
 * stages, each with several samples over a bucket, have equal lowest excesses. A queue that
 * builds up or drains gives unequal excesses, and one that is flushed at once does not last.
 * Ordered transport cannot make a stamp older than its predecessor. So a run that begins with
 * an older stamp is accepted soon, any other only after it has lasted longer than network
 * delays do (eq. 12). */
static bool stepped_back(struct clock_map *map, const struct clock_map_params *p,
                         int64_t arrival_us, int64_t excess_us, bool older)
{
    if (!map->above || (older && map->above > STAGES_OLDER)) {
        map->above = older ? STAGES_OLDER : STAGES_PLAIN;
        map->above_denied = 0;
        start_stage(map, arrival_us, excess_us, 0);
        map->above_agreed = 0;
        return false;
    }
    map->above_count++;
    if (excess_us < map->above_lowest_us) {
        map->above_lowest_us = excess_us;
    }
    if (map->above_count < STAGE_MIN || arrival_us - map->above_since_us < p->bucket_us) {
        return false;
    }
    const int64_t before_us = map->above_before_us;
    const int64_t lowest_us = map->above_lowest_us;
    const int64_t apart_us =
        lowest_us > before_us ? lowest_us - before_us : before_us - lowest_us;
    map->above_agreed = apart_us > p->jump_us / 2 ? 1 : (uint8_t)(map->above_agreed + 1);
    if (map->above_agreed >= map->above && !map->above_denied) {
        return true;
    }
    if (map->above_agreed >= map->above) { /* a probe denied it: the next stage decides again */
        map->above_agreed--;
    }
    map->above_denied = 0;
    start_stage(map, arrival_us, excess_us, lowest_us);
    return false;
}

/* Tracks the 95 % point of the excess: steps up are 19 times as large as steps down, so that it
 * balances where 1 in 20 lies above. Steps are proportional, so that it finds any scale. */
static void track_jitter(struct clock_map *map, double excess_us)
{
    const double step_us = 0.1 * (map->jitter_us + CLOCK_LINE_QUANTUM_US);

    map->jitter_us += excess_us > map->jitter_us ? 0.95 * step_us : -0.05 * step_us;
}

static enum clock_map_outcome add_stamp(struct clock_map *map, const struct clock_map_params *p,
                                        int64_t arrival_us, int64_t source_us)
{
    const int64_t delay_us = arrival_us - source_us;
    const bool older = source_us < map->last_source_us;

    map->last_source_us = source_us;
    map->last_arrival_us = arrival_us;
    map->samples++;
    if (map->state == CLOCK_MAP_NONE) {
        begin_map(map, p, arrival_us, delay_us);
        return CLOCK_MAP_FINE;
    }
    const double excess_us = (double)delay_us - line_at(map, arrival_us);
    const double margin = margin_us(map, p, arrival_us);
    if (excess_us < -margin) {
        if (map->fresh_count >= FIRM_MIN) {
            return apply_jump(map, p, arrival_us, delay_us, excess_us);
        }
        begin_map(map, p, arrival_us, delay_us); /* the first messages had waited in a queue */
        return CLOCK_MAP_FINE;
    }
    track_jitter(map, excess_us);
    if (excess_us > margin) {
        return stepped_back(map, p, arrival_us, (int64_t)llround(excess_us), older)
                   ? apply_jump(map, p, arrival_us, delay_us, (double)map->above_lowest_us)
                   : CLOCK_MAP_FINE;
    }
    map->above = 0;
    map->fresh_count += map->fresh_count < UINT32_MAX;
    if (arrival_us - map->open_since_us >= p->bucket_us) {
        close_bucket(map, p);
        open_bucket(map, arrival_us, delay_us);
    }
    /* The lowest is chosen along the line, because with a large drift the lowest raw difference
     * is merely the first or last of its bucket. */
    if ((double)(delay_us - map->open.delay_us) <
        map->drift * (double)(arrival_us - map->open.t_us)) {
        map->open.t_us = arrival_us;
        map->open.delay_us = delay_us;
    }
    if (map->state == CLOCK_MAP_WARMING && excess_us < 0.0) {
        map->offset_us = (double)delay_us;
        map->at_us = arrival_us;
    }
    return CLOCK_MAP_FINE;
}

enum clock_map_outcome clock_map_sample(struct clock_map *map, const struct clock_map_params *p,
                                        int64_t arrival_us, int64_t source_us)
{
    if (is_absurd(arrival_us) || is_absurd(source_us) ||
        (map->state != CLOCK_MAP_NONE && arrival_us < map->last_arrival_us)) {
        map->refused++;
        return CLOCK_MAP_FINE;
    }
    return add_stamp(map, p, arrival_us, source_us);
}

enum clock_map_outcome clock_map_probe(struct clock_map *map, const struct clock_map_params *p,
                                       int64_t sent_us, int64_t source_received_us,
                                       int64_t source_sent_us, int64_t arrived_us)
{
    if (is_absurd(sent_us) || is_absurd(source_received_us) || is_absurd(source_sent_us) ||
        is_absurd(arrived_us) || arrived_us < sent_us || source_sent_us < source_received_us ||
        arrived_us - sent_us < source_sent_us - source_received_us ||
        (map->state != CLOCK_MAP_NONE && arrived_us < map->last_arrival_us)) {
        map->refused++;
        return CLOCK_MAP_FINE;
    }
    const int64_t rtt_us = (arrived_us - sent_us) - (source_sent_us - source_received_us);
    const int64_t lower_us = sent_us - source_received_us; /* lower bound of lab - robot */
    enum clock_map_outcome outcome = CLOCK_MAP_FINE;

    map->probes++;
    if (map->state != CLOCK_MAP_NONE) {
        const double above_us = (double)lower_us - line_at(map, arrived_us);
        if (above_us > margin_us(map, p, arrived_us) && map->fresh_count >= FIRM_MIN) {
            outcome =
                apply_jump(map, p, arrived_us, arrived_us - source_sent_us,
                           (double)(arrived_us - source_sent_us) - line_at(map, arrived_us));
        } else if (map->above && above_us < 0.5 * (double)map->above_lowest_us) {
            map->above_denied = 1;
        }
    }
    const enum clock_map_outcome sampled = add_stamp(map, p, arrived_us, source_sent_us);
    if (sampled != CLOCK_MAP_FINE) {
        outcome = sampled;
    }
    const int64_t age_us = arrived_us - map->probe_at_us;
    if (!map->probed || age_us > CLOCK_MAP_BUCKETS * p->bucket_us ||
        (double)rtt_us <= (double)map->rtt_us + 2.0 * map->drift_sd * (double)age_us) {
        map->probed = 1;
        map->rtt_us = rtt_us;
        map->probe_at_us = arrived_us;
        map->probe_offset_us = (double)lower_us + 0.5 * (double)rtt_us;
        refresh_path(map);
    }
    return outcome;
}

double clock_map_offset_us(const struct clock_map *map, int64_t t_us)
{
    if (map->state == CLOCK_MAP_NONE || is_absurd(t_us)) {
        return nan("");
    }
    return line_at(map, t_us) - (map->probed ? 0.5 * map->path_us : 0.0);
}

/* The line is a function of lab time: t = s + offset + drift * (t - at) is solved for t. */
static double since_at(const struct clock_map *map, int64_t source_us)
{
    const int64_t sum_us = source_us - map->at_us + (int64_t)llround(map->offset_us);

    return (double)sum_us / (1.0 - map->drift);
}

int64_t clock_map_to_lab(const struct clock_map *map, int64_t source_us)
{
    if (map->state == CLOCK_MAP_NONE || is_absurd(source_us)) {
        return LAB_TIME_NONE;
    }
    const double path_us = map->probed ? 0.5 * map->path_us : 0.0;
    return map->at_us + (int64_t)llround(since_at(map, source_us) - path_us);
}

double clock_map_sd_us(const struct clock_map *map, int64_t t_us)
{
    if (map->state == CLOCK_MAP_NONE || is_absurd(t_us)) {
        return nan("");
    }
    const double away_us = fabs((double)(t_us - map->at_us));
    const double drift_us = map->drift_sd * away_us;
    const double walk_us = DRIFT_WALK / sqrt(3.0) * away_us * sqrt(away_us * 1e-6);
    /* The fastest delay is uniform over 0..path_us; 1.96 sigma of that law exceed its ends. */
    const double path_us = map->probed ? map->path_us / sqrt(12.0) : 0.0;
    return sqrt(map->offset_us_sd * map->offset_us_sd + drift_us * drift_us +
                walk_us * walk_us + path_us * path_us);
}

int64_t clock_map_transport_us(const struct clock_map *map, int64_t arrival_us,
                               int64_t source_us)
{
    if (map->state == CLOCK_MAP_NONE || is_absurd(arrival_us) || is_absurd(source_us)) {
        return LAB_TIME_NONE;
    }
    const int64_t us = arrival_us - (map->at_us + (int64_t)llround(since_at(map, source_us)));
    return us > 0 ? us : 0;
}

bool clock_map_is_implausible(const struct clock_map *map)
{
    return map->above > 0;
}

ENUM_NAMES(clock_map_state, CLOCK_MAP_LOCKED + 1, "none", "warming", "locked");

/* ---- pace ---------------------------------------------------------------------------------
 */

static const int64_t SPACING_US = 1000000;
/* The line uses two degrees of freedom; fewer remaining ones give no error. */
enum { POINTS_MIN = ESTIMATE_FREEDOM_MIN + 2 };

void pace_sample(struct pace *p, int64_t t_us, int64_t source_us)
{
    if (p->count > 0) {
        const uint32_t last = (p->count - 1) % PACE_POINTS;
        if (source_us < p->point[last].source_us) {
            p->count = 0; /* the simulation was restarted */
        } else if (t_us - p->point[last].t_us < SPACING_US) {
            return;
        }
    }
    p->point[p->count % PACE_POINTS].t_us = t_us;
    p->point[p->count % PACE_POINTS].source_us = source_us;
    p->count++;
    if (p->count >= 2 * PACE_POINTS) {
        p->count -= PACE_POINTS; /* keeps its place in the ring, never overflows */
    }
}

bool pace_read(const struct pace *p, double *ratio, double *se)
{
    const uint32_t n = p->count < PACE_POINTS ? p->count : PACE_POINTS;
    if (n < POINTS_MIN) {
        return false;
    }
    /* Relative to the first stored point, because stamps are large and differences small. */
    const int64_t t0_us = p->point[0].t_us;
    const int64_t s0_us = p->point[0].source_us;
    double t_mean = 0.0;
    double s_mean = 0.0;
    for (uint32_t k = 0; k < n; k++) {
        t_mean += (double)(p->point[k].t_us - t0_us) / n;
        s_mean += (double)(p->point[k].source_us - s0_us) / n;
    }
    double tt = 0.0;
    double ts = 0.0;
    double ss = 0.0;
    for (uint32_t k = 0; k < n; k++) {
        const double t = (double)(p->point[k].t_us - t0_us) - t_mean;
        const double s = (double)(p->point[k].source_us - s0_us) - s_mean;
        tt += t * t;
        ts += t * s;
        ss += s * s;
    }
    *ratio = ts / tt;
    *se = sqrt(fmax(ss - *ratio * ts, 0.0) / (n - 2) / tt) * estimate_reach(n - 2.0) /
          estimate_reach(INFINITY);
    return true;
}
