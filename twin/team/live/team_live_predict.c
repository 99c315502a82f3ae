#include "twin/team/live/team_live_predict.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "twin/team/live/team_live_parts.h"
#include "twin/team/step/team_memory.h"
#include "twin/team/step/team_simulate.h"
#include "twin/team/step/team_statistics.h"

/* Activity n of a robot, and its times in the runs. */
struct ahead {
    uint16_t robot;
    uint32_t n;
    const struct team_step *step;
    size_t seen;
    bool guessed; /* a duration of the file was used before its end */
    double from_s[TEAM_LIVE_PREDICT_RUNS], to_s[TEAM_LIVE_PREDICT_RUNS];
};

/* A running job. */
struct in_work {
    uint16_t robot;
    uint64_t number;
    bool ended; /* in this run */
    bool guessed;
    size_t seen;
    double end_s[TEAM_LIVE_PREDICT_RUNS];
};

struct predictor {
    const struct team_params *p;
    const struct team_live *live;
    int64_t t_us;
    struct team_prediction *tp;
    struct team_draw *draw;
    struct team_simulator *simulator;
    bool guessed; /* the end */
    bool expects; /* the deterministic run, which lists the activities ahead */
    size_t script_count, ahead_count, job_count, finished;
    struct team_happening script[TEAM_ROBOTS_MAX]; /* starts of robots */
    struct in_work jobs[TEAM_FORECAST_JOBS];
    struct ahead ahead[TEAM_FORECAST_BARS];
    double end_s[TEAM_LIVE_PREDICT_RUNS];
};

/* Cuts the block; returns its size. */
static size_t lay_out(const struct team_params *p, void *block, void *pieces[3])
{
    size_t used = 0;
    (void)team_memory_cut(block, &used, sizeof(struct predictor));
    pieces[0] = team_memory_cut(block, &used, team_prediction_bytes(p));
    pieces[1] = team_memory_cut(block, &used, team_draw_bytes(p));
    pieces[2] = team_memory_cut(block, &used, team_simulator_bytes(p));
    return used;
}

size_t team_live_predict_bytes(const struct team_params *p)
{
    void *pieces[3];
    return lay_out(p, NULL, pieces);
}

/* ---- known durations
 * ---------------------------------------------------------------------- */

void team_live_predict_pair(struct team_prediction *tp, uint16_t robot, const struct pair *pair,
                            const struct pair_params *p, enum side side)
{
    struct forecast_move past[PAIR_WINDOW_MAX];
    struct travel_move moves[PAIR_WINDOW_MAX];
    struct travel_fit fit;
    const struct forecast_past all = {&pair->forecast, past,
                                      pair_forecast_moves(pair, p, past)};
    size_t n = 0;
    if (pair_is_arm(p)) {
        return;
    }
    for (size_t k = 0; k < all.n; k++) {
        if (isfinite(past[k].lap_s[side])) {
            moves[n++] = (struct travel_move){past[k].turn, past[k].drive, past[k].lap_s[side]};
        }
    }
    if (travel_time_fit(moves, n, p->motion, p->method, &fit) == STATUS_OK) {
        const enum status status = team_predict_moves(tp, robot, &fit);
        (void)status; /* too few: the next law is used */
    }
    team_predict_forecasts(tp, robot, &all, (enum forecast_quantity)side);
}

static void learn_robot(struct team_prediction *tp, const struct team_live *live, uint16_t i,
                        team_live_read_pair *read, void *context)
{
    const struct team_live_robot *r = team_live_robot(live, tp->params, i);
    enum status status = STATUS_OK;
    if (read && r->pair != TEAM_LIVE_NO_PAIR) {
        const struct pair_params *p = NULL;
        const struct pair *pair = read(context, r->pair, &p);
        team_live_predict_pair(tp, i, pair, p, r->virtual_only ? SIDE_VIRTUAL : SIDE_REAL);
    }
    for (uint32_t k = 0; k < r->law_count; k++) {
        const struct team_live_law *law = &r->law[k];
        const struct team_activity what = {i, law->task, law->arg};
        status = team_predict_measured(tp, &what, law->laps.n, law->laps.mean_s,
                                       team_laps_sd(&law->laps),
                                       team_laps_of_one_move(&law->turns, &law->distances));
    }
    (void)status; /* too few: the next law is used */
    const struct team_pose pose = {r->pose[0], r->pose[1], r->pose[2]};
    if (r->posed) {
        team_predict_pose(tp, i, &pose);
    }
}

void team_live_predict_learn(struct team_prediction *tp, const struct team_live *live,
                             team_live_read_pair *read, void *context)
{
    for (uint16_t i = 0; i < tp->params->robot_count; i++) {
        learn_robot(tp, live, i, read, context);
    }
}

/* Schedules the robots that begin later. */
static void plan_starts(struct predictor *s)
{
    for (uint16_t i = 0; i < s->p->robot_count; i++) {
        const int64_t start_us = team_live_robot(s->live, s->p, i)->start_us;
        size_t k = s->script_count;
        if (start_us == LAB_TIME_MAX) {
            continue;
        }
        for (; k > 0 && s->script[k - 1].t_us > start_us; k--) {
            s->script[k] = s->script[k - 1];
        }
        s->script[k] = (struct team_happening){.t_us = start_us > s->t_us ? start_us : s->t_us,
                                               .event = {.kind = TEAM_EVENT_START, .robot = i}};
        s->script_count++;
    }
}

static void find_jobs(struct predictor *s)
{
    for (uint16_t i = 0; i < s->p->robot_count && s->job_count < TEAM_FORECAST_JOBS; i++) {
        const struct team_live_job *job =
            team_live_find_job(s->live, team_live_robot(s->live, s->p, i)->doing);
        if (job) {
            s->jobs[s->job_count++] =
                (struct in_work){.robot = i, .number = job->result.number};
        }
    }
}

/* ---- runs ---------------------------------------------------------------------------------
 */

static struct ahead *find_ahead(struct predictor *s, const struct team_effect *e)
{
    for (size_t k = 0; k < s->ahead_count; k++) {
        struct ahead *a = &s->ahead[k];
        if (a->robot == e->robot && a->n == e->n && a->step->task == e->step->task &&
            a->step->arg == e->step->arg) {
            return a;
        }
    }
    return NULL;
}

static void record_activity(struct predictor *s, const struct team_effect *e)
{
    struct ahead *a = find_ahead(s, e);
    if (s->expects && !a && s->ahead_count < TEAM_FORECAST_BARS) {
        a = &s->ahead[s->ahead_count++];
        a->robot = e->robot;
        a->n = e->n;
        a->step = e->step;
        a->seen = 0;
        a->guessed = false;
    } else if (!s->expects && a) {
        a->guessed = a->guessed || s->draw->guessed;
        a->from_s[a->seen] = lab_s(e->t_us - e->took_us - s->t_us);
        a->to_s[a->seen++] = lab_s(e->t_us - s->t_us);
    }
}

static void observe_effect(void *context, const struct team_effect *e)
{
    struct predictor *s = context;
    if (e->kind == TEAM_DONE && e->timed && e->step) {
        record_activity(s, e);
    }
    for (size_t k = 0; e->kind == TEAM_FINISH && k < s->job_count; k++) {
        struct in_work *job = &s->jobs[k];
        if (job->robot == e->robot && !job->ended) {
            job->ended = true;
            if (!s->expects) {
                job->guessed = job->guessed || s->draw->guessed;
                job->end_s[job->seen++] = lab_s(e->t_us - s->t_us);
            }
        }
    }
}

static void run_once(struct predictor *s, struct team_run *run)
{
    const struct team_scenario scenario = {.params = s->p,
                                           .from = team_live_team(s->live, s->p),
                                           .from_us = s->t_us,
                                           .ask = team_draw_lap,
                                           .context = s->draw,
                                           .script = s->script,
                                           .script_count = s->script_count,
                                           .horizon_us = LAB_TIME_MAX,
                                           .activities_max = TEAM_LIVE_PREDICT_LONGEST};
    const struct team_effects fx = {observe_effect, s};
    for (size_t k = 0; k < s->job_count; k++) {
        s->jobs[k].ended = false;
    }
    team_simulate(s->simulator, &scenario, &fx, run);
}

static size_t run_all(struct predictor *s, const struct team_run *expected)
{
    const uint64_t each = expected->activities > 0 ? expected->activities : 1;
    const uint64_t most = TEAM_LIVE_PREDICT_WORK / each;
    const size_t runs = most < TEAM_LIVE_PREDICT_RUNS ? (size_t)most : TEAM_LIVE_PREDICT_RUNS;
    const uint64_t seed = hash_bytes(hash_text(s->p->name), &s->t_us, sizeof s->t_us);
    if (runs < TEAM_LIVE_PREDICT_RUNS_MIN) {
        return 0;
    }
    for (size_t k = 0; k < runs; k++) {
        struct team_run run;
        team_draw_begin(s->draw, seed, k);
        run_once(s, &run);
        s->guessed = s->guessed || s->draw->guessed;
        if (run.end == TEAM_RUN_FINISHED) {
            s->end_s[s->finished++] = lab_s(run.makespan_us - s->t_us);
        }
    }
    return runs;
}

/* ---- results of the runs
 * ------------------------------------------------------------------ */

/* The file's durations are guesses without a known error, so they give no interval. */
static struct forecast_range find_range(double *values_s, size_t n, bool guessed)
{
    struct team_distribution d;
    team_distribution_find(values_s, n, &d);
    const int64_t p50_us = lab_us(d.p50.value);
    return (struct forecast_range){guessed ? p50_us : lab_us(d.p05.value), p50_us,
                                   guessed ? p50_us : lab_us(d.p95.value)};
}

static void write_bars(struct predictor *s, size_t runs, struct team_forecast *out)
{
    for (size_t k = 0; k < s->ahead_count; k++) {
        struct ahead *a = &s->ahead[k];
        struct forecast_bar *bar = &out->bars[out->bar_count];
        if (10 * a->seen < 9 * runs) { /* not in nearly every run */
            continue;
        }
        const struct forecast_range to = find_range(a->to_s, a->seen, a->guessed);
        *bar = (struct forecast_bar){.n = a->n,
                                     .from_us = find_range(a->from_s, a->seen, false).p50_us,
                                     .p05_us = to.p05_us,
                                     .p95_us = to.p95_us};
        (void)snprintf(bar->robot, sizeof bar->robot, "%s", s->p->robots[a->robot].name);
        team_task_text(s->p, a->step->task, a->step->arg, bar->task, sizeof bar->task);
        out->bar_count++;
    }
}

static void write_jobs(struct predictor *s, size_t runs, struct team_forecast *out)
{
    for (size_t k = 0; k < s->job_count; k++) {
        struct in_work *job = &s->jobs[k];
        if (job->seen == runs) {
            struct forecast_job *to = &out->jobs[out->job_count++];
            *to = (struct forecast_job){.number = job->number,
                                        .end = find_range(job->end_s, job->seen, job->guessed)};
            (void)snprintf(to->robot, sizeof to->robot, "%s", s->p->robots[job->robot].name);
        }
    }
}

/* Explains why the end is unknown. */
static void explain_end(const struct predictor *s, const struct team_run *expected, size_t runs,
                        struct team_forecast *out)
{
    const struct team_activity a = s->draw->unknown;
    if (a.robot != TEAM_NONE) {
        const char *arg = team_name(s->p, a.arg);
        (void)snprintf(out->detail, sizeof out->detail,
                       "nothing says how long %.20s takes for %.20s%s%.20s",
                       s->p->robots[a.robot].name, s->p->tasks[a.task].name, arg[0] ? " " : "",
                       arg);
    } else if (expected->end == TEAM_RUN_REFUSED) {
        (void)snprintf(out->detail, sizeof out->detail,
                       "it has more than %d activities ahead, or no end",
                       TEAM_LIVE_PREDICT_LONGEST);
    } else if (expected->end != TEAM_RUN_FINISHED || s->finished < runs) {
        (void)snprintf(out->detail, sizeof out->detail, "it comes to no end: %s",
                       team_run_end_name(expected->end == TEAM_RUN_FINISHED ? TEAM_RUN_STUCK
                                                                            : expected->end));
    }
}

void team_live_predict(void *memory, const struct team_live *live, const struct team_params *p,
                       int64_t t_us, team_live_read_pair *read, void *context,
                       struct team_forecast *out)
{
    struct predictor *s = memory;
    void *pieces[3];
    struct team_run expected;
    memset(s, 0, offsetof(struct predictor, jobs));
    s->p = p;
    s->live = live;
    s->t_us = t_us;
    (void)lay_out(p, memory, pieces);
    s->tp = team_prediction_init(pieces[0], p);
    s->draw = team_draw_init(pieces[1], s->tp);
    s->simulator = team_simulator_init(pieces[2], p);
    team_live_predict_learn(s->tp, live, read, context);
    plan_starts(s);
    find_jobs(s);
    memset(out, 0, sizeof *out);
    out->number = live->forecast.asked;
    out->t_us = t_us;
    s->expects = true;
    do {
        team_draw_expect(s->draw);
        run_once(s, &expected);
    } while (team_predict_finish(s->tp, s->draw));
    s->expects = false;
    const bool known = s->draw->unknown.robot == TEAM_NONE;
    const size_t runs = known ? run_all(s, &expected) : 0;
    out->runs = (uint32_t)runs;
    explain_end(s, &expected, runs, out);
    if (runs > 0) {
        write_bars(s, runs, out);
        write_jobs(s, runs, out);
        out->known = s->finished == runs;
        if (out->known) {
            out->end = find_range(s->end_s, runs, s->guessed);
        }
    }
}
