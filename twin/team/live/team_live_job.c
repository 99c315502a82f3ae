/* twin/team/live/team_live_job.c - jobs from assignment to completion, and how accurate their
 * prediction was.
 */
#include "twin/team/live/team_live_parts.h"

const struct team_live_job *team_live_find_job(const struct team_live *live, uint64_t number)
{
    const struct team_live_job *job = &live->job[number % TEAM_LIVE_PAST];
    return number > 0 && job->result.number == number ? job : NULL;
}

static struct team_live_job *find_job(struct team_live *live, uint64_t number)
{
    return team_live_find_job(live, number) ? &live->job[number % TEAM_LIVE_PAST] : NULL;
}

int team_live_result_inside(const struct team_live_result *r)
{
    if (!r->has_forecast || r->disturbed || r->late_us > 0 ||
        !forecast_has_interval(&r->predicted)) {
        return -1;
    }
    return r->predicted.p05_us <= r->real_us && r->real_us <= r->predicted.p95_us;
}

void team_live_emit_result(const struct team_live_run *run,
                           const struct team_live_result *result,
                           const struct team_live_job *job, struct team_live_judged *judged)
{
    const int inside = team_live_result_inside(result);
    if (judged && inside >= 0) {
        judged->predicted++;
        judged->inside += inside == 1;
    }
    const struct effect out = {.kind = EFFECT_RESULT,
                               .pair = run->live->named,
                               .t_us = run->t_us,
                               .side = SIDE_COUNT,
                               .result = {result, job}};
    run->fx->emit(run->fx->context, &out);
}

static void begin_job(const struct team_live_run *run, const struct team_effect *effect)
{
    struct team_live *live = run->live;
    const uint64_t number = ++live->jobs_begun;
    struct team_live_job *job = &live->job[number % TEAM_LIVE_PAST];
    memset(job, 0, sizeof *job);
    job->result = (struct team_live_result){
        .number = number, .began_us = effect->t_us, .virtual_us = LAB_TIME_NONE};
    job->robot = effect->robot;
    job->again_by = TEAM_NONE;
    job->job = *effect->job;
    team_live_robots(live)[effect->robot].doing = number;
    live->forecast.due = true;
}

static void end_job(const struct team_live_run *run, const struct team_effect *effect)
{
    struct team_live_robot *r = &team_live_robots(run->live)[effect->robot];
    struct team_live_job *job = find_job(run->live, r->doing);
    r->doing = 0;
    if (job) {
        job->over = true;
        job->result.real_us = effect->t_us - job->result.began_us;
        team_live_emit_result(run, &job->result, job, &run->live->judged_jobs);
    }
}

void team_live_update_job(const struct team_live_run *run, const struct team_effect *effect)
{
    if (effect->kind == TEAM_ASSIGN) {
        begin_job(run, effect);
    } else if (effect->kind == TEAM_FINISH) {
        end_job(run, effect);
    } else if (effect->kind == TEAM_START) {
        struct team_live_job *job =
            find_job(run->live, team_live_robots(run->live)[effect->robot].doing);
        if (job) {
            job->result.activities++;
        }
    }
}

void team_live_disturb_jobs(const struct team_live_run *run)
{
    for (size_t k = 0; k < TEAM_LIVE_PAST; k++) {
        struct team_live_job *job = &run->live->job[k];
        job->result.disturbed = job->result.disturbed || (job->result.number > 0 && !job->over);
    }
}
