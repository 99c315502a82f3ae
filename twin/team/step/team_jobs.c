/* twin/team/step/team_jobs.c - assigns jobs to the first idle robot that can do them: jobs of
 * its own home first, then the oldest job of a home with too many.
 */
#include <string.h>

#include "twin/team/step/team_parts.h"

void team_update_idle(const struct team_work *w, uint16_t robot)
{
    const struct team_member *m = &w->members[robot];
    const bool idle = m->phase == TEAM_PHASE_PARKED && m->online && m->client_count == 0;
    if (idle != team_set_has(&w->team->idle, robot)) {
        team_set_assign(&w->team->idle, robot, idle);
        w->team->jobs_due |= idle;
    }
}

static void emit_job(const struct team_work *w, struct team_effect e,
                     const struct team_job *job)
{
    e.part = job->part;
    e.job = job;
    team_emit(w, &e);
}

void team_queue_job(const struct team_work *w, const struct team_job *job)
{
    struct team *team = w->team;
    if (team->job_count == team->job_size) {
        emit_job(w, team_alarm_of(w, TEAM_ALARM_JOBS_FULL, TEAM_NONE), job);
        return;
    }
    w->jobs[team->job_count++] = *job;
    if (job->home != TEAM_NONE) {
        w->homes[job->home]++;
    }
    team->jobs_due = true;
    emit_job(w, team_effect_of(w, TEAM_JOB, TEAM_NONE), job);
    for (uint16_t i = 0; i < w->p->robot_count; i++) {
        if (w->members[i].online && team_can_handle(w, i, job->part)) {
            return;
        }
    }
    emit_job(w, team_alarm_of(w, TEAM_ALARM_NOBODY_CAN, TEAM_NONE), job);
}

/* Chooses the job for this robot; job_count: none. */
static uint32_t choose_job(const struct team_work *w, uint16_t robot)
{
    const uint32_t count = w->team->job_count;
    uint32_t other = count;
    for (uint32_t k = 0; k < count; k++) {
        const struct team_job *job = &w->jobs[k];
        const bool helps = job->home != robot && job->home != TEAM_NONE;
        if (!team_can_handle(w, robot, job->part) ||
            (helps && w->homes[job->home] < w->p->help_backlog)) {
            continue;
        }
        if (job->home == robot) {
            return k;
        }
        other = other == count ? k : other;
    }
    return other;
}

static void assign_job(const struct team_work *w, uint16_t robot, uint32_t k)
{
    struct team *team = w->team;
    const struct team_job job = w->jobs[k];
    team->job_count--;
    memmove(&w->jobs[k], &w->jobs[k + 1], (team->job_count - k) * sizeof job);
    if (job.home != TEAM_NONE) {
        w->homes[job.home]--;
    }
    w->members[robot].part = job.part;
    team_begin_sequence(w, robot, job.sequence, 1);
    emit_job(w, team_effect_of(w, TEAM_ASSIGN, robot), &job);
}

void team_hand_out_jobs(const struct team_work *w)
{
    struct team *team = w->team;
    if (!team->jobs_due) {
        return;
    }
    team->jobs_due = false;
    TEAM_EACH(robot, &team->idle)
    {
        if (team->job_count == 0) {
            return;
        }
        const uint32_t k = choose_job(w, robot);
        if (k < team->job_count) {
            assign_job(w, robot, k);
        }
    }
}
