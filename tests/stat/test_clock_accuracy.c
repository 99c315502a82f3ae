/* needs: full */
/* The clock map against simulated robots whose clocks are known: are its errors small, are its
 * error bars honest, are jumps found and none invented (docs/model/clock.md)? */
#include "twin/pair/clock_map.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/campaign.h"

static const struct clock_map_params PARAMS = {
    .bucket_us = 1000000, .jump_us = 500000, .drift_ppm_max = 500};

#define EPOCH_US INT64_C(1750000000000000)
#define DAY_US   INT64_C(86400000000)

static uint64_t rng_state;

static double draw_uniform(void)
{
    rng_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = rng_state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static double draw_exponential(double mean)
{
    return -mean * log(draw_uniform());
}

static double draw_normal(void)
{
    return sqrt(-2.0 * log(draw_uniform())) * cos(6.283185307179586 * draw_uniform());
}

enum law {
    LAW_CONSTANT,
    LAW_EXP,
    LAW_UNIFORM,
    LAW_GAMMA2,
    LAW_LOGNORMAL,
    LAW_WIFI, /* exponential, with bursts of a second and twenty times the delay */
    LAW_LOAD, /* exponential, its mean wandering by a factor of two within ten seconds */
    LAW_PARETO,
    LAW_COUNT
};

static const char *const LAW_NAME[LAW_COUNT] = {
    "constant", "exponential", "uniform", "gamma 2", "lognormal", "wifi", "load", "pareto"};

enum { CONSTANT_US = 2000 };

/* All times in microseconds of lab time since EPOCH_US. */
struct robot {
    enum law law;
    double scale_us; /* mean of the delay beyond CONSTANT_US (lognormal: median) */
    double rate_hz;
    int64_t start_offset_us; /* lab - robot at EPOCH_US */
    double drift;
    double wander;    /* drift's random walk per root second */
    double grain_us;  /* resolution of the robot's stamps */
    double t_us;      /* last stamp */
    double offset_us; /* lab - robot - start_offset_us at t_us */
    double burst_until_us;
    double load;
    double last_arrival_us;
};

static double draw_delay_us(struct robot *r, double step_us)
{
    switch (r->law) {
    case LAW_EXP:
        return draw_exponential(r->scale_us);
    case LAW_UNIFORM:
        return 2.0 * r->scale_us * draw_uniform();
    case LAW_GAMMA2:
        return draw_exponential(0.5 * r->scale_us) + draw_exponential(0.5 * r->scale_us);
    case LAW_LOGNORMAL:
        return r->scale_us * exp(0.8 * draw_normal());
    case LAW_WIFI:
        if (r->t_us > r->burst_until_us && draw_uniform() < 1.0 - exp(-step_us / 20e6)) {
            r->burst_until_us = r->t_us + draw_exponential(1e6);
        }
        return draw_exponential(r->scale_us) +
               (r->t_us < r->burst_until_us
                    ? 20.0 * r->scale_us + draw_exponential(20.0 * r->scale_us)
                    : 0.0);
    case LAW_LOAD: {
        const double decay = exp(-step_us / 10e6);
        r->load = decay * r->load + sqrt(1.0 - decay * decay) * log(2.0) * draw_normal();
        return draw_exponential(r->scale_us * exp(r->load));
    }
    case LAW_PARETO:
        return r->scale_us * (pow(draw_uniform(), -1.0 / 1.5) - 1.0);
    case LAW_CONSTANT:
    case LAW_COUNT:
    default:
        return 0.0;
    }
}

static void advance_clock(struct robot *r, double step_us)
{
    r->drift += r->wander * sqrt(step_us * 1e-6) * draw_normal();
    r->offset_us += r->drift * step_us;
    r->t_us += step_us;
}

static int64_t stamp_us(const struct robot *r)
{
    const double local_us = r->t_us - r->offset_us;
    return EPOCH_US - r->start_offset_us +
           (int64_t)llround(r->grain_us > 0.0 ? floor(local_us / r->grain_us) * r->grain_us
                                              : local_us);
}

static enum clock_map_outcome send_one(struct robot *r, struct clock_map *map)
{
    const double period_us = 1e6 / r->rate_hz;
    const double step_us = 0.8 * period_us + draw_exponential(0.2 * period_us);

    advance_clock(r, step_us);
    /* Arrivals keep their order, as in one TCP stream. */
    r->last_arrival_us =
        fmax(r->last_arrival_us, r->t_us + CONSTANT_US + draw_delay_us(r, step_us));
    return clock_map_sample(map, &PARAMS, EPOCH_US + (int64_t)llround(r->last_arrival_us),
                            stamp_us(r));
}

/* Error of the map at the last arrival. */
static double offset_error_us(const struct robot *r, const struct clock_map *map)
{
    const int64_t now_us = EPOCH_US + (int64_t)llround(r->last_arrival_us);
    const double truth_us = r->offset_us + r->drift * (r->last_arrival_us - r->t_us);
    return clock_map_offset_us(map, now_us) - (double)r->start_offset_us - truth_us;
}

static double offset_sd_us(const struct robot *r, const struct clock_map *map)
{
    return clock_map_sd_us(map, EPOCH_US + (int64_t)llround(r->last_arrival_us));
}

static struct robot draw_robot(enum law law, double scale_us, double rate_hz)
{
    return (struct robot){
        .law = law,
        .scale_us = scale_us,
        .rate_hz = rate_hz,
        .start_offset_us = (int64_t)((draw_uniform() - 0.5) * 40.0 * (double)DAY_US),
        .drift = (draw_uniform() - 0.5) * 1000e-6,
        .burst_until_us = -1.0,
    };
}

struct tally {
    size_t n, inside;
    double sum, sum_sq, sum_sd, sum_z2;
};

/* A table's cells: the error of `name`, in `unit`. */
static void report_tally(const char *name, const char *unit, const struct tally *t,
                         double scale)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%s_bias_%s", name, unit);
    campaign_value(text, scale * t->sum / (double)t->n);
    (void)snprintf(text, sizeof text, "%s_rms_%s", name, unit);
    campaign_value(text, scale * sqrt(t->sum_sq / (double)t->n));
    (void)snprintf(text, sizeof text, "%s_sd_%s", name, unit);
    campaign_value(text, scale * t->sum_sd / (double)t->n);
    (void)snprintf(text, sizeof text, "%s_z2", name);
    campaign_value(text, t->sum_z2 / (double)t->n);
    (void)snprintf(text, sizeof text, "%s_held", name);
    campaign_count(text, t->inside, t->n);
}

static void tally_add(struct tally *t, double err, double sd)
{
    t->n++;
    t->inside += fabs(err) <= 1.96 * sd;
    t->sum += err;
    t->sum_sq += err * err;
    t->sum_sd += sd;
    t->sum_z2 += (err / sd) * (err / sd);
}

struct row {
    enum law law;
    double scale_us, rate_hz, seconds;
    double offset_us, drift_ppm; /* the root mean square errors may be at most these */
    double z2, inside;           /* variance of error / sd at most, coverage at least */
    double grain_us, wander;
};

/* Only the maps that have reached the state count. */
static void run_row(const struct row *row, enum clock_map_state state)
{
    const size_t runs = row->seconds >= 400 ? 100 : 200;
    struct tally offset = {0};
    struct tally drift = {0};
    int jumped = 0;
    double used = 0.0;
    char name[96];

    for (size_t run = 0; run < runs; run++) {
        struct clock_map map;
        struct robot r = draw_robot(row->law, row->scale_us, row->rate_hz);
        r.grain_us = row->grain_us;
        r.wander = row->wander;
        map = (struct clock_map){0};
        while (r.t_us < row->seconds * 1e6) {
            jumped += send_one(&r, &map) != CLOCK_MAP_FINE;
        }
        if (map.state == state) {
            tally_add(&offset, offset_error_us(&r, &map) - CONSTANT_US, offset_sd_us(&r, &map));
            tally_add(&drift, map.drift - r.drift, map.drift_sd);
            used += map.used;
        }
    }
    const double n = (double)offset.n;
    const double drift_n = (double)drift.n;
    size_t length =
        (size_t)snprintf(name, sizeof name, "%s %g us, %g Hz, %g s", LAW_NAME[row->law],
                         row->scale_us, row->rate_hz, row->seconds);
    if (row->grain_us > 0.0 || row->wander > 0.0) {
        (void)snprintf(name + length, sizeof name - length,
                       row->grain_us > 0.0 ? ", stamps of %g us" : ", rate walks %g ppb",
                       row->grain_us > 0.0 ? row->grain_us : row->wander * 1e9);
    }
    campaign_row(state == CLOCK_MAP_LOCKED ? "locked" : "warming up", runs, "%s", name);
    campaign_count("reached", offset.n, runs);
    campaign_value("samples_used", used / n);
    report_tally("offset", "us", &offset, 1.0);
    report_tally("drift", "ppm", &drift, 1e6);
    campaign_end();
    CHECK_INT(name, jumped, 0);
    CHECK(name, offset.n * 10 >= 8 * runs);
    CHECK(name, sqrt(offset.sum_sq / n) <= row->offset_us);
    CHECK(name, sqrt(drift.sum_sq / drift_n) * 1e6 <= row->drift_ppm);
    CHECK(name, offset.sum_z2 / n <= row->z2);
    CHECK(name, drift.sum_z2 / drift_n <= row->z2);
    CHECK(name, (double)offset.inside >= row->inside * n);
    CHECK(name, (double)drift.inside >= row->inside * drift_n);
}

static void test_rows(void)
{
    static const struct row rows[] = {
        /* clang-format off */
        {LAW_CONSTANT, 5000, 0.1, 600, 6, 0.0064, 1.2, 0.92, 0, 0},
        {LAW_CONSTANT, 5000, 0.1, 4000, 6, 0.0064, 1.2, 0.92, 0, 0},
        {LAW_CONSTANT, 5000, 1, 60, 6.3, 0.032, 1.2, 0.92, 0, 0},
        {LAW_CONSTANT, 5000, 1, 400, 6.3, 0.016, 1.2, 0.92, 0, 0},
        {LAW_CONSTANT, 5000, 10, 20, 7.1, 0.19, 1.2, 0.92, 0, 0},
        {LAW_CONSTANT, 5000, 10, 60, 6.3, 0.016, 1.2, 0.92, 0, 0},
        {LAW_CONSTANT, 5000, 10, 400, 6.3, 0.013, 1.2, 0.92, 0, 0},
        {LAW_CONSTANT, 5000, 100, 60, 6.3, 0.0064, 1.2, 0.92, 0, 0},
        {LAW_EXP, 5000, 0.1, 600, 1200, 5.2, 1.2, 0.92, 0, 0},
        {LAW_EXP, 5000, 0.1, 4000, 1000, 5.4, 1.2, 0.92, 0, 0},
        {LAW_EXP, 5000, 1, 60, 1100, 32, 1.2, 0.92, 0, 0},
        {LAW_EXP, 5000, 1, 400, 700, 40, 1.2, 0.92, 0, 0},
        {LAW_EXP, 5000, 10, 20, 420, 38, 1.2, 0.92, 0, 0},
        {LAW_EXP, 5000, 10, 60, 130, 4.4, 1.2, 0.92, 0, 0},
        {LAW_EXP, 5000, 10, 400, 100, 4.4, 1.2, 0.92, 0, 0},
        {LAW_EXP, 5000, 100, 60, 17, 0.6, 1.2, 0.92, 0, 0},
        {LAW_UNIFORM, 5000, 0.1, 600, 2500, 9, 1.2, 0.92, 0, 0},
        {LAW_UNIFORM, 5000, 0.1, 4000, 2100, 9.2, 1.2, 0.92, 0, 0},
        {LAW_UNIFORM, 5000, 1, 60, 2000, 60, 1.2, 0.92, 0, 0},
        {LAW_UNIFORM, 5000, 1, 400, 1300, 36, 1.2, 0.92, 0, 0},
        {LAW_UNIFORM, 5000, 10, 20, 740, 90, 1.2, 0.92, 0, 0},
        {LAW_UNIFORM, 5000, 10, 60, 250, 9.2, 1.2, 0.92, 0, 0},
        {LAW_UNIFORM, 5000, 10, 400, 180, 9, 1.2, 0.92, 0, 0},
        {LAW_UNIFORM, 5000, 100, 60, 29, 1.1, 1.2, 0.92, 0, 0},
        {LAW_GAMMA2, 5000, 0.1, 600, 2100, 9, 1.2, 0.92, 0, 0},
        {LAW_GAMMA2, 5000, 0.1, 4000, 1800, 9, 1.2, 0.92, 0, 0},
        {LAW_GAMMA2, 5000, 1, 60, 2000, 64, 1.2, 0.92, 0, 0},
        {LAW_GAMMA2, 5000, 1, 400, 1300, 42, 1.2, 0.92, 0, 0},
        {LAW_GAMMA2, 5000, 10, 20, 990, 120, 1.2, 0.92, 0, 0},
        {LAW_GAMMA2, 5000, 10, 60, 590, 22, 1.2, 0.92, 0, 0},
        {LAW_GAMMA2, 5000, 10, 400, 460, 22, 1.2, 0.92, 0, 0},
        {LAW_GAMMA2, 5000, 100, 60, 170, 7.4, 1.2, 0.92, 0, 0},
        {LAW_LOGNORMAL, 5000, 0.1, 600, 2400, 10, 2.6, 0.85, 0, 0},
        {LAW_LOGNORMAL, 5000, 0.1, 4000, 2400, 11, 2.6, 0.85, 0, 0},
        {LAW_LOGNORMAL, 5000, 1, 60, 2400, 70, 2.6, 0.85, 0, 0},
        {LAW_LOGNORMAL, 5000, 1, 400, 1800, 48, 2.6, 0.85, 0, 0},
        {LAW_LOGNORMAL, 5000, 10, 20, 1400, 140, 2.6, 0.85, 0, 0},
        {LAW_LOGNORMAL, 5000, 10, 60, 970, 32, 2.6, 0.85, 0, 0},
        {LAW_LOGNORMAL, 5000, 10, 400, 910, 32, 2.6, 0.85, 0, 0},
        {LAW_LOGNORMAL, 5000, 100, 60, 590, 17, 2.6, 0.85, 0, 0},
        {LAW_WIFI, 5000, 0.1, 600, 7100, 17.2, 1.2, 0.92, 0, 0},
        {LAW_WIFI, 5000, 0.1, 4000, 7800, 17.2, 1.2, 0.92, 0, 0},
        {LAW_WIFI, 5000, 1, 60, 1000, 68, 1.2, 0.92, 0, 0},
        {LAW_WIFI, 5000, 1, 400, 660, 40, 1.2, 0.92, 0, 0},
        {LAW_WIFI, 5000, 10, 20, 410, 84, 1.2, 0.92, 0, 0},
        {LAW_WIFI, 5000, 10, 60, 130, 9.6, 1.2, 0.92, 0, 0},
        {LAW_WIFI, 5000, 10, 400, 110, 10.4, 1.2, 0.92, 0, 0},
        {LAW_WIFI, 5000, 100, 60, 20, 1.28, 1.2, 0.92, 0, 0},
        {LAW_LOAD, 5000, 0.1, 600, 5800, 62.5, 1.6, 0.9, 0, 0},
        {LAW_LOAD, 5000, 0.1, 4000, 4400, 55, 1.6, 0.9, 0, 0},
        {LAW_LOAD, 5000, 1, 60, 5800, 475, 1.6, 0.9, 0, 0},
        {LAW_LOAD, 5000, 1, 400, 3800, 300, 2, 0.9, 0, 0},
        {LAW_LOAD, 5000, 10, 20, 2000, 475, 1.6, 0.9, 0, 0},
        {LAW_LOAD, 5000, 10, 60, 720, 87.5, 1.6, 0.9, 0, 0},
        {LAW_LOAD, 5000, 10, 400, 460, 55, 1.6, 0.9, 0, 0},
        {LAW_LOAD, 5000, 100, 60, 600, 100, 1.6, 0.9, 0, 0},
        {LAW_PARETO, 5000, 0.1, 600, 830, 3.2, 1.2, 0.92, 0, 0},
        {LAW_PARETO, 5000, 0.1, 4000, 760, 3.8, 1.2, 0.92, 0, 0},
        {LAW_PARETO, 5000, 1, 60, 850, 26, 1.2, 0.92, 0, 0},
        {LAW_PARETO, 5000, 1, 400, 490, 15, 1.2, 0.92, 0, 0},
        {LAW_PARETO, 5000, 10, 20, 270, 24, 1.2, 0.92, 0, 0},
        {LAW_PARETO, 5000, 10, 60, 74, 2.8, 1.2, 0.92, 0, 0},
        {LAW_PARETO, 5000, 10, 400, 74, 3.4, 1.2, 0.92, 0, 0},
        {LAW_PARETO, 5000, 100, 60, 20, 0.64, 1.2, 0.92, 0, 0},
        /* stamps in whole milliseconds */
        {LAW_EXP, 5000, 10, 60, 490, 18, 1.2, 0.92, 1000, 0},
        {LAW_EXP, 300, 10, 400, 110, 6, 1.2, 0.92, 1000, 0},
        /* a rate that walks by 10 and by 100 ppb per root second */
        {LAW_EXP, 300, 10, 400, 9.8, 0.4, 1.2, 0.92, 0, 1e-08},
        {LAW_EXP, 5000, 10, 400, 110, 6, 1.2, 0.92, 0, 1e-07},
        /* clang-format on */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        run_row(&rows[i], CLOCK_MAP_LOCKED);
    }
}

/* Before the map has locked: offset only, the drift anywhere within its prior. */
static void test_warming(void)
{
    static const struct row rows[] = {
        {LAW_EXP, 5000, 10, 3, 1500, 400, 1.3, 0.92, 0, 0},
        {LAW_EXP, 5000, 10, 8, 4000, 400, 1.3, 0.92, 0, 0},
        {LAW_EXP, 5000, 1, 8, 4000, 400, 1.3, 0.92, 0, 0},
        {LAW_EXP, 5000, 0.1, 60, 20000, 400, 2.5, 0.92, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        run_row(&rows[i], CLOCK_MAP_WARMING);
    }
}

/* --- probes: the absolute offset ------------------------------------------------------------
 */

static void test_probes(void)
{
    static const struct {
        double there_us, back_us; /* constant parts of the way to the robot and back */
        enum law law;
        double probes_hz; /* a share of the messages, the rest are one-way */
        double z2, inside;
    } rows[] = {
        {2000, 2000, LAW_EXP, 1.0, 1.0, 0.95},
        {2000, 2000, LAW_LOGNORMAL, 1.0, 1.0, 0.95},
        {2000, 2000, LAW_EXP, 0.1, 1.0, 0.95},
        {0, 4000, LAW_EXP, 1.0, 3.3, 0.95},
        {4000, 0, LAW_EXP, 1.0, 3.3, 0.95},
        {500, 10000, LAW_LOGNORMAL, 1.0, 3.3, 0.95},
        {10000, 500, LAW_LOGNORMAL, 1.0, 3.3, 0.95},
        {500, 20000, LAW_WIFI, 0.1, 3.3, 0.95},
    };
    enum { RUNS = 200 };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tally offset = {0};
        double rtt_us = 0.0;
        char name[96];
        for (int run = 0; run < RUNS; run++) {
            struct clock_map map;
            struct robot r = draw_robot(rows[i].law, 1000, 10);
            map = (struct clock_map){0};
            while (r.t_us < 60e6) {
                const double step_us = 0.8e5 + draw_exponential(0.2e5);
                advance_clock(&r, step_us);
                const double there = rows[i].there_us + draw_delay_us(&r, 0.0);
                const double back = rows[i].back_us + draw_delay_us(&r, step_us);
                const double sent_us = fmax(r.t_us - there, r.last_arrival_us);
                r.last_arrival_us = fmax(r.last_arrival_us, r.t_us + back);
                const int64_t arrived_us = EPOCH_US + (int64_t)llround(r.last_arrival_us);
                if (draw_uniform() < rows[i].probes_hz / r.rate_hz &&
                    sent_us <= r.t_us - there) {
                    (void)clock_map_probe(&map, &PARAMS, EPOCH_US + (int64_t)llround(sent_us),
                                          stamp_us(&r), stamp_us(&r), arrived_us);
                } else {
                    (void)clock_map_sample(&map, &PARAMS, arrived_us, stamp_us(&r));
                }
            }
            CU_ASSERT_EQUAL(map.jumps, 0);
            if (map.probed) {
                tally_add(&offset, offset_error_us(&r, &map), offset_sd_us(&r, &map));
                rtt_us += (double)map.rtt_us;
            }
        }
        const double n = (double)offset.n;
        campaign_row("probes", RUNS, "%g, %g us, %s, %g Hz", rows[i].there_us, rows[i].back_us,
                     LAW_NAME[rows[i].law], rows[i].probes_hz);
        report_tally("offset", "us", &offset, 1.0);
        campaign_value("round_trip_us", rtt_us / n);
        campaign_end();
        (void)snprintf(name, sizeof name, "probes %g/%g us", rows[i].there_us, rows[i].back_us);
        CHECK(name, offset.n * 10 >= 9 * RUNS);
        CHECK(name, offset.sum_z2 / n <= rows[i].z2);
        CHECK(name, (double)offset.inside >= rows[i].inside * n);
    }
}

/* --- jumps ----------------------------------------------------------------------------------
 */

/* The robot's clock is set by a random amount at a random time, under a locked map. */
static void test_jumps_found(void)
{
    static const struct {
        enum law law;
        double rate_hz;
        double size_us; /* worst error of the size found: what the network adds */
        double back_s;  /* a step back is found within */
    } rows[] = {
        {LAW_EXP, 1, 100e3, 60},       {LAW_EXP, 10, 100e3, 4},       {LAW_EXP, 100, 100e3, 4},
        {LAW_LOGNORMAL, 1, 150e3, 60}, {LAW_LOGNORMAL, 10, 150e3, 4}, {LAW_WIFI, 10, 1200e3, 6},
        {LAW_WIFI, 100, 1200e3, 6},    {LAW_LOAD, 10, 200e3, 4},
    };
    enum { RUNS = 200 };

    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t found = 0;
        size_t sent = 0;
        double sum_sq = 0.0;
        double worst_us = 0.0;
        double late_us[2] = {0.0, 0.0};
        for (int run = 0; run < RUNS; run++) {
            struct clock_map map;
            struct robot r = draw_robot(rows[i].law, 5000, rows[i].rate_hz);
            map = (struct clock_map){0};
            const double at_us = (20 + 40 * draw_uniform()) * 1e6;
            /* From 0.7 s, log-uniform, to ten days; either way. */
            const double size_us = 0.7e6 * exp(draw_uniform() * log(86400.0 * 10 / 0.7));
            const bool back = draw_uniform() < 0.5;
            while (r.t_us < at_us) {
                CU_ASSERT_EQUAL(send_one(&r, &map), CLOCK_MAP_FINE);
            }
            sent++;
            r.offset_us += back ? size_us : -size_us;
            const double set_us = r.t_us;
            while (r.t_us < set_us + 80e6) {
                (void)send_one(&r, &map);
            }
            if (map.jumps != 1) {
                continue;
            }
            found++;
            const double err_us = (double)map.last_jump_us - (back ? -size_us : size_us);
            sum_sq += err_us * err_us;
            worst_us = fmax(worst_us, fabs(err_us));
            late_us[back] =
                fmax(late_us[back], (double)(map.last_jump_at_us - EPOCH_US) - set_us);
        }
        campaign_row("jumps", RUNS, "%s, %g Hz", LAW_NAME[rows[i].law], rows[i].rate_hz);
        campaign_count("found", found, sent);
        campaign_value("size_rms_us", sqrt(sum_sq / (double)found));
        campaign_value("size_max_us", worst_us);
        campaign_value("forward_max_s", late_us[0] * 1e-6);
        campaign_value("back_max_s", late_us[1] * 1e-6);
        campaign_end();
        CHECK_INT(LAW_NAME[rows[i].law], found, sent);
        CHECK(LAW_NAME[rows[i].law], worst_us <= rows[i].size_us);
        /* The first message after a step forward shows it; in a burst it may arrive late. */
        CHECK(LAW_NAME[rows[i].law], late_us[0] <= 3e6 / rows[i].rate_hz + rows[i].size_us);
        CHECK(LAW_NAME[rows[i].law], late_us[1] <= rows[i].back_s * 1e6);
    }
}

/* A million samples of heavy tails without a step: none may be seen. */
static void test_no_false_jumps(void)
{
    static const struct {
        enum law law;
        double scale_us, rate_hz;
    } rows[] = {
        {LAW_PARETO, 5000, 10}, {LAW_PARETO, 20000, 10}, {LAW_LOGNORMAL, 50000, 10},
        {LAW_WIFI, 5000, 10},   {LAW_WIFI, 10000, 100},  {LAW_EXP, 100000, 10},
        {LAW_LOAD, 30000, 10},
    };
    enum { SAMPLES = 1000000 };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct clock_map map;
        struct robot r = draw_robot(rows[i].law, rows[i].scale_us, rows[i].rate_hz);
        size_t far = 0;
        r.wander = 1e-8;
        map = (struct clock_map){0};
        for (int k = 0; k < SAMPLES; k++) {
            (void)send_one(&r, &map);
            far += map.above > 0;
        }
        campaign_row("false jumps", 1, "%s %g us, %g Hz", LAW_NAME[rows[i].law],
                     rows[i].scale_us, rows[i].rate_hz);
        campaign_count("beyond_jump_us", far, SAMPLES);
        campaign_count("jumps", map.jumps, SAMPLES);
        campaign_end();
        CHECK_INT(LAW_NAME[rows[i].law], map.jumps, 0);
        CHECK_INT(LAW_NAME[rows[i].law], map.refused, 0);
        CHECK_INT(LAW_NAME[rows[i].law], map.samples, SAMPLES);
    }
}

/* A clock that changes its rate, and one set by less than jump_us: the window follows. */
static void test_changes(void)
{
    static const struct {
        const char *row;
        double drift, step_us;
        double offset_us; /* error 20 s later at most */
    } rows[] = {
        {"rate + 50 ppm", 50e-6, 0, 400},
        {"rate - 50 ppm", -50e-6, 0, 250},
        {"set by 100 ms", 0, 100e3, 250},
        {"set by -100 ms", 0, -100e3, 250},
    };
    enum { RUNS = 100 };

    for (size_t i = 0; i < COUNT(rows); i++) {
        double offset_sq = 0.0;
        double drift_sq = 0.0;
        double sd_us = 0.0;
        double used = 0.0;
        for (int run = 0; run < RUNS; run++) {
            struct clock_map map;
            struct robot r = draw_robot(LAW_EXP, 5000, 20);
            r.drift *= 0.5;
            map = (struct clock_map){0};
            while (r.t_us < 60e6) {
                (void)send_one(&r, &map);
            }
            r.drift += rows[i].drift;
            r.offset_us += rows[i].step_us;
            while (r.t_us < 80e6) {
                (void)send_one(&r, &map);
            }
            CU_ASSERT_EQUAL(map.jumps, 0);
            const double err_us = offset_error_us(&r, &map) - CONSTANT_US;
            offset_sq += err_us * err_us / RUNS;
            drift_sq += (map.drift - r.drift) * (map.drift - r.drift) / RUNS;
            sd_us += offset_sd_us(&r, &map) / RUNS;
            used += (double)map.used / RUNS;
        }
        campaign_row("changes", RUNS, "%s", rows[i].row);
        campaign_value("samples_used", used);
        campaign_value("offset_rms_us", sqrt(offset_sq));
        campaign_value("offset_sd_us", sd_us);
        campaign_value("drift_rms_ppm", sqrt(drift_sq) * 1e6);
        campaign_end();
        CHECK(rows[i].row, sqrt(offset_sq) <= rows[i].offset_us);
    }
}

int main(void)
{
    CU_pSuite suite = campaign_open("clock_accuracy", 1, 1, 1);
    rng_state = campaign.seed;
    CU_add_test(suite, "accuracy and error bars", test_rows);
    CU_add_test(suite, "warming up", test_warming);
    CU_add_test(suite, "probes", test_probes);
    CU_add_test(suite, "jumps found", test_jumps_found);
    CU_add_test(suite, "no false jumps", test_no_false_jumps);
    CU_add_test(suite, "changes", test_changes);
    return check_run();
}
