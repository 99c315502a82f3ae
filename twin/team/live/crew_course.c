/* What the team does from when somebody begins until nobody is at work: how long it took, and
 * how long it would have taken with the times of the twins, the same team run again by them:
 * what the locks would have done, had the robots been their twins. */
#include "twin/team/live/crew_parts.h"
#include "twin/team/step/team_simulate.h"

size_t crew_scratch_bytes(const struct team_params *teams, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = crew_align(team_simulator_bytes(&teams[i]));
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void begin_course(struct crew *crew, int64_t t_us)
{
    struct crew_course *c = &crew->course;
    if (!c->open) {
        /* Activities of before whose entries are yet to come are none of its own. */
        const uint32_t owed = c->owed;
        memset(c, 0, sizeof *c);
        c->owed = owed;
        c->open = true;
        c->began_us = c->ended_us = t_us;
        c->first_job = crew->jobs_begun + 1;
        crew->forecast.due = true;
    }
}

static void add_job(struct crew *crew, const struct team_effect *effect)
{
    struct crew_course *c = &crew->course;
    begin_course(crew, effect->t_us);
    if (c->jobs < CREW_JOBS) {
        c->job[c->jobs].t_us = effect->t_us;
        c->job[c->jobs].job = *effect->job;
    }
    c->jobs++;
}

static void add_activity(struct crew *crew, const struct team_effect *effect)
{
    struct crew_course *c = &crew->course;
    begin_course(crew, effect->t_us);
    c->activities++;
    if (c->laps < CREW_LAPS) {
        c->lap[c->laps++] = (struct crew_lap){.n = effect->n,
                                              .robot = effect->robot,
                                              .task = effect->step->task,
                                              .arg = effect->step->arg};
    }
}

void crew_course_effect(const struct crew_run *run, const struct team_effect *effect)
{
    struct crew_course *c = &run->crew->course;
    const bool given = effect->kind == TEAM_FREED && strcmp(effect->why, "unlock") == 0;
    switch (effect->kind) {
    case TEAM_START:
        add_activity(run->crew, effect);
        break;
    case TEAM_JOB:
        add_job(run->crew, effect);
        break;
    case TEAM_DONE:
    case TEAM_FINISH:
        begin_course(run->crew, effect->t_us);
        c->ended_us = effect->t_us;
        break;
    case TEAM_ASSIGN:
        begin_course(run->crew, effect->t_us);
        break;
    case TEAM_ERROR:
    case TEAM_HALT:
    case TEAM_EXPIRE:
    case TEAM_ONLINE:
    case TEAM_OFFLINE:
    case TEAM_RESET:
    case TEAM_REJECT:
    case TEAM_ALARM:
    case TEAM_FREED:
        if (!given) {
            c->disturbed = true;
            crew_jobs_disturbed(run);
        }
        break;
    case TEAM_NOTHING:
    case TEAM_GRANT:
    case TEAM_WAIT:
    case TEAM_MEET:
    case TEAM_TOGETHER:
    case TEAM_EFFECT_COUNT:
        break;
    }
}

void crew_course_entry(const struct crew_run *run, uint16_t robot, uint32_t n,
                       const struct entry *entry)
{
    struct crew_course *c = &run->crew->course;
    c->owed -= c->owed > 0;
    for (uint32_t k = c->laps; k > 0; k--) {
        struct crew_lap *lap = &c->lap[k - 1];
        if (lap->robot == robot && lap->n == n) {
            if (entry->lap_us[SIDE_VIRTUAL] == LAB_TIME_NONE) {
                lap->unknown = true;
            } else {
                lap->virtual_us += entry->lap_us[SIDE_VIRTUAL];
            }
            return;
        }
    }
}

/* ---- again, with the twins' times ---- */

struct again {
    struct crew *crew;
    struct crew_course *course;
};

/* The next lap of this robot for this task; each is asked for once. */
static bool ask_lap(void *context, const struct team_effect *start, struct team_lap *out)
{
    const struct again *a = context;
    for (uint32_t k = 0; k < a->course->laps; k++) {
        struct crew_lap *lap = &a->course->lap[k];
        if (lap->n != 0 && lap->robot == start->robot && lap->task == start->step->task &&
            lap->arg == start->step->arg) {
            lap->n = 0;
            *out = (struct team_lap){.answers = true, .lap_us = lap->virtual_us};
            return !lap->unknown;
        }
    }
    return false;
}

static bool is_same(const struct team_job *a, const struct team_job *b)
{
    return strcmp(a->id, b->id) == 0 && a->part == b->part && a->sequence == b->sequence &&
           a->home == b->home;
}

/* Of jobs that are alike, the first one first. */
static void begin_again(const struct again *a, const struct team_effect *effect)
{
    for (uint64_t n = a->course->first_job; n <= a->crew->jobs_begun; n++) {
        struct crew_job *job = &a->crew->job[n % CREW_PAST];
        if (job->result.number == n && job->again_by == TEAM_NONE &&
            job->result.virtual_us == LAB_TIME_NONE && is_same(&job->job, effect->job)) {
            job->again_by = effect->robot;
            job->again_us = effect->t_us;
            return;
        }
    }
}

static void end_again(const struct again *a, const struct team_effect *effect)
{
    for (size_t k = 0; k < CREW_PAST; k++) {
        struct crew_job *job = &a->crew->job[k];
        if (job->result.number >= a->course->first_job && job->again_by == effect->robot) {
            job->again_by = TEAM_NONE;
            job->result.virtual_us = effect->t_us - job->again_us;
        }
    }
}

static void hear_again(void *context, const struct team_effect *effect)
{
    const struct again *a = context;
    if (effect->kind == TEAM_ASSIGN) {
        begin_again(a, effect);
    } else if (effect->kind == TEAM_FINISH) {
        end_again(a, effect);
    }
}

/* The jobs of the course, whose times with the twins are known now; whole: they are. */
static void tell_jobs(const struct crew_run *run, bool whole)
{
    struct crew *crew = run->crew;
    const uint64_t oldest = crew->jobs_begun < CREW_PAST ? 1 : crew->jobs_begun - CREW_PAST + 1;
    uint64_t n = crew->course.first_job > oldest ? crew->course.first_job : oldest;
    for (; n <= crew->jobs_begun; n++) {
        struct crew_job *job = &crew->job[n % CREW_PAST];
        job->again_by = TEAM_NONE;
        job->result.virtual_us = whole ? job->result.virtual_us : LAB_TIME_NONE;
        if (job->result.virtual_us != LAB_TIME_NONE) {
            crew_tell_result(run, &job->result, job, NULL);
        }
    }
}

/* Buffers and the file's own jobs are those of the beginning in the first course only. */
static bool can_run_again(const struct crew_run *run)
{
    const struct crew_course *c = &run->crew->course;
    const bool first = run->crew->result.number == 0;
    return run->scratch && !c->disturbed && c->activities == c->laps && c->jobs <= CREW_JOBS &&
           (first || (run->p->buffer_count == 0 && run->p->job_count == 0));
}

static int64_t run_again(const struct crew_run *run)
{
    struct crew_course *c = &run->crew->course;
    struct team_happening script[CREW_JOBS];
    struct again again = {run->crew, c};
    struct team_run result;
    if (!can_run_again(run)) {
        return LAB_TIME_NONE;
    }
    for (uint32_t k = 0; k < c->jobs; k++) {
        script[k] = (struct team_happening){
            .t_us = c->job[k].t_us - c->began_us,
            .event = {.kind = TEAM_EVENT_JOB, .robot = TEAM_NONE, .job = c->job[k].job}};
    }
    const struct team_scenario scenario = {.params = run->p,
                                           .ask = ask_lap,
                                           .context = &again,
                                           .script = script,
                                           .script_count = c->jobs,
                                           .horizon_us = LAB_TIME_MAX};
    const struct team_effects listener = {hear_again, &again};
    struct team_simulator *s = team_simulator_init(run->scratch, run->p);
    team_simulate(s, &scenario, &listener, &result);
    return result.end == TEAM_RUN_FINISHED ? result.makespan_us : LAB_TIME_NONE;
}

void crew_course_end(const struct crew_run *run)
{
    struct crew *crew = run->crew;
    struct crew_course *c = &crew->course;
    if (!c->open || c->owed > 0 || !team_finished(crew_core(crew, run->p))) {
        return;
    }
    const int64_t virtual_us = run_again(run);
    const bool late_jobs = c->foretold && c->jobs > c->jobs_known;
    crew->result = (struct crew_result){.number = crew->result.number + 1,
                                        .began_us = c->began_us,
                                        .real_us = c->ended_us - c->began_us,
                                        .virtual_us = virtual_us,
                                        .activities = c->activities,
                                        .disturbed = c->disturbed || late_jobs,
                                        .foretold = c->foretold,
                                        .predicted = c->predicted};
    c->open = false;
    crew->forecast.bar_count = 0;
    crew->forecast.due = false;
    crew->version++;
    crew_tell_result(run, &crew->result, NULL, &crew->judged_courses);
    tell_jobs(run, virtual_us != LAB_TIME_NONE);
}
