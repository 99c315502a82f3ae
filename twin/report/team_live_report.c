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
    JSON_MAP(w, key, size_t k = 0; k < a->count; k++) {
        if (a->fences[k] != 0) {
            json_write_int(w, p->resources[a->resources[k]].name, (int64_t)a->fences[k]);
        }
    }
}

static void write_behind(struct json_writer *w, const struct team_params *p,
                         const struct team_live_answer *a)
{
    JSON_LIST(w, "behind", size_t k = 0; k < a->behind_count && k < TEAM_LIVE_BEHIND; k++) {
        json_write_text(w, NULL, p->robots[a->behind[k]].name);
    }
}

void team_live_report_response(struct json_writer *w, const struct team_params *p,
                               const struct team_live_answer *a)
{
    const enum team_live_grant grant = published_grant(a);
    const int64_t lease_us =
        a->lease_until_us == LAB_TIME_MAX ? LAB_TIME_NONE : a->lease_until_us;
    JSON_OPEN(w, NULL, JSON("id", a->id[0] ? a->id : NULL),
              JSON("robot", a->robot < p->robot_count ? p->robots[a->robot].name : NULL),
              JSON_SECONDS("t", a->t_us),
              JSON_IF(grant != TEAM_LIVE_RELEASED, JSON("grant", team_live_grant_name(grant))));
    if (grant == TEAM_LIVE_RELEASED) {
        write_fences(w, "released", p, a);
    } else if (grant == TEAM_LIVE_GRANTED || grant == TEAM_LIVE_REVOKED) {
        write_fences(w, "fences", p, a);
    } else if (grant == TEAM_LIVE_QUEUED) {
        write_behind(w, p, a);
    }
    JSON_WRITE(w, JSON_IF(grant == TEAM_LIVE_GRANTED, JSON_SECONDS("lease_expiry", lease_us)),
               JSON_OPTIONAL("detail", a->detail));
    json_write_close(w);
}

/* Returns LAB_TIME_NONE for a guess, which has no interval. */
static int64_t find_limit(const struct forecast_range *range, int64_t limit_us)
{
    return forecast_has_interval(range) ? limit_us : LAB_TIME_NONE;
}

/* PREDICTED() is a row; what: a course or a result. */
#define PREDICTED(what)                                                                        \
    JSON_KNOWN(                                                                                \
        "predicted", (what)->has_forecast,                                                     \
        JSON_SECONDS("p05_s", find_limit(&(what)->predicted, (what)->predicted.p05_us)),       \
        JSON_SECONDS("p50_s", (what)->predicted.p50_us),                                       \
        JSON_SECONDS("p95_s", find_limit(&(what)->predicted, (what)->predicted.p95_us)),       \
        JSON_IF((what)->late_us > 0, JSON_SECONDS("after_s", (what)->late_us)))

void team_live_report_result(struct json_writer *w, const char *key,
                             const struct team_params *p, const struct team_live_result *result,
                             const struct team_live_job *job)
{
    const bool over = !job || job->over;
    JSON_BLOCK(w, key, result->number > 0) {
        const int inside = over ? team_live_result_inside(result) : -1;
        JSON_WRITE(w, JSON("number", result->number),
                   JSON_IF(job, JSON_GROUP(JSON("job", job->job.id[0] ? job->job.id : NULL),
                                           JSON("robot", p->robots[job->robot].name),
                                           JSON("part", team_name(p, job->job.part)),
                                           JSON("seq", p->sequences[job->job.sequence].name))),
                   JSON_SECONDS("t", result->began_us), JSON("activities", result->activities),
                   JSON_SECONDS("makespan_real_s", over ? result->real_us : LAB_TIME_NONE),
                   JSON_SECONDS("makespan_virtual_s", result->virtual_us), PREDICTED(result),
                   inside >= 0 ? JSON_BOOL("inside", inside == 1) : JSON_NULL("inside"),
                   JSON("disturbed", result->disturbed));
    }
}

/* Writes the running course and its jobs. */
static void write_run(struct json_writer *w, const struct team_live *live,
                      const struct team_params *p)
{
    const struct team_live_course *c = &live->course;
    JSON_BLOCK(w, "run", c->open) {
        JSON_WRITE(w, JSON_SECONDS("t", c->began_us), JSON("activities", c->activities),
                   PREDICTED(c),
                   JSON_IF(!c->has_forecast && live->forecast.detail[0],
                           JSON("detail", live->forecast.detail)),
                   JSON_BOOL("disturbed",
                             c->disturbed || (c->has_forecast && c->jobs > c->jobs_known)));
        JSON_LIST(w, "jobs", uint16_t i = 0; i < p->robot_count; i++) {
            const struct team_live_job *job =
                team_live_find_job(live, team_live_robot(live, p, i)->doing);
            if (job) {
                team_live_report_result(w, NULL, p, &job->result, job);
            }
        }
    }
}

/* ---- jobs ---- */

/* ORDER() gives the rows of a job's contents. */
#define ORDER(p, job)                                                                          \
    JSON("job", (job)->id[0] ? (job)->id : NULL), JSON("part", team_name(p, (job)->part)),     \
        JSON("seq", (p)->sequences[(job)->sequence].name),                                     \
        JSON("home", (job)->home == TEAM_NONE ? NULL : (p)->robots[(job)->home].name)

void team_live_report_jobs(struct json_writer *w, const struct team_live *live,
                           const struct team_params *p)
{
    const struct team *team = team_live_team(live, p);
    JSON_LIST(w, "waiting", size_t i = 0; i < team_jobs_waiting(team); i++) {
        JSON_WRITE_OBJECT(w, NULL, ORDER(p, team_job_waiting(team, i)));
    }
    JSON_LIST(w, "jobs", uint64_t n = live->jobs_begun; team_live_find_job(live, n); n--) {
        const struct team_live_job *job = team_live_find_job(live, n);
        team_live_report_result(w, NULL, p, &job->result, job);
    }
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
            JSON_OPEN(w, NULL, JSON("state", job->over ? "done" : "working"),
                      JSON_WHOLE("behind", 0), ORDER(p, &job->job));
            team_live_report_result(w, "result", p, &job->result, job);
            json_write_close(w);
            return true;
        }
    }
    for (size_t i = 0; i < team_jobs_waiting(team); i++) {
        if (strcmp(team_job_waiting(team, i)->id, id) == 0) {
            JSON_WRITE_OBJECT(w, NULL, JSON("state", "waiting"), JSON("behind", i),
                              ORDER(p, team_job_waiting(team, i)), JSON_NULL("result"));
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
    JSON_MAP(w, "robots", uint16_t i = 0; i < p->robot_count; i++) {
        struct team_robot_view view;
        team_robot(team, i, &view);
        JSON_WRITE_OBJECT(w, p->robots[i].name,
                          JSON("task", team_task_table.states[view.task].name),
                          JSON("robot", team_robot_table.states[view.phase].name),
                          JSON("activity", team_activity_table.states[view.activity].name));
    }
    JSON_MAP(w, "resources", uint16_t i = 0; i < p->resource_count; i++) {
        struct team_resource_view view;
        team_resource(team, i, &view);
        JSON_LIST(w, p->resources[i].name, uint32_t k = 0; k < p->resources[i].capacity; k++) {
            json_write_text(w, NULL, team_resource_table.states[view.unit[k]].name);
        }
    }
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

void team_live_report_summary(struct json_writer *w, const struct team_live *live,
                              const struct team_params *p)
{
    const struct team *team = team_live_team(live, p);
    JSON_WRITE(w, JSON("id", p->name), JSON("locking", team_locking_name(p->locking)),
               JSON("robots", p->robot_count), JSON("resources", p->resource_count),
               JSON("finished", team_finished(team)), JSON("fence", team_fence(team)),
               JSON("jobs_waiting", team_jobs_waiting(team)),
               JSON("alarms", live->counts.alarms));
}

void team_live_report(struct json_writer *w, const char *key, const struct team_live *live,
                      const struct team_params *p, int64_t t_us)
{
    json_write_object(w, key);
    team_live_report_summary(w, live, p);
    json_write_seconds(w, "t", t_us);
    JSON_MAP(w, "pairs", size_t i = 0; i < p->robot_count; i++) {
        json_write_text(w, p->robots[i].name, p->robots[i].pair[0] ? p->robots[i].pair : NULL);
    }
    JSON_WRITE(w, JSON("planned", p->planned_count));
    JSON_WRITE_OBJECT(w, "counts",
                      JSON_OF(&live->counts, requests, repeated, rejected, malformed,
                              activities, commands, halts, effects));
    team_live_report_result(w, "last_run", p, &live->result, NULL);
    JSON_WRITE(
        w,
        JSON_OBJECT("judged",
                    JSON_OBJECT("runs", JSON_OF(&live->judged_courses, predicted, inside)),
                    JSON_OBJECT("jobs", JSON_OF(&live->judged_jobs, predicted, inside))),
        JSON_COUNTS("effect_counts", &team_effect_names, live->counts.effect),
        JSON_COUNTS("alarm_counts", &team_alarm_names, live->counts.alarm));
    team_live_report_state(w, "state", live, p);
    json_write_close(w);
}
