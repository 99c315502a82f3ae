#include "twin/report/team_live_report.h"

#include <stdio.h>
#include <string.h>

#include "twin/report/team_report.h"
#include "twin/team/step/team_machines.h"

/* A grant that its robot returned is reported as over, like one that was taken away. */
static enum team_live_grant published_grant(const struct team_live_answer *a)
{
    const enum team_live_grant grant = (enum team_live_grant)a->grant;
    return grant == TEAM_LIVE_RELEASED && a->op == TEAM_OP_LOCK ? TEAM_LIVE_REVOKED : grant;
}

static void write_fences(struct json_writer *w, const char *key, const struct team_params *p,
                         const struct team_live_answer *a)
{
    json_write_object(w, key);
    for (size_t k = 0; k < a->count; k++) {
        if (a->fences[k] != 0) {
            json_write_int(w, p->resources[a->resources[k]].name, (int64_t)a->fences[k]);
        }
    }
    json_write_close(w);
}

static void write_behind(struct json_writer *w, const struct team_params *p,
                         const struct team_live_answer *a)
{
    json_write_array(w, "behind");
    for (size_t k = 0; k < a->behind_count && k < TEAM_LIVE_BEHIND; k++) {
        json_write_text(w, NULL, p->robots[a->behind[k]].name);
    }
    json_write_close(w);
}

void team_live_report_response(struct json_writer *w, const struct team_params *p,
                               const struct team_live_answer *a)
{
    const enum team_live_grant grant = published_grant(a);
    json_write_object(w, NULL);
    json_write_text(w, "id", a->id[0] ? a->id : NULL);
    json_write_text(w, "robot", a->robot < p->robot_count ? p->robots[a->robot].name : NULL);
    json_write_seconds(w, "t", a->t_us);
    if (grant == TEAM_LIVE_RELEASED) {
        write_fences(w, "released", p, a);
    } else {
        json_write_text(w, "grant", team_live_grant_name(grant));
    }
    if (grant == TEAM_LIVE_GRANTED || grant == TEAM_LIVE_REVOKED) {
        write_fences(w, "fences", p, a);
    }
    if (grant == TEAM_LIVE_GRANTED) {
        json_write_seconds(w, "lease_expiry",
                           a->lease_until_us == LAB_TIME_MAX ? LAB_TIME_NONE
                                                             : a->lease_until_us);
    } else if (grant == TEAM_LIVE_QUEUED) {
        write_behind(w, p, a);
    }
    if (a->detail[0]) {
        json_write_text(w, "detail", a->detail);
    }
    json_write_close(w);
}

static void write_predicted(struct json_writer *w, bool has_forecast,
                            const struct forecast_range *predicted)
{
    if (json_write_known(w, "predicted", has_forecast)) {
        json_write_seconds(w, "p05_s", predicted->p05_us);
        json_write_seconds(w, "p50_s", predicted->p50_us);
        json_write_seconds(w, "p95_s", predicted->p95_us);
        json_write_close(w);
    }
}

/* Writes the job and its robot. */
static void write_job(struct json_writer *w, const struct team_params *p,
                      const struct team_live_job *job)
{
    json_write_text(w, "job", job->job.id[0] ? job->job.id : NULL);
    json_write_text(w, "robot", p->robots[job->robot].name);
    json_write_text(w, "part", team_name(p, job->job.part));
    json_write_text(w, "seq", p->sequences[job->job.sequence].name);
}

void team_live_report_result(struct json_writer *w, const char *key,
                             const struct team_params *p, const struct team_live_result *result,
                             const struct team_live_job *job)
{
    const bool over = !job || job->over;
    if (json_write_known(w, key, result->number > 0)) {
        const int inside = over ? team_live_result_inside(result) : -1;
        json_write_int(w, "number", (int64_t)result->number);
        if (job) {
            write_job(w, p, job);
        }
        json_write_seconds(w, "t", result->began_us);
        json_write_int(w, "activities", result->activities);
        json_write_seconds(w, "makespan_real_s", over ? result->real_us : LAB_TIME_NONE);
        json_write_seconds(w, "makespan_virtual_s", result->virtual_us);
        write_predicted(w, result->has_forecast, &result->predicted);
        if (inside >= 0) {
            json_write_bool(w, "inside", inside == 1);
        } else {
            json_write_null(w, "inside");
        }
        json_write_bool(w, "disturbed", result->disturbed);
        json_write_close(w);
    }
}

/* Writes the running course and its jobs. */
static void write_run(struct json_writer *w, const struct team_live *live,
                      const struct team_params *p)
{
    const struct team_live_course *c = &live->course;
    if (!json_write_known(w, "run", c->open)) {
        return;
    }
    json_write_seconds(w, "t", c->began_us);
    json_write_int(w, "activities", c->activities);
    write_predicted(w, c->has_forecast, &c->predicted);
    if (!c->has_forecast && live->forecast.detail[0]) {
        json_write_text(w, "detail", live->forecast.detail);
    }
    json_write_bool(w, "disturbed",
                    c->disturbed || (c->has_forecast && c->jobs > c->jobs_known));
    json_write_array(w, "jobs");
    for (uint16_t i = 0; i < p->robot_count; i++) {
        const struct team_live_job *job =
            team_live_find_job(live, team_live_robot(live, p, i)->doing);
        if (job) {
            team_live_report_result(w, NULL, p, &job->result, job);
        }
    }
    json_write_close(w);
    json_write_close(w);
}

/* ---- jobs ---- */

/* Writes the contents of a job. */
static void write_order(struct json_writer *w, const struct team_params *p,
                        const struct team_job *job)
{
    json_write_text(w, "job", job->id[0] ? job->id : NULL);
    json_write_text(w, "part", team_name(p, job->part));
    json_write_text(w, "seq", p->sequences[job->sequence].name);
    json_write_text(w, "home", job->home == TEAM_NONE ? NULL : p->robots[job->home].name);
}

void team_live_report_jobs(struct json_writer *w, const struct team_live *live,
                           const struct team_params *p)
{
    const struct team *team = team_live_team(live, p);
    json_write_array(w, "waiting");
    for (size_t i = 0; i < team_jobs_waiting(team); i++) {
        json_write_object(w, NULL);
        write_order(w, p, team_job_waiting(team, i));
        json_write_close(w);
    }
    json_write_close(w);
    json_write_array(w, "jobs");
    for (uint64_t n = live->jobs_begun; team_live_find_job(live, n); n--) {
        const struct team_live_job *job = team_live_find_job(live, n);
        team_live_report_result(w, NULL, p, &job->result, job);
    }
    json_write_close(w);
}

static bool is_meant(const struct team_live_job *job, const char *id)
{
    char number[24];
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)job->result.number);
    return strcmp(job->job.id[0] ? job->job.id : number, id) == 0;
}

bool team_live_report_job(struct json_writer *w, const struct team_live *live,
                          const struct team_params *p, const char *id)
{
    const struct team *team = team_live_team(live, p);
    for (uint64_t n = live->jobs_begun; team_live_find_job(live, n); n--) {
        const struct team_live_job *job = team_live_find_job(live, n);
        if (is_meant(job, id)) {
            json_write_object(w, NULL);
            json_write_text(w, "state", job->over ? "done" : "working");
            json_write_int(w, "behind", 0);
            write_order(w, p, &job->job);
            team_live_report_result(w, "result", p, &job->result, job);
            json_write_close(w);
            return true;
        }
    }
    for (size_t i = 0; i < team_jobs_waiting(team); i++) {
        if (strcmp(team_job_waiting(team, i)->id, id) == 0) {
            json_write_object(w, NULL);
            json_write_text(w, "state", "waiting");
            json_write_int(w, "behind", (int64_t)i);
            write_order(w, p, team_job_waiting(team, i));
            json_write_null(w, "result");
            json_write_close(w);
            return true;
        }
    }
    return false;
}

/* ---- machines ---- */

void team_live_report_machines(struct json_writer *w, const struct team_live *live,
                               const struct team_params *p)
{
    const struct team *team = team_live_team(live, p);
    json_write_object(w, "robots");
    for (uint16_t i = 0; i < p->robot_count; i++) {
        struct team_robot_view view;
        team_robot(team, i, &view);
        json_write_object(w, p->robots[i].name);
        json_write_text(w, "task", team_task_table.states[view.task].name);
        json_write_text(w, "robot", team_robot_table.states[view.phase].name);
        json_write_text(w, "activity", team_activity_table.states[view.activity].name);
        json_write_close(w);
    }
    json_write_close(w);
    json_write_object(w, "resources");
    for (uint16_t i = 0; i < p->resource_count; i++) {
        struct team_resource_view view;
        team_resource(team, i, &view);
        json_write_array(w, p->resources[i].name);
        for (uint32_t k = 0; k < p->resources[i].capacity; k++) {
            json_write_text(w, NULL, team_resource_table.states[view.unit[k]].name);
        }
        json_write_close(w);
    }
    json_write_close(w);
}

/* ---- state ---- */

void team_live_report_state(struct json_writer *w, const char *key,
                            const struct team_live *live, const struct team_params *p)
{
    json_write_object(w, key);
    team_report_resources(w, p, team_live_team(live, p));
    team_report_robots(w, p, team_live_team(live, p));
    write_run(w, live, p);
    json_write_close(w);
}

static void write_judged(struct json_writer *w, const char *key,
                         const struct team_live_judged *judged)
{
    json_write_object(w, key);
    json_write_int(w, "predicted", (int64_t)judged->predicted);
    json_write_int(w, "inside", (int64_t)judged->inside);
    json_write_close(w);
}

void team_live_report_summary(struct json_writer *w, const struct team_live *live,
                              const struct team_params *p)
{
    const struct team *team = team_live_team(live, p);
    json_write_text(w, "id", p->name);
    json_write_text(w, "locking", team_locking_name(p->locking));
    json_write_int(w, "robots", (int64_t)p->robot_count);
    json_write_int(w, "resources", (int64_t)p->resource_count);
    json_write_bool(w, "finished", team_finished(team));
    json_write_int(w, "fence", (int64_t)team_fence(team));
    json_write_int(w, "jobs_waiting", (int64_t)team_jobs_waiting(team));
    json_write_int(w, "alarms", (int64_t)live->counts.alarms);
}

static void write_counts(struct json_writer *w, const struct team_live_counts *c)
{
    static const struct json_member members[] = {
        JSON_MEMBER(struct team_live_counts, requests),
        JSON_MEMBER(struct team_live_counts, repeated),
        JSON_MEMBER(struct team_live_counts, rejected),
        JSON_MEMBER(struct team_live_counts, malformed),
        JSON_MEMBER(struct team_live_counts, activities),
        JSON_MEMBER(struct team_live_counts, commands),
        JSON_MEMBER(struct team_live_counts, halts),
        JSON_MEMBER(struct team_live_counts, effects),
    };
    json_write_object(w, "counts");
    json_write_members(w, members, COUNT(members), c);
    json_write_close(w);
}

void team_live_report(struct json_writer *w, const char *key, const struct team_live *live,
                      const struct team_params *p, int64_t t_us)
{
    json_write_object(w, key);
    team_live_report_summary(w, live, p);
    json_write_seconds(w, "t", t_us);
    json_write_object(w, "pairs");
    for (size_t i = 0; i < p->robot_count; i++) {
        json_write_text(w, p->robots[i].name, p->robots[i].pair[0] ? p->robots[i].pair : NULL);
    }
    json_write_close(w);
    write_counts(w, &live->counts);
    team_live_report_result(w, "last_run", p, &live->result, NULL);
    json_write_object(w, "judged");
    write_judged(w, "runs", &live->judged_courses);
    write_judged(w, "jobs", &live->judged_jobs);
    json_write_close(w);
    json_write_counts(w, "effect_counts", &team_effect_names, live->counts.effect);
    json_write_counts(w, "alarm_counts", &team_alarm_names, live->counts.alarm);
    team_live_report_state(w, "state", live, p);
    json_write_close(w);
}
