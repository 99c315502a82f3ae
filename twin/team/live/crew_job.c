/* Jobs, from when a robot gets one until it has done it; and how what was foretold came out. */
#include "twin/team/live/crew_parts.h"

const struct crew_job *crew_find_job(const struct crew *crew, uint64_t number)
{
    const struct crew_job *job = &crew->job[number % CREW_PAST];
    return number > 0 && job->result.number == number ? job : NULL;
}

static struct crew_job *find_job(struct crew *crew, uint64_t number)
{
    return crew_find_job(crew, number) ? &crew->job[number % CREW_PAST] : NULL;
}

int crew_result_inside(const struct crew_result *r)
{
    if (!r->foretold || r->disturbed) {
        return -1;
    }
    return r->predicted.p05_us <= r->real_us && r->real_us <= r->predicted.p95_us;
}

void crew_tell_result(const struct crew_run *run, const struct crew_result *result,
                      const struct crew_job *job, struct crew_judged *judged)
{
    const int inside = crew_result_inside(result);
    if (judged && inside >= 0) {
        judged->foretold++;
        judged->inside += inside == 1;
    }
    const struct effect out = {.kind = EFFECT_RESULT,
                               .pair = run->crew->named,
                               .t_us = run->t_us,
                               .side = SIDE_COUNT,
                               .result = {result, job}};
    run->fx->emit(run->fx->context, &out);
}

static void begin_job(const struct crew_run *run, const struct team_effect *effect)
{
    struct crew *crew = run->crew;
    const uint64_t number = ++crew->jobs_begun;
    struct crew_job *job = &crew->job[number % CREW_PAST];
    memset(job, 0, sizeof *job);
    job->result = (struct crew_result){
        .number = number, .began_us = effect->t_us, .virtual_us = LAB_TIME_NONE};
    job->robot = effect->robot;
    job->again_by = TEAM_NONE;
    job->job = *effect->job;
    crew_robots(crew)[effect->robot].doing = number;
    crew->forecast.due = true;
}

static void end_job(const struct crew_run *run, const struct team_effect *effect)
{
    struct crew_robot *r = &crew_robots(run->crew)[effect->robot];
    struct crew_job *job = find_job(run->crew, r->doing);
    r->doing = 0;
    if (job) {
        job->over = true;
        job->result.real_us = effect->t_us - job->result.began_us;
        crew_tell_result(run, &job->result, job, &run->crew->judged_jobs);
    }
}

void crew_job_effect(const struct crew_run *run, const struct team_effect *effect)
{
    if (effect->kind == TEAM_ASSIGN) {
        begin_job(run, effect);
    } else if (effect->kind == TEAM_FINISH) {
        end_job(run, effect);
    } else if (effect->kind == TEAM_START) {
        struct crew_job *job = find_job(run->crew, crew_robots(run->crew)[effect->robot].doing);
        if (job) {
            job->result.activities++;
        }
    }
}

void crew_jobs_disturbed(const struct crew_run *run)
{
    for (size_t k = 0; k < CREW_PAST; k++) {
        struct crew_job *job = &run->crew->job[k];
        job->result.disturbed = job->result.disturbed || (job->result.number > 0 && !job->over);
    }
}
