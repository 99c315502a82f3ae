#include "twin/pair/clock_map.h"

#include <math.h>
#include <string.h>

#include "base/lab_time.h"
#include "base/status.h"
#include "twin/pair/clock_line.h"

enum {
    FIRM_MIN = 8,      /* samples after which a drop is a jump and not a slow first message */
    STAGES_OLDER = 2,  /* agreeing stages that show a step back, begun by an older stamp, */
    STAGES_PLAIN = 10, /* or not */
    STAGE_MIN = 5,     /* samples in each of these stages */
    SHAPES_MAX = 200,  /* windows over which the shape is averaged */
    SHAPE_KNOWN = 16   /* residuals that what is known of the shape beforehand is worth */
};

/* What a crystal may wander between windows: widens the margin for jumps after a silence. */
#define WANDER 1e-6
/* Random walk of a plain crystal's rate, per root second: about 1 ppm in three hours, more than
 * a quiet room makes, less than a robot carried from the cold into the warm. */
#define DRIFT_WALK 1e-8
/* How far off 1/shape may be: one sigma times the root of the number of residuals. */
#define SHAPE_DOUBT 2.2
/* One sigma of level and of slope times span, in gaps, so chosen that
 * no law tried claims less than it errs (eq. 10). */
#define LEVEL_GAPS 1.0
#define SLOPE_GAPS 3.5

_Static_assert((int)CLOCK_MAP_BUCKETS == (int)CLOCK_LINE_POINTS_MAX, "the ring must fit");

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

void clock_map_reset(struct clock_map *map)
{
    memset(map, 0, sizeof *map);
}

static void forget_buckets(struct clock_map *map)
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
    /* The network has not changed. */
    kept.shapes = map->shapes;
    kept.shape_inv = map->shape_inv;
    kept.last_source_us = map->last_source_us;
    kept.last_arrival_us = map->last_arrival_us;
    memcpy(map, &kept, sizeof kept);
}

void clock_map_restart(struct clock_map *map)
{
    forget_buckets(map);
    map->restarts++;
}

/* The ring as numbers near zero: relative to its newest point. */
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

    /* The shape belongs to the network, not to this window: averaged over many. */
    if (map->shapes < SHAPES_MAX) {
        map->shapes++;
    }
    map->shape_inv += (clock_line_shape_inv(&line) - map->shape_inv) / (double)map->shapes;
    const double doubt = SHAPE_DOUBT / sqrt((double)(SHAPE_KNOWN + line.n + map->shapes));
    const double gap_us = clock_line_gap_us(&line, map->shape_inv);
    const double wide_us =
        clock_line_gap_us(&line, map->shape_inv - doubt) + CLOCK_LINE_QUANTUM_US;
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
    refit_line(map, p);
    /* A probe older than the window has no line to be compared with: its bound stands. */
    if (map->probed && map->probe_at_us >= map->bucket[map->first].t_us) {
        refresh_path(map);
    }
}

static void begin_map(struct clock_map *map, const struct clock_map_params *p,
                      int64_t arrival_us, int64_t delay_us)
{
    forget_buckets(map);
    open_bucket(map, arrival_us, delay_us);
    map->open_count = 1;
    map->fresh_count = 1;
    rest_on_lowest(map, p);
}

static enum clock_map_news take_jump(struct clock_map *map, const struct clock_map_params *p,
                                     int64_t arrival_us, int64_t delay_us, double excess_us)
{
    map->jumps++;
    map->last_jump_us = -(int64_t)llround(excess_us);
    map->last_jump_at_us = arrival_us;
    begin_map(map, p, arrival_us, delay_us);
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
    map->above_count = 1;
    map->above_since_us = arrival_us;
    map->above_lowest_us = excess_us;
    map->above_before_us = before_us;
}

/* One more sample far above the line. True when the run shows a clock set back: stages, each of
 * several samples over a bucket, whose lowest excesses agree. A queue that builds up or drains
 * does not agree with itself; one that is flushed at once does not last. Transport in order
 * cannot make a stamp older than the one before it: a run that begins with such a stamp is
 * believed soon, any other only when it has outlived what networks do (eq. 12). */
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
    if (map->above_agreed >= map->above) { /* a probe denied it: the next stage asks again */
        map->above_agreed--;
    }
    map->above_denied = 0;
    start_stage(map, arrival_us, excess_us, lowest_us);
    return false;
}

/* The 95 % point of the excess: up 19 times as far as down, so that it rests where 1 in 20 lies
 * above; steps in proportion, so that it finds any scale. */
static void track_jitter(struct clock_map *map, double excess_us)
{
    const double step_us = 0.1 * (map->jitter_us + CLOCK_LINE_QUANTUM_US);

    map->jitter_us += excess_us > map->jitter_us ? 0.95 * step_us : -0.05 * step_us;
}

static enum clock_map_news take_stamp(struct clock_map *map, const struct clock_map_params *p,
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
            return take_jump(map, p, arrival_us, delay_us, excess_us);
        }
        begin_map(map, p, arrival_us, delay_us); /* the first messages had waited in a queue */
        return CLOCK_MAP_FINE;
    }
    track_jitter(map, excess_us);
    if (excess_us > margin) {
        return stepped_back(map, p, arrival_us, (int64_t)llround(excess_us), older)
                   ? take_jump(map, p, arrival_us, delay_us, (double)map->above_lowest_us)
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
    return take_stamp(map, p, arrival_us, source_us);
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
            news = take_jump(map, p, arrived_us, arrived_us - source_sent_us,
                             (double)(arrived_us - source_sent_us) - line_at(map, arrived_us));
        } else if (map->above && above_us < 0.5 * (double)map->above_lowest_us) {
            map->above_denied = 1;
        }
    }
    const enum clock_map_news sampled = take_stamp(map, p, arrived_us, source_sent_us);
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

double clock_map_offset_us(const struct clock_map *map, int64_t t_us)
{
    if (map->state == CLOCK_MAP_NONE || is_absurd(t_us)) {
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
    if (map->state == CLOCK_MAP_NONE || is_absurd(t_us)) {
        return nan("");
    }
    const double away_us = fabs((double)(t_us - map->at_us));
    const double drift_us = map->drift_sd * away_us;
    const double walk_us = DRIFT_WALK / sqrt(3.0) * away_us * sqrt(away_us * 1e-6);
    /* Anywhere within 0..path_us: a uniform law, whose 1.96 sigma reach beyond its ends. */
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

ENUM_NAMES(clock_map_state, CLOCK_MAP_LOCKED + 1, "none", "warming", "locked");
