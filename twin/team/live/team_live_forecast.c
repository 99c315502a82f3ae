/* twin/team/live/team_live_forecast.c - predictions of the team: requested when something
 * begins, and retained until it ends.
 */
#include "twin/team/live/team_live_parts.h"
#include "twin/team/live/team_live_thresholds.def"

void team_live_request_forecast(const struct team_live_run *run)
{
    struct team_live_forecast *f = &run->live->forecast;
    if (f->due) {
        f->due = false;
        f->asked++;
        f->t_us = run->t_us;
        run->live->version++;
    }
}

/* ---- bars ---------------------------------------------------------------------------------
 */

const struct team_live_bar *team_live_find_bar(const struct team_live *live, uint16_t robot,
                                               uint32_t n)
{
    for (size_t k = 0; k < live->forecast.bar_count; k++) {
        const struct team_live_bar *bar = &live->forecast.bar[k];
        if (bar->robot == robot && bar->n == n) {
            return bar;
        }
    }
    return NULL;
}

/* Forgets the predicted bars of this robot from activity n on. */
static void forget_bars(struct team_live_forecast *f, uint16_t robot, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < f->bar_count; k++) {
        if (f->bar[k].robot != robot || f->bar[k].n < n) {
            f->bar[count++] = f->bar[k];
        }
    }
    f->bar_count = count;
}

void team_live_update_forecast(const struct team_live_run *run,
                               const struct team_effect *effect)
{
    struct team_live *live = run->live;
    const struct team_live_bar *bar =
        effect->kind == TEAM_START ? team_live_find_bar(live, effect->robot, effect->n) : NULL;
    if (bar && (bar->task != effect->step->task || bar->arg != effect->step->arg)) {
        forget_bars(&live->forecast, effect->robot, effect->n);
    } else if (effect->kind == TEAM_ERROR || effect->kind == TEAM_HALT) {
        forget_bars(&live->forecast, effect->robot, effect->n + 1);
    }
}

/* ---- a new forecast
 * ----------------------------------------------------------------------- */

/* Returns the team's first step of this name; NULL: none. */
static const struct team_step *find_step(const struct team_params *p, const char *name)
{
    for (size_t i = 0; i < p->step_count; i++) {
        char text[TEAM_FORECAST_TASK_MAX];
        if (team_step_acts(&p->steps[i])) {
            team_task_text(p, p->steps[i].task, p->steps[i].arg, text, sizeof text);
            if (strcmp(text, name) == 0) {
                return &p->steps[i];
            }
        }
    }
    return NULL;
}

/* Activities that have begun keep their earlier prediction. */
static void retain_begun(const struct team_live_run *run)
{
    struct team_live_forecast *f = &run->live->forecast;
    uint32_t count = 0;
    for (uint32_t k = 0; k < f->bar_count; k++) {
        struct team_robot_view view;
        team_robot(team_live_core(run->live, run->p), f->bar[k].robot, &view);
        if (f->bar[k].n == view.n && view.phase == TEAM_PHASE_ACTIVE) {
            f->bar[count++] = f->bar[k];
        }
    }
    f->bar_count = count;
}

static void apply_bars(const struct team_live_run *run, const struct team_forecast *forecast)
{
    struct team_live_forecast *f = &run->live->forecast;
    retain_begun(run);
    for (size_t k = 0; k < forecast->bar_count && f->bar_count < TEAM_FORECAST_BARS; k++) {
        const struct forecast_bar *from = &forecast->bars[k];
        const uint16_t robot = team_find_robot(run->p, from->robot);
        const struct team_step *step = find_step(run->p, from->task);
        if (robot == TEAM_NONE || !step) {
            continue;
        }
        struct team_robot_view view;
        team_robot(team_live_core(run->live, run->p), robot, &view);
        const bool is_new = from->n > view.n || (from->n == view.n && view.step == step);
        if (is_new && !team_live_find_bar(run->live, robot, from->n)) {
            f->bar[f->bar_count++] =
                (struct team_live_bar){.n = from->n,
                                       .robot = robot,
                                       .task = step->task,
                                       .arg = step->arg,
                                       .from_us = forecast->t_us + from->from_us,
                                       .p05_us = forecast->t_us + from->p05_us,
                                       .p95_us = forecast->t_us + from->p95_us};
        }
    }
}

/* Finds the predicted makespan of what began then; false: the forecast is too late. */
static bool find_makespan(const struct team_forecast *forecast, int64_t began_us,
                          const struct forecast_range *end, struct forecast_range *out)
{
    const int64_t late_us = forecast->t_us - began_us;
    *out = (struct forecast_range){end->p05_us + late_us, end->p50_us + late_us,
                                   end->p95_us + late_us};
    return late_us >= 0 &&
           (late_us <= LATE_US || (double)late_us <= LATE_SHARE * (double)out->p50_us);
}

/* A guess, or no prediction, gives way to a prediction from measured times, also a late one. */
static void apply_makespan(struct team_live_course *c, const struct team_forecast *forecast)
{
    struct forecast_range range;
    const bool on_time = find_makespan(forecast, c->began_us, &forecast->end, &range);
    const bool better = !c->has_forecast || (!forecast_has_interval(&c->predicted) &&
                                             forecast_has_interval(&range));
    if (better && (on_time || (c->learnt && forecast_has_interval(&range)))) {
        c->has_forecast = true;
        c->predicted = range;
        c->late_us = on_time ? 0 : forecast->t_us - c->began_us;
        c->jobs_known = c->jobs;
    }
}

static void apply_job(const struct team_live_run *run, const struct team_forecast *forecast,
                      const struct forecast_job *from)
{
    struct team_live *live = run->live;
    struct team_live_job *job = &live->job[from->number % TEAM_LIVE_PAST];
    if (job->result.number == from->number && !job->over && !job->result.has_forecast &&
        strcmp(run->p->robots[job->robot].name, from->robot) == 0) {
        job->result.has_forecast =
            find_makespan(forecast, job->result.began_us, &from->end, &job->result.predicted);
    }
}

void team_live_apply_forecast(const struct team_live_run *run,
                              const struct team_forecast *forecast)
{
    struct team_live *live = run->live;
    struct team_live_forecast *f = &live->forecast;
    struct team_live_course *c = &live->course;
    if (forecast->number > f->asked || forecast->number <= f->received) {
        return; /* from another run of this lab, or a repetition */
    }
    live->version++;
    f->received = forecast->number;
    memcpy(f->detail, forecast->detail, sizeof f->detail);
    if (c->open && forecast->known) {
        apply_makespan(c, forecast);
    }
    for (size_t k = 0; k < forecast->job_count; k++) {
        apply_job(run, forecast, &forecast->jobs[k]);
    }
    apply_bars(run, forecast);
}
