#include "twin/team/step/team_statistics.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "twin/team/step/team_memory.h"

/* A robot in the present run. */
struct team_robot_now {
    int64_t busy_since_us, waiting_since_us, joined_since_us; /* LAB_TIME_NONE: it is not */
    int64_t queued_us;   /* since then it is in its present queue */
    uint16_t lacks;      /* the first resource that it waits for, or TEAM_NONE */
    size_t behind_count; /* length of its list in behind */
};

struct team_resource_now {
    int64_t longest_us;
    uint32_t held;
};

/* ---- memory ---- */

static size_t lay_out(const struct team_prediction *tp, void *block, struct team_statistics *s)
{
    const struct team_params *p = tp->params;
    const size_t robots = p->robot_count;
    size_t used = 0;
    (void)team_memory_cut(block, &used, sizeof *s);
    const size_t sums_at = used;
    s->robot = team_memory_cut(block, &used, robots * sizeof *s->robot);
    s->resource = team_memory_cut(block, &used, p->resource_count * sizeof *s->resource);
    s->activity = team_memory_cut(block, &used, robots * tp->kind_count * sizeof *s->activity);
    s->behind_us = team_memory_cut(block, &used, robots * robots * sizeof *s->behind_us);
    s->sum_bytes = used - sums_at;
    s->now = team_memory_cut(block, &used, robots * sizeof *s->now);
    s->held = team_memory_cut(block, &used, p->resource_count * sizeof *s->held);
    s->behind = team_memory_cut(block, &used, robots * robots * sizeof *s->behind);
    return used;
}

size_t team_statistics_bytes(const struct team_prediction *tp)
{
    struct team_statistics none;
    return lay_out(tp, NULL, &none);
}

struct team_statistics *team_statistics_init(void *memory, const struct team_prediction *tp,
                                             const struct team_draw *draw)
{
    struct team_statistics *s = memory;
    memset(s, 0, team_statistics_bytes(tp));
    (void)lay_out(tp, memory, s);
    s->tp = tp;
    s->draw = draw;
    return s;
}

/* ---- the present run ---- */

static size_t robot_count(const struct team_statistics *s)
{
    return s->tp->params->robot_count;
}

void team_statistics_begin(struct team_statistics *s)
{
    const struct team_params *p = s->tp->params;
    memset(s->alarmed, 0, sizeof s->alarmed);
    s->stopped_us = 0;
    memset(s->held, 0, p->resource_count * sizeof *s->held);
    for (size_t r = 0; r < p->robot_count; r++) {
        s->now[r] = (struct team_robot_now){.busy_since_us = LAB_TIME_NONE,
                                            .waiting_since_us = LAB_TIME_NONE,
                                            .joined_since_us = LAB_TIME_NONE};
    }
}

/* The robot has left this queue, or is now queued behind others. */
static void leave_queue(struct team_statistics *s, size_t r, int64_t t_us)
{
    for (size_t i = 0; i < s->now[r].behind_count; i++) {
        const size_t other = s->behind[r * robot_count(s) + i];
        s->behind_us[r * robot_count(s) + other] += t_us - s->now[r].queued_us;
    }
    s->now[r].behind_count = 0;
}

static void end_interval(int64_t *since_us, int64_t t_us, int64_t *sum_us)
{
    if (*since_us != LAB_TIME_NONE) {
        *sum_us += t_us > *since_us ? t_us - *since_us : 0;
        *since_us = LAB_TIME_NONE;
    }
}

/* Ends its activity or wait. */
static void end_all(struct team_statistics *s, size_t r, int64_t t_us)
{
    leave_queue(s, r, t_us);
    end_interval(&s->now[r].busy_since_us, t_us, &s->robot[r].busy_us);
    end_interval(&s->now[r].waiting_since_us, t_us, &s->robot[r].waiting_us);
    end_interval(&s->now[r].joined_since_us, t_us, &s->robot[r].waiting_us);
}

static void add_wait(struct team_statistics *s, const struct team_effect *e)
{
    struct team_robot_now *now = &s->now[e->robot];
    leave_queue(s, e->robot, e->t_us);
    if (now->waiting_since_us == LAB_TIME_NONE) {
        now->waiting_since_us = e->t_us;
    }
    now->queued_us = e->t_us;
    now->lacks = e->resource_count > 0 ? e->resources[0] : TEAM_NONE;
    now->behind_count = e->robot_count;
    memcpy(s->behind + e->robot * robot_count(s), e->robots,
           e->robot_count * sizeof *e->robots);
}

static void add_done(struct team_statistics *s, const struct team_effect *e)
{
    struct team_robot_now *now = &s->now[e->robot];
    if (e->timed) {
        end_interval(&now->busy_since_us, e->t_us, &s->robot[e->robot].busy_us);
        if (e->step && e->step->kind == TEAM_STEP_TOGETHER) {
            now->joined_since_us = e->t_us;
        }
    } else if (e->step && e->step->kind == TEAM_STEP_LOCK) {
        leave_queue(s, e->robot, e->t_us);
        end_interval(&now->waiting_since_us, e->t_us, &s->robot[e->robot].waiting_us);
    }
}

/* Adds the waits of robots that met or acted together; those who came last have no wait. */
static void add_waits(struct team_statistics *s, const struct team_effect *e,
                      const int64_t *waits_us)
{
    for (size_t i = 0; i < e->robot_count; i++) {
        const size_t r = e->robots[i];
        s->robot[r].waiting_us += waits_us[i];
        for (size_t j = 0; j < e->robot_count; j++) {
            s->behind_us[r * robot_count(s) + e->robots[j]] +=
                waits_us[j] == 0 ? waits_us[i] : 0;
        }
    }
}

static void add_together(struct team_statistics *s, const struct team_effect *e)
{
    int64_t waits_us[TEAM_ROBOTS_MAX];
    for (size_t i = 0; i < e->robot_count; i++) {
        waits_us[i] = 0;
        end_interval(&s->now[e->robots[i]].joined_since_us, e->t_us, &waits_us[i]);
    }
    add_waits(s, e, waits_us);
}

static void add_grant(struct team_statistics *s, const struct team_effect *e)
{
    struct team_resource_sums *sums = &s->resource[e->resource];
    struct team_resource_now *now = &s->held[e->resource];
    sums->held_us -= e->t_us;
    now->held++;
    sums->grants++;
    sums->waits += e->waited_us > 0;
    sums->waited_us += e->waited_us;
    now->longest_us = e->waited_us > now->longest_us ? e->waited_us : now->longest_us;
}

/* The draw has just been asked for the lap. */
static void add_start(struct team_statistics *s, const struct team_effect *e)
{
    const size_t kind = team_activity_kind(s->tp, e->step);
    const enum team_law_kind law = s->draw->law;
    struct team_activity_sums *sums = &s->activity[e->robot * s->tp->kind_count + kind];
    const uint64_t lap_ms = ((uint64_t)s->draw->lap_us + 500) / 1000;
    s->now[e->robot].busy_since_us = e->t_us;
    s->robot[e->robot].activities++;
    if (law != TEAM_LAW_NONE) {
        sums->n++;
        sums->sum_ms += lap_ms;
        sums->square_ms2 += lap_ms * lap_ms;
        sums->law[law]++;
    }
}

void team_statistics_add_effect(void *statistics, const struct team_effect *e)
{
    struct team_statistics *s = statistics;
    if (e->kind == TEAM_START) {
        add_start(s, e);
    } else if (e->kind == TEAM_DONE) {
        add_done(s, e);
    } else if (e->kind == TEAM_WAIT) {
        add_wait(s, e);
    } else if (e->kind == TEAM_GRANT) {
        add_grant(s, e);
    } else if (e->kind == TEAM_FREED) {
        s->resource[e->resource].held_us += e->t_us;
        s->held[e->resource].held--;
    } else if (e->kind == TEAM_MEET) {
        add_waits(s, e, e->waits_us);
    } else if (e->kind == TEAM_TOGETHER) {
        add_together(s, e);
    } else if (e->kind == TEAM_ERROR || e->kind == TEAM_HALT || e->kind == TEAM_FINISH) {
        end_all(s, e->robot, e->t_us);
        s->stopped_us = e->t_us;
    } else if (e->kind == TEAM_ALARM) {
        s->alarmed[e->alarm] = true;
    }
}

/* A wait that was not served would else be missing from those of the resource. */
static void add_unserved(struct team_statistics *s, size_t r, int64_t end_us)
{
    const struct team_robot_now *now = &s->now[r];
    if (now->waiting_since_us == LAB_TIME_NONE || now->lacks == TEAM_NONE) {
        return;
    }
    struct team_resource_sums *sums = &s->resource[now->lacks];
    const int64_t waited_us = end_us - now->waiting_since_us;
    sums->waits++;
    sums->unserved++;
    sums->waited_us += waited_us;
    if (waited_us > s->held[now->lacks].longest_us) {
        s->held[now->lacks].longest_us = waited_us;
    }
}

/* A run that is stuck waits up to the horizon. One that ended before had no time of its own. */
static int64_t find_end(const struct team_statistics *s, const struct team_run *run,
                        int64_t horizon_us)
{
    return run->end == TEAM_RUN_STUCK || run->end == TEAM_RUN_HORIZON ? horizon_us
           : run->makespan_us > s->stopped_us                         ? run->makespan_us
                                                                      : s->stopped_us;
}

void team_statistics_end(struct team_statistics *s, const struct team_run *run,
                         const struct team *team, int64_t horizon_us)
{
    const struct team_params *p = s->tp->params;
    const int64_t end_us = find_end(s, run, horizon_us);
    s->ends[run->end]++;
    s->spans_us += end_us;
    for (size_t a = 0; a < TEAM_ALARM_COUNT; a++) {
        s->alarms[a] += s->alarmed[a];
    }
    for (size_t r = 0; r < p->robot_count; r++) {
        struct team_robot_view view;
        team_robot(team, (uint16_t)r, &view);
        if (view.phase == TEAM_PHASE_MEETING && view.since_us < end_us) {
            s->robot[r].waiting_us += end_us - view.since_us;
        }
        add_unserved(s, r, end_us);
        end_all(s, r, end_us);
    }
    for (size_t i = 0; i < p->resource_count; i++) {
        struct team_resource_sums *sums = &s->resource[i];
        const int64_t longest_us = s->held[i].longest_us;
        sums->held_us += s->held[i].held * end_us;
        sums->longest_sum_us += longest_us;
        sums->longest_us = longest_us > sums->longest_us ? longest_us : sums->longest_us;
    }
}

/* All sums are 64-bit integers, except the longest wait. */
void team_statistics_add(struct team_statistics *s, const struct team_statistics *other)
{
    const size_t resources = s->tp->params->resource_count;
    uint64_t *const to = (uint64_t *)(void *)s->robot;
    const uint64_t *const from = (const uint64_t *)(const void *)other->robot;
    for (size_t i = 0; i < resources; i++) {
        const int64_t longest_us = other->resource[i].longest_us;
        struct team_resource_sums *sums = &s->resource[i];
        /* The sum below adds it again. */
        sums->longest_us =
            (longest_us > sums->longest_us ? longest_us : sums->longest_us) - longest_us;
    }
    for (size_t i = 0; i < s->sum_bytes / sizeof *to; i++) {
        to[i] += from[i];
    }
    for (size_t i = 0; i < TEAM_RUN_END_COUNT; i++) {
        s->ends[i] += other->ends[i];
    }
    for (size_t i = 0; i < TEAM_ALARM_COUNT; i++) {
        s->alarms[i] += other->alarms[i];
    }
    s->spans_us += other->spans_us;
}

/* ---- distributions ---- */

static struct team_figure find_quantile(const double *sorted, size_t n, double p)
{
    const double spread = sqrt((double)n * p * (1.0 - p));
    const double at = p * (double)(n - 1);
    const double low = fmax(at - spread, 0.0);
    const double high = fmin(at + spread, (double)(n - 1));
    const double unit = n > 1 ? 1.0 / (double)(n - 1) : 0.0;
    const double a = gsl_stats_quantile_from_sorted_data(sorted, 1, n, low * unit);
    const double b = gsl_stats_quantile_from_sorted_data(sorted, 1, n, high * unit);
    /* At the end of the values, one of the two sides stands for both. */
    const double width = high > low ? (b - a) * 2.0 * spread / (high - low) : 0.0;
    return (struct team_figure){gsl_stats_quantile_from_sorted_data(sorted, 1, n, p),
                                n > 1 ? width / 2.0 : (double)NAN};
}

void team_distribution_find(double *values, size_t n, struct team_distribution *out)
{
    const struct team_figure none = {(double)NAN, (double)NAN};
    *out = (struct team_distribution){n, none, none, none, none, none};
    if (n == 0) {
        return;
    }
    gsl_sort(values, 1, n);
    const double mean = gsl_stats_mean(values, 1, n);
    out->mean.value = mean;
    out->p05 = find_quantile(values, n, 0.05);
    out->p50 = find_quantile(values, n, 0.50);
    out->p95 = find_quantile(values, n, 0.95);
    if (n < 2) {
        return;
    }
    double m2 = 0.0;
    double m4 = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double d2 = (values[i] - mean) * (values[i] - mean);
        m2 += d2 / (double)n;
        m4 += d2 * d2 / (double)n;
    }
    const double sd = sqrt(m2 * (double)n / (double)(n - 1));
    out->mean.error = sd / sqrt((double)n);
    out->sd = (struct team_figure){
        sd, sd > 0.0 ? sqrt(fmax(m4 - m2 * m2, 0.0) / (double)n) / (2.0 * sd) : 0.0};
}
