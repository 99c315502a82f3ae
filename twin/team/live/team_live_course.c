/* twin/team/live/team_live_course.c - jobs from assignment to completion, and courses: from the
 * first activity of an idle team until it is idle again.
 *
 * It measures how long a course took, and how long it would have taken with the times of the
 * twins: the same team is run again with them. So the effect of locks is included.
 */
#include "twin/team/live/team_live_parts.h"
#include "twin/team/step/team_simulate.h"

size_t team_live_scratch_bytes(const struct team_params *teams, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = team_live_align(team_simulator_bytes(&teams[i]));
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* ---- jobs ---- */

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

static void emit_result(const struct team_live_run *run, const struct team_live_result *result,
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
        emit_result(run, &job->result, job, &run->live->judged_jobs);
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

static void disturb_jobs(const struct team_live_run *run)
{
    for (size_t k = 0; k < TEAM_LIVE_PAST; k++) {
        struct team_live_job *job = &run->live->job[k];
        job->result.disturbed = job->result.disturbed || (job->result.number > 0 && !job->over);
    }
}

/* ---- courses ---- */

static void begin_course(struct team_live *live, int64_t t_us)
{
    struct team_live_course *c = &live->course;
    if (!c->open) {
        /* Entries still to come of earlier activities do not belong to the new course. */
        const uint32_t owed = c->owed;
        memset(c, 0, sizeof *c);
        c->owed = owed;
        c->open = true;
        c->began_us = c->ended_us = t_us;
        c->first_job = live->jobs_begun + 1;
        live->forecast.due = true;
    }
}

static void add_job(struct team_live *live, const struct team_effect *effect)
{
    struct team_live_course *c = &live->course;
    begin_course(live, effect->t_us);
    if (c->jobs < TEAM_LIVE_JOBS) {
        c->job[c->jobs].t_us = effect->t_us;
        c->job[c->jobs].job = *effect->job;
    }
    c->jobs++;
}

static void add_activity(struct team_live *live, const struct team_effect *effect)
{
    struct team_live_course *c = &live->course;
    begin_course(live, effect->t_us);
    c->activities++;
    if (c->laps < TEAM_LIVE_LAPS) {
        c->lap[c->laps++] = (struct team_live_lap){.n = effect->n,
                                                   .robot = effect->robot,
                                                   .task = effect->step->task,
                                                   .arg = effect->step->arg};
    }
}

void team_live_update_course(const struct team_live_run *run, const struct team_effect *effect)
{
    struct team_live_course *c = &run->live->course;
    const enum team_effect_kind kind = effect->kind;
    const bool given = kind == TEAM_FREED && strcmp(effect->why, "unlock") == 0;
    if (kind == TEAM_START) {
        add_activity(run->live, effect);
    } else if (kind == TEAM_JOB) {
        add_job(run->live, effect);
    } else if (kind == TEAM_DONE || kind == TEAM_FINISH || kind == TEAM_ASSIGN) {
        begin_course(run->live, effect->t_us);
        c->ended_us = kind == TEAM_ASSIGN ? c->ended_us : effect->t_us;
    } else if (!given && kind != TEAM_NOTHING && kind != TEAM_GRANT && kind != TEAM_WAIT &&
               kind != TEAM_MEET && kind != TEAM_TOGETHER) {
        c->disturbed = true;
        disturb_jobs(run);
    }
}

void team_live_add_entry(const struct team_live_run *run, uint16_t robot, uint32_t n,
                         const struct entry *entry)
{
    struct team_live_course *c = &run->live->course;
    c->owed -= c->owed > 0;
    for (uint32_t k = c->laps; k > 0; k--) {
        struct team_live_lap *lap = &c->lap[k - 1];
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

/* ---- repetition with the twins' times ---- */

/* Gives the next lap of this robot for this task; each lap is used once. */
static bool ask_lap(void *context, const struct team_effect *start, struct team_lap *out)
{
    struct team_live_course *c = context;
    for (uint32_t k = 0; k < c->laps; k++) {
        struct team_live_lap *lap = &c->lap[k];
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

/* Among equal jobs the first one is used first. */
static void begin_again(struct team_live *live, const struct team_effect *effect)
{
    for (uint64_t n = live->course.first_job; n <= live->jobs_begun; n++) {
        struct team_live_job *job = &live->job[n % TEAM_LIVE_PAST];
        if (job->result.number == n && job->again_by == TEAM_NONE &&
            job->result.virtual_us == LAB_TIME_NONE && is_same(&job->job, effect->job)) {
            job->again_by = effect->robot;
            job->again_us = effect->t_us;
            return;
        }
    }
}

static void end_again(struct team_live *live, const struct team_effect *effect)
{
    for (size_t k = 0; k < TEAM_LIVE_PAST; k++) {
        struct team_live_job *job = &live->job[k];
        if (job->result.number >= live->course.first_job && job->again_by == effect->robot) {
            job->again_by = TEAM_NONE;
            job->result.virtual_us = effect->t_us - job->again_us;
        }
    }
}

static void observe_rerun(void *context, const struct team_effect *effect)
{
    if (effect->kind == TEAM_ASSIGN) {
        begin_again(context, effect);
    } else if (effect->kind == TEAM_FINISH) {
        end_again(context, effect);
    }
}

/* Emits the jobs of the course, whose times with the twins are now known if whole. */
static void emit_job_results(const struct team_live_run *run, bool whole)
{
    struct team_live *live = run->live;
    const uint64_t oldest =
        live->jobs_begun < TEAM_LIVE_PAST ? 1 : live->jobs_begun - TEAM_LIVE_PAST + 1;
    uint64_t n = live->course.first_job > oldest ? live->course.first_job : oldest;
    for (; n <= live->jobs_begun; n++) {
        struct team_live_job *job = &live->job[n % TEAM_LIVE_PAST];
        job->again_by = TEAM_NONE;
        job->result.virtual_us = whole ? job->result.virtual_us : LAB_TIME_NONE;
        if (job->result.virtual_us != LAB_TIME_NONE) {
            emit_result(run, &job->result, job, NULL);
        }
    }
}

/* Buffers and jobs of the file have their initial state only in the first course. */
static bool can_run_again(const struct team_live_run *run)
{
    const struct team_live_course *c = &run->live->course;
    const bool first = run->live->result.number == 0;
    return run->scratch && !c->disturbed && c->activities == c->laps &&
           c->jobs <= TEAM_LIVE_JOBS &&
           (first || (run->p->buffer_count == 0 && run->p->job_count == 0));
}

static int64_t run_again(const struct team_live_run *run)
{
    struct team_live_course *c = &run->live->course;
    struct team_happening script[TEAM_LIVE_JOBS];
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
                                           .context = c,
                                           .script = script,
                                           .script_count = c->jobs,
                                           .horizon_us = LAB_TIME_MAX};
    const struct team_effects listener = {observe_rerun, run->live};
    struct team_simulator *s = team_simulator_init(run->scratch, run->p);
    team_simulate(s, &scenario, &listener, &result);
    return result.end == TEAM_RUN_FINISHED ? result.makespan_us : LAB_TIME_NONE;
}

void team_live_end_course(const struct team_live_run *run)
{
    struct team_live *live = run->live;
    struct team_live_course *c = &live->course;
    if (!c->open || c->owed > 0 || !team_finished(team_live_core(live, run->p))) {
        return;
    }
    const int64_t virtual_us = run_again(run);
    const bool late_jobs = c->has_forecast && c->jobs > c->jobs_known;
    live->result = (struct team_live_result){.number = live->result.number + 1,
                                             .began_us = c->began_us,
                                             .real_us = c->ended_us - c->began_us,
                                             .virtual_us = virtual_us,
                                             .activities = c->activities,
                                             .disturbed = c->disturbed || late_jobs,
                                             .has_forecast = c->has_forecast,
                                             .predicted = c->predicted,
                                             .late_us = c->late_us};
    c->open = false;
    live->forecast.bar_count = 0;
    live->forecast.due = false;
    live->version++;
    emit_result(run, &live->result, NULL, &live->judged_courses);
    emit_job_results(run, virtual_us != LAB_TIME_NONE);
}
