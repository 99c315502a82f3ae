/* What was foretold of the team: asked for when something begins, and kept for its end. */
#include <stdio.h>

#include "twin/team/live/crew_parts.h"

/* A forecast that was made later than this share of what it foretells is none of its
 * beginning; but so much is always forgiven. */
static const double LATE_SHARE = 0.05;
static const int64_t LATE_US = 1000000;

void crew_forecast_ask(const struct crew_run *run)
{
    struct crew_forecast *f = &run->crew->forecast;
    if (f->due) {
        f->due = false;
        f->asked++;
        f->t_us = run->t_us;
        run->crew->version++;
    }
}

/* ---- bars ---------------------------------------------------------------------------------
 */

const struct crew_bar *crew_find_bar(const struct crew *crew, uint16_t robot, uint32_t n)
{
    for (size_t k = 0; k < crew->forecast.bar_count; k++) {
        const struct crew_bar *bar = &crew->forecast.bar[k];
        if (bar->robot == robot && bar->n == n) {
            return bar;
        }
    }
    return NULL;
}

/* Of this robot from activity n on. */
static void forget_bars(struct crew_forecast *f, uint16_t robot, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->bar_count; k++) {
        if (f->bar[k].robot != robot || f->bar[k].n < n) {
            f->bar[kept++] = f->bar[k];
        }
    }
    f->bar_count = kept;
}

void crew_forecast_effect(const struct crew_run *run, const struct team_effect *effect)
{
    struct crew *crew = run->crew;
    const struct crew_bar *bar =
        effect->kind == TEAM_START ? crew_find_bar(crew, effect->robot, effect->n) : NULL;
    if (bar && (bar->task != effect->step->task || bar->arg != effect->step->arg)) {
        forget_bars(&crew->forecast, effect->robot, effect->n);
    } else if (effect->kind == TEAM_ERROR || effect->kind == TEAM_HALT) {
        forget_bars(&crew->forecast, effect->robot, effect->n + 1);
    }
}

/* ---- a forecast comes ---------------------------------------------------------------------
 */

static uint16_t find_robot(const struct team_params *p, const char *name)
{
    uint16_t i = 0;
    while (i < p->robot_count && strcmp(p->robots[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* "Move IB" */
static bool is_named(const struct team_params *p, const struct team_step *step,
                     const char *name)
{
    const char *arg = team_name(p, step->arg);
    char text[TEAM_FORECAST_TASK_MAX];
    (void)snprintf(text, sizeof text, "%s%s%s", p->tasks[step->task].name, arg[0] ? " " : "",
                   arg);
    return strcmp(text, name) == 0;
}

/* The team's first step of this name; NULL: it has none. */
static const struct team_step *find_step(const struct team_params *p, const char *name)
{
    for (size_t i = 0; i < p->step_count; i++) {
        const struct team_step *step = &p->steps[i];
        const bool works = step->kind == TEAM_STEP_TASK || step->kind == TEAM_STEP_TOOL ||
                           step->kind == TEAM_STEP_TOGETHER;
        if (works && is_named(p, step, name)) {
            return step;
        }
    }
    return NULL;
}

/* Those begun are as they were foretold before. */
static void keep_begun(const struct crew_run *run)
{
    struct crew_forecast *f = &run->crew->forecast;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->bar_count; k++) {
        struct team_robot_view view;
        team_robot(crew_core(run->crew, run->p), f->bar[k].robot, &view);
        if (f->bar[k].n == view.n && view.phase == TEAM_PHASE_ACTIVE) {
            f->bar[kept++] = f->bar[k];
        }
    }
    f->bar_count = kept;
}

static void take_bars(const struct crew_run *run, const struct team_forecast *forecast)
{
    struct crew_forecast *f = &run->crew->forecast;
    keep_begun(run);
    for (size_t k = 0; k < forecast->bar_count && f->bar_count < TEAM_FORECAST_BARS; k++) {
        const struct forecast_bar *from = &forecast->bars[k];
        const uint16_t robot = find_robot(run->p, from->robot);
        const struct team_step *step = find_step(run->p, from->task);
        if (robot == run->p->robot_count || !step) {
            continue;
        }
        struct team_robot_view view;
        team_robot(crew_core(run->crew, run->p), robot, &view);
        const bool is_new = from->n > view.n || (from->n == view.n && view.step == step);
        if (is_new && !crew_find_bar(run->crew, robot, from->n)) {
            f->bar[f->bar_count++] =
                (struct crew_bar){.n = from->n,
                                  .robot = robot,
                                  .task = step->task,
                                  .arg = step->arg,
                                  .from_us = forecast->t_us + from->from_us,
                                  .p05_us = forecast->t_us + from->p05_us,
                                  .p95_us = forecast->t_us + from->p95_us};
        }
    }
}

/* The makespan of what began then; false: it was foretold too late. */
static bool find_makespan(const struct team_forecast *forecast, int64_t began_us,
                          const struct forecast_range *end, struct forecast_range *out)
{
    const int64_t late_us = forecast->t_us - began_us;
    *out = (struct forecast_range){end->p05_us + late_us, end->p50_us + late_us,
                                   end->p95_us + late_us};
    return late_us >= 0 &&
           (late_us <= LATE_US || (double)late_us <= LATE_SHARE * (double)out->p50_us);
}

static void take_job(const struct crew_run *run, const struct team_forecast *forecast,
                     const struct forecast_job *from)
{
    struct crew *crew = run->crew;
    struct crew_job *job = &crew->job[from->number % CREW_PAST];
    if (job->result.number == from->number && !job->over && !job->result.foretold &&
        strcmp(run->p->robots[job->robot].name, from->robot) == 0) {
        job->result.foretold =
            find_makespan(forecast, job->result.began_us, &from->end, &job->result.predicted);
    }
}

void crew_take_forecast(const struct crew_run *run, const struct team_forecast *forecast)
{
    struct crew *crew = run->crew;
    struct crew_forecast *f = &crew->forecast;
    struct crew_course *c = &crew->course;
    if (forecast->number > f->asked || forecast->number <= f->told) {
        return; /* of another run of this lab, or here before */
    }
    crew->version++;
    f->told = forecast->number;
    memcpy(f->detail, forecast->detail, sizeof f->detail);
    if (c->open && !c->foretold && forecast->known) {
        c->foretold = find_makespan(forecast, c->began_us, &forecast->end, &c->predicted);
        c->jobs_known = c->jobs;
    }
    for (size_t k = 0; k < forecast->job_count; k++) {
        take_job(run, forecast, &forecast->jobs[k]);
    }
    take_bars(run, forecast);
}
