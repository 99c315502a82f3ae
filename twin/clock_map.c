#include "twin/clock_map.h"

#include <math.h>
#include <string.h>

#include "twin/base/lab_time.h"
#include "twin/base/status.h"

enum {
    FIT_MIN = 8,   /* buckets below which a slope says more about noise than about the clock */
    FIRM_MIN = 8,  /* samples after which a drop is a jump and not a slow first message */
    STAGE_MIN = 5, /* samples in each of the two stages that confirm a step back */
    SHAPE_STEPS = 12 /* bisections for the shape: 4096 steps over its range */
};

/* Stamps are whole microseconds: residuals of this size are rounding, not a pattern. */
#define QUANTUM_US 1.0
/* One-sided 1 % point: each closed bucket asks again, a laxer test would shorten good windows.
 */
#define RUNS_Z (-2.326)
/* Residuals beyond this many medians are delayed buckets (bursts), which say nothing of the
 * clock. Exponential residuals exceed it once in 32. */
#define BURST_MEDIANS 5.0
/* What a crystal may wander between windows: widens the margin for jumps after a silence. */
#define WANDER 1e-6
/* Range of 1/shape of the lower tail: 1 is exponential; below 0.2 the tail is no edge at all.
 */
#define SHAPE_INV_MIN 0.2
/* Spread of the slope in gaps per span, for exponential minima (docs/model/clock.md, eq. 9). */
#define SLOPE_GAPS 6.0

#define US_LIMIT ((int64_t)(LAB_TIME_S_LIMIT * 1e6))

/* The window as numbers near zero, newest last. */
struct window {
    size_t n;
    double x_us[CLOCK_MAP_BUCKETS]; /* arrival - t_us */
    double y_us[CLOCK_MAP_BUCKETS]; /* delay - delay_us */
    int64_t t_us, delay_us;
};

struct line {
    double mid_us;   /* mean of x: where level holds */
    double level_us; /* envelope at mid_us */
    double slope;
    double r_us[CLOCK_MAP_BUCKETS];      /* residuals in order of time, >= 0 */
    double sorted_us[CLOCK_MAP_BUCKETS]; /* the same, ascending */
};

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

void clock_map_reset(struct clock_map *map)
{
    memset(map, 0, sizeof *map);
}

static void forget(struct clock_map *map)
{
    struct clock_map kept;

    memset(&kept, 0, sizeof kept);
    kept.samples = map->samples;
    kept.jumps = map->jumps;
    kept.restarts = map->restarts;
    kept.probes = map->probes;
    kept.refused = map->refused;
    kept.last_jump_us = map->last_jump_us;
    kept.last_jump_at_us = map->last_jump_at_us;
    kept.last_source_us = map->last_source_us;
    kept.last_arrival_us = map->last_arrival_us;
    memcpy(map, &kept, sizeof kept);
}

void clock_map_restart(struct clock_map *map)
{
    forget(map);
    map->restarts++;
}

/* --- the line ------------------------------------------------------------------------- */

static void load_window(const struct clock_map *map, struct window *w)
{
    const struct clock_map_point *newest =
        &map->bucket[(map->first + map->count - 1) % CLOCK_MAP_BUCKETS];

    w->n = map->count;
    w->t_us = newest->t_us;
    w->delay_us = newest->delay_us;
    for (size_t i = 0; i < w->n; i++) {
        const struct clock_map_point *point =
            &map->bucket[(map->first + i) % CLOCK_MAP_BUCKETS];
        w->x_us[i] = (double)(point->t_us - w->t_us);
        w->y_us[i] = (double)(point->delay_us - w->delay_us);
    }
}

/* Edge of the lower convex hull of points from..n-1 that spans x_us = mid: among all lines
 * below the points the one with the smallest mean residual (eq. 5). */
static void hull_edge(const struct window *w, size_t from, double mid, size_t *left,
                      size_t *right)
{
    size_t hull[CLOCK_MAP_BUCKETS] = {0};
    size_t size = 0;

    for (size_t i = from; i < w->n; i++) {
        while (size >= 2) {
            const size_t a = hull[size - 2];
            const size_t b = hull[size - 1];
            const double turn = (w->x_us[b] - w->x_us[a]) * (w->y_us[i] - w->y_us[a]) -
                                (w->y_us[b] - w->y_us[a]) * (w->x_us[i] - w->x_us[a]);
            if (turn > 0.0) {
                break;
            }
            size--;
        }
        hull[size++] = i;
    }
    size_t k = 1;
    while (k + 1 < size && w->x_us[hull[k]] < mid) {
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
static void fit_line(const struct window *w, size_t from, double slope_max, struct line *line)
{
    const size_t n = w->n - from;
    size_t a;
    size_t b;

    line->mid_us = 0.0;
    for (size_t i = from; i < w->n; i++) {
        line->mid_us += w->x_us[i] / (double)n;
    }
    hull_edge(w, from, line->mid_us, &a, &b);
    line->slope = (w->y_us[b] - w->y_us[a]) / (w->x_us[b] - w->x_us[a]);
    line->slope = fmax(-slope_max, fmin(slope_max, line->slope));
    line->level_us = INFINITY;
    for (size_t i = from; i < w->n; i++) {
        line->r_us[i - from] = w->y_us[i] - line->slope * (w->x_us[i] - line->mid_us);
        line->level_us = fmin(line->level_us, line->r_us[i - from]);
    }
    for (size_t i = 0; i < n; i++) {
        line->r_us[i] -= line->level_us;
        insert_sorted(line->sorted_us, i, line->r_us[i]);
    }
}

/* Wald and Wolfowitz: too few runs about the median mean that a line does not describe the
 * window. Buckets in bursts are left out (eq. 7). */
static bool looks_random(const struct line *line, size_t n)
{
    const double median = line->sorted_us[n / 2];
    const double cut = BURST_MEDIANS * median;
    double high = 0.0;
    double low = 0.0;
    double runs = 0.0;
    int last = -1;

    if (!(median > 2.0 * QUANTUM_US)) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        if (line->r_us[i] > cut) {
            continue;
        }
        const int side = line->r_us[i] >= median;
        high += side;
        low += 1 - side;
        runs += side != last;
        last = side;
    }
    if (high < 3.0 || low < 3.0) {
        return true;
    }
    const double total = high + low;
    const double mean = 2.0 * high * low / total + 1.0;
    const double var = (mean - 1.0) * (mean - 2.0) / (total - 1.0);
    return runs + 0.5 - mean > RUNS_Z * sqrt(var);
}

/* Scale of the distance between the lowest minimum and the edge of the law they come from.
 * Quartile and median of the residuals give the shape of the lower tail as a Weibull law's,
 * the shape gives how far below n points its edge lies (eq. 8). */
static double edge_gap_us(const struct line *line, size_t n, double *shape_inv)
{
    const double quartile = line->sorted_us[n / 4];
    const double half = line->sorted_us[n / 2] - quartile;
    const double log_a = log(log(2.0));
    const double log_b = log(log(4.0 / 3.0));
    const double log_c = -log((double)n);
    double low = SHAPE_INV_MIN;
    double high = 1.0;

    for (int step = 0; step < SHAPE_STEPS; step++) {
        const double k = 0.5 * (low + high);
        const double a = exp(k * log_a);
        const double b = exp(k * log_b);
        const double c = exp(k * log_c);
        /* (median - quartile) / (quartile - lowest) grows with k. */
        if (half * (b - c) > (a - b) * quartile) {
            low = k;
        } else {
            high = k;
        }
    }
    const double k = 0.5 * (low + high);
    *shape_inv = k;
    return half / (exp(k * log_a) - exp(k * log_b)) * exp(k * log_c) + QUANTUM_US;
}

/* Not enough buckets, or too noisy for a slope: the lowest sample, drift within the prior. */
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
    if (map->count >= FIT_MIN / 2) {
        const double n = (double)map->count;
        map->offset_us_sd = 2.0 * sum / (n * (n - 1.0)) + QUANTUM_US;
    }
}

static void refresh_path(struct clock_map *map)
{
    const double lower = map->probe_offset_us - 0.5 * (double)map->rtt_us;

    map->path_us = fmax(0.0, line_at(map, map->probe_at_us) - lower);
}

static void refit(struct clock_map *map, const struct clock_map_params *p)
{
    struct window w;
    struct line line;
    size_t from = 0;

    if (map->count < FIT_MIN) {
        rest_on_lowest(map, p);
        return;
    }
    load_window(map, &w);
    fit_line(&w, 0, p->drift_ppm_max * 1e-6, &line);
    while (w.n - from > FIT_MIN && !looks_random(&line, w.n - from)) {
        from++;
        fit_line(&w, from, p->drift_ppm_max * 1e-6, &line);
    }
    map->first = (uint16_t)((map->first + from) % CLOCK_MAP_BUCKETS);
    map->count = (uint16_t)(w.n - from);

    const size_t n = map->count;
    double shape_inv;
    const double gap_us = edge_gap_us(&line, n, &shape_inv);
    const double slope_sd = SLOPE_GAPS * gap_us / (w.x_us[w.n - 1] - w.x_us[from]);
    if (!(slope_sd < drift_prior_sd(p))) {
        rest_on_lowest(map, p);
        return;
    }
    const int64_t mid_us = (int64_t)llround(line.mid_us);
    map->state = CLOCK_MAP_LOCKED;
    map->used = map->count;
    map->at_us = w.t_us + mid_us;
    map->drift = line.slope;
    map->drift_sd = slope_sd;
    map->offset_us = (double)w.delay_us + (line.level_us - (1.0 + shape_inv) * gap_us);
    map->offset_us_sd = sqrt(2.0) * gap_us;
}

/* --- samples -------------------------------------------------------------------------- */

static void open_bucket(struct clock_map *map, int64_t arrival_us, int64_t delay_us)
{
    map->open.t_us = arrival_us;
    map->open.delay_us = delay_us;
    map->open_since_us = arrival_us;
    map->open_count = 0;
}

static void close_bucket(struct clock_map *map, const struct clock_map_params *p)
{
    if (map->count == CLOCK_MAP_BUCKETS) {
        map->first = (uint16_t)((map->first + 1) % CLOCK_MAP_BUCKETS);
        map->count--;
    }
    map->bucket[(map->first + map->count) % CLOCK_MAP_BUCKETS] = map->open;
    map->count++;
    refit(map, p);
    /* A probe older than the window has no line to be compared with: its bound stands. */
    if (map->probed && map->probe_at_us >= map->bucket[map->first].t_us) {
        refresh_path(map);
    }
}

static void begin(struct clock_map *map, const struct clock_map_params *p, int64_t arrival_us,
                  int64_t delay_us)
{
    forget(map);
    open_bucket(map, arrival_us, delay_us);
    map->open_count = 1;
    map->fresh_count = 1;
    rest_on_lowest(map, p);
}

static enum clock_map_news jump(struct clock_map *map, const struct clock_map_params *p,
                                int64_t arrival_us, int64_t delay_us, double excess_us)
{
    map->jumps++;
    map->last_jump_us = -(int64_t)llround(excess_us);
    map->last_jump_at_us = arrival_us;
    begin(map, p, arrival_us, delay_us);
    return CLOCK_MAP_JUMPED;
}

/* How far from the line a sample must be to speak of the clock having been set. */
static double margin_us(const struct clock_map *map, const struct clock_map_params *p,
                        int64_t t_us)
{
    const double rate = fmin(3.0 * map->drift_sd + WANDER, p->drift_ppm_max * 1e-6);

    return (double)p->jump_us + rate * fabs((double)(t_us - map->at_us));
}

static void start_stage(struct clock_map *map, int64_t arrival_us, int64_t excess_us,
                        int64_t before_us)
{
    map->above = 1;
    map->above_count = 1;
    map->above_since_us = arrival_us;
    map->above_lowest_us = excess_us;
    map->above_before_us = before_us;
}

/* One more sample far above the line. True when the run shows a clock set back: two stages,
 * each of several samples over a bucket, whose lowest excesses agree. A queue that builds up or
 * drains does not agree with itself; one that is flushed at once does not last (eq. 11). */
static bool stepped_back(struct clock_map *map, const struct clock_map_params *p,
                         int64_t arrival_us, double excess)
{
    const int64_t excess_us = (int64_t)llround(excess);

    if (!map->above) {
        map->above_denied = 0;
        start_stage(map, arrival_us, excess_us, 0);
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
    if (before_us > 0 && !map->above_denied && apart_us <= p->jump_us / 2) {
        return true;
    }
    map->above_denied = 0;
    start_stage(map, arrival_us, excess_us, lowest_us);
    return false;
}

/* The 95 % point of the excess: up 19 times as far as down, so that it rests where 1 in 20 lies
 * above; steps in proportion, so that it finds any scale. */
static void track_jitter(struct clock_map *map, double excess_us)
{
    const double step_us = 0.1 * (map->jitter_us + QUANTUM_US);

    map->jitter_us += excess_us > map->jitter_us ? 0.95 * step_us : -0.05 * step_us;
}

static enum clock_map_news take(struct clock_map *map, const struct clock_map_params *p,
                                int64_t arrival_us, int64_t source_us)
{
    const int64_t delay_us = arrival_us - source_us;

    map->last_source_us = source_us;
    map->last_arrival_us = arrival_us;
    map->samples++;
    if (map->state == CLOCK_MAP_NONE) {
        begin(map, p, arrival_us, delay_us);
        return CLOCK_MAP_FINE;
    }
    const double excess_us = (double)delay_us - line_at(map, arrival_us);
    const double margin = margin_us(map, p, arrival_us);
    if (excess_us < -margin) {
        if (map->fresh_count >= FIRM_MIN) {
            return jump(map, p, arrival_us, delay_us, excess_us);
        }
        begin(map, p, arrival_us, delay_us); /* the first messages had waited in a queue */
        return CLOCK_MAP_FINE;
    }
    track_jitter(map, excess_us);
    if (excess_us > margin) {
        return stepped_back(map, p, arrival_us, excess_us)
                   ? jump(map, p, arrival_us, delay_us, (double)map->above_lowest_us)
                   : CLOCK_MAP_FINE;
    }
    map->above = 0;
    map->fresh_count += map->fresh_count < UINT32_MAX;
    if (arrival_us - map->open_since_us >= p->bucket_us) {
        close_bucket(map, p);
        open_bucket(map, arrival_us, delay_us);
    }
    map->open_count += map->open_count < UINT32_MAX;
    /* Lowest along the line: with a steep clock the lowest raw difference is merely the first
     * or the last of its bucket. */
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

enum clock_map_news clock_map_sample(struct clock_map *map, const struct clock_map_params *p,
                                     int64_t arrival_us, int64_t source_us)
{
    if (is_absurd(arrival_us) || is_absurd(source_us) ||
        (map->state != CLOCK_MAP_NONE && arrival_us < map->last_arrival_us)) {
        map->refused++;
        return CLOCK_MAP_FINE;
    }
    return take(map, p, arrival_us, source_us);
}

enum clock_map_news clock_map_probe(struct clock_map *map, const struct clock_map_params *p,
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
    const int64_t lower_us = sent_us - source_received_us; /* lab - robot is at least this */
    enum clock_map_news news = CLOCK_MAP_FINE;

    map->probes++;
    if (map->state != CLOCK_MAP_NONE) {
        const double above_us = (double)lower_us - line_at(map, arrived_us);
        if (above_us > margin_us(map, p, arrived_us) && map->fresh_count >= FIRM_MIN) {
            news = jump(map, p, arrived_us, arrived_us - source_sent_us,
                        (double)(arrived_us - source_sent_us) - line_at(map, arrived_us));
        } else if (map->above && above_us < 0.5 * (double)map->above_lowest_us) {
            map->above_denied = 1;
        }
    }
    const enum clock_map_news sampled = take(map, p, arrived_us, source_sent_us);
    if (sampled != CLOCK_MAP_FINE) {
        news = sampled;
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
    return news;
}

/* --- answers -------------------------------------------------------------------------- */

double clock_map_offset_us(const struct clock_map *map, int64_t t_us)
{
    if (map->state == CLOCK_MAP_NONE) {
        return nan("");
    }
    return line_at(map, t_us) - (map->probed ? 0.5 * map->path_us : 0.0);
}

/* The line holds in lab time: t = s + offset + drift * (t - at), solved for t. */
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
    if (map->state == CLOCK_MAP_NONE) {
        return nan("");
    }
    const double drift_us = map->drift_sd * (double)(t_us - map->at_us);
    /* Anywhere within 0..path_us: a uniform law, whose 1.96 sigma reach beyond its ends. */
    const double path_us = map->probed ? map->path_us / sqrt(12.0) : 0.0;
    return sqrt(map->offset_us_sd * map->offset_us_sd + drift_us * drift_us +
                path_us * path_us);
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

const char *clock_map_state_name(uint8_t state)
{
    static const char *const names[] = {"none", "warming", "locked"};

    return state < COUNT(names) ? names[state] : "unknown";
}
