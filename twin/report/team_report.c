#include "twin/report/team_report.h"

#include <stdio.h>

#include "base/errors/status.h"

struct effect_report {
    const struct team_params *p;
    const struct team_effect *e;
    enum team_time time;
};

static const char *robot_name(const struct team_params *p, uint16_t robot)
{
    return robot < p->robot_count ? p->robots[robot].name : NULL;
}

static const char *name_or_null(const struct team_params *p, uint16_t name)
{
    return name == TEAM_NONE ? NULL : team_name(p, name);
}

/* Writes seconds or milliseconds, each under its own name. */
static void write_time(struct json_writer *w, const struct effect_report *t, const char *key_s,
                       const char *key_ms, int64_t us)
{
    if (t->time == TEAM_TIME_S) {
        json_write_seconds(w, key_s, us);
    } else {
        json_write_real(w, key_ms, (double)us / 1000.0);
    }
}

static void write_robots(struct json_writer *w, const struct team_params *p, const char *key,
                         const uint16_t *robots, size_t count)
{
    JSON_LIST(w, key, size_t k = 0; k < count; k++) {
        json_write_text(w, NULL, robot_name(p, robots[k]));
    }
}

static void write_resources(struct json_writer *w, const struct team_params *p, const char *key,
                            const uint16_t *resources, size_t count)
{
    JSON_LIST(w, key, size_t k = 0; k < count; k++) {
        json_write_text(w, NULL, p->resources[resources[k]].name);
    }
}

/* ---- members of effects -------------------------------------------------------------------
 */

typedef void member_writer(struct json_writer *w, const struct effect_report *t);

/* Defines a member_writer of one statement. */
#define MEMBER(name, statement)                                                                \
    static void report_##name(struct json_writer *w, const struct effect_report *t)            \
    {                                                                                          \
        statement;                                                                             \
    }                                                                                          \
    _Static_assert(1, "ask for a semicolon")

MEMBER(robot, JSON_WRITE(w, JSON("robot", robot_name(t->p, t->e->robot))));

static void report_task(struct json_writer *w, const struct effect_report *t)
{
    const struct team_step *step = t->e->step;
    const bool named = step && step->task != TEAM_NONE && step->kind != TEAM_STEP_LOCK &&
                       step->kind != TEAM_STEP_UNLOCK && step->kind != TEAM_STEP_TAKE &&
                       step->kind != TEAM_STEP_MEET;
    json_write_text(w, "task",
                    named ? t->p->tasks[step->task].name
                          : team_step_kind_name(step ? step->kind : TEAM_STEP_LOCK));
}

static void report_arg(struct json_writer *w, const struct effect_report *t)
{
    const struct team_step *step = t->e->step;
    if (!step || step->kind == TEAM_STEP_LOCK || step->kind == TEAM_STEP_UNLOCK) {
        write_resources(w, t->p, "arg", t->e->resources, t->e->resource_count);
    } else {
        json_write_text(w, "arg", name_or_null(t->p, step->arg));
    }
}

MEMBER(n, JSON_WRITE(w, JSON("n", t->e->n)));

/* For IdPrt only. */
MEMBER(found, JSON_WRITE(w, JSON_IF(t->e->step && t->e->step->kind == TEAM_STEP_TAKE,
                                    JSON("part", name_or_null(t->p, t->e->part)))));
MEMBER(part, JSON_WRITE(w, JSON("part", name_or_null(t->p, t->e->part))));

static void report_duration(struct json_writer *w, const struct effect_report *t)
{
    if (t->e->timed || t->e->kind == TEAM_ALARM) {
        write_time(w, t, "took_s", "took_ms", t->e->took_us);
    }
}

MEMBER(min, write_time(w, t, "min_s", "min_ms", t->e->min_us));
MEMBER(why, JSON_WRITE(w, JSON("why", t->e->why)));
MEMBER(resource, JSON_WRITE(w, JSON("resource", t->p->resources[t->e->resource].name)));
MEMBER(fence, JSON_WRITE(w, JSON("fence", t->e->fence)));
MEMBER(current, JSON_WRITE(w, t->e->current != 0 ? JSON("current", t->e->current)
                                                 : JSON_NULL("current")));
MEMBER(waited, write_time(w, t, "waited_s", "waited_ms", t->e->waited_us));

static void report_waits(struct json_writer *w, const struct effect_report *t)
{
    JSON_LIST(w, t->time == TEAM_TIME_S ? "waited_s" : "waited_ms", size_t k = 0;
              k < t->e->robot_count; k++) {
        write_time(w, t, NULL, NULL, t->e->waits_us[k]);
    }
}

MEMBER(resources, write_resources(w, t->p, "resources", t->e->resources, t->e->resource_count));
MEMBER(had, write_resources(w, t->p, "holds", t->e->resources, t->e->resource_count));
MEMBER(held, write_resources(w, t->p, "holds", t->e->held, t->e->held_count));
MEMBER(behind, write_robots(w, t->p, "behind", t->e->robots, t->e->robot_count));
MEMBER(name, JSON_WRITE(w, JSON("name", name_or_null(t->p, t->e->meeting))));
MEMBER(robots, write_robots(w, t->p, "robots", t->e->robots, t->e->robot_count));

static void report_because(struct json_writer *w, const struct effect_report *t)
{
    const char *robot = robot_name(t->p, t->e->because);
    json_write_text(w, "because", robot ? robot : "lease");
}

MEMBER(job, team_report_job(w, "job", t->p, t->e->job));

static void report_helps(struct json_writer *w, const struct effect_report *t)
{
    const uint16_t home = t->e->job->home;
    JSON_WRITE(w, JSON("helps", home == t->e->robot ? NULL : robot_name(t->p, home)),
               JSON_OPTIONAL("job", t->e->job->id));
}

MEMBER(policy, JSON_WRITE(w, JSON("policy", team_policy_name(t->e->policy))));
MEMBER(event, JSON_WRITE(w, JSON("event", team_event_name(t->e->event))));

static void report_owner(struct json_writer *w, const struct effect_report *t)
{
    JSON_MAP(w, "owner", size_t k = 0; k < t->e->resource_count; k++) {
        const struct team_owners *owners = &t->e->owners[k];
        write_robots(w, t->p, t->p->resources[owners->resource].name, owners->robots,
                     owners->count);
    }
}

/* Writes who waits for ever behind a failed robot, or at a meeting that can never be
 * complete. */
static void report_blocked(struct json_writer *w, const struct effect_report *t)
{
    if (t->e->meeting == TEAM_NONE) {
        report_resources(w, t);
        write_robots(w, t->p, "by", t->e->robots, t->e->robot_count);
    } else {
        JSON_WRITE(w, JSON("meeting", name_or_null(t->p, t->e->meeting)),
                   JSON("missing", t->e->count));
    }
}

static void report_cycle(struct json_writer *w, const struct effect_report *t)
{
    JSON_LIST(w, "cycle", size_t k = 0; k < t->e->cycle_count; k++) {
        const struct team_wait *wait = &t->e->cycle[k];
        JSON_OPEN(w, NULL, JSON("robot", robot_name(t->p, wait->robot)));
        write_resources(w, t->p, "holds", wait->held, wait->held_count);
        if (wait->meeting == TEAM_NONE) {
            write_resources(w, t->p, "wants", wait->wants, wait->want_count);
        } else {
            char text[TEAM_NAME_MAX + 8];
            (void)snprintf(text, sizeof text, "meeting %s", team_name(t->p, wait->meeting));
            json_write_texts(w, "wants", text, sizeof text, 1);
        }
        json_write_close(w);
    }
}

enum { MEMBERS_MAX = 6 };

static member_writer *const effect_members[TEAM_EFFECT_COUNT][MEMBERS_MAX] = {
    [TEAM_START] = {report_robot, report_task, report_arg, report_n},
    [TEAM_DONE] = {report_robot, report_task, report_arg, report_found, report_duration},
    [TEAM_ERROR] = {report_robot, report_task, report_why},
    [TEAM_NOTHING] = {report_robot, report_task, report_arg},
    [TEAM_FINISH] = {report_robot},
    [TEAM_GRANT] = {report_robot, report_resource, report_fence, report_waited},
    [TEAM_WAIT] = {report_robot, report_resources, report_behind},
    [TEAM_FREED] = {report_robot, report_resource, report_fence, report_why},
    [TEAM_MEET] = {report_name, report_robots, report_waits},
    [TEAM_TOGETHER] = {report_name, report_robots},
    [TEAM_HALT] = {report_robot, report_because},
    [TEAM_EXPIRE] = {report_robot, report_resource, report_fence},
    [TEAM_ONLINE] = {report_robot},
    [TEAM_OFFLINE] = {report_robot, report_had},
    [TEAM_RESET] = {report_robot},
    [TEAM_JOB] = {report_job},
    [TEAM_ASSIGN] = {report_robot, report_part, report_helps},
    [TEAM_REJECT] = {report_robot, report_resources, report_why},
};

static member_writer *const alarm_members[TEAM_ALARM_COUNT][MEMBERS_MAX] = {
    [TEAM_ALARM_DEADLOCK] = {report_cycle},
    [TEAM_ALARM_BLOCKED] = {report_robot, report_blocked},
    [TEAM_ALARM_LEASE_EXPIRED] = {report_robot, report_resource, report_fence, report_policy},
    [TEAM_ALARM_STALE_FENCE] = {report_robot, report_resource, report_fence, report_current},
    [TEAM_ALARM_STALE_RELEASE] = {report_resource, report_fence},
    [TEAM_ALARM_NOT_OWNER] = {report_robot, report_resources, report_owner},
    [TEAM_ALARM_DOUBLE_LOCK] = {report_robot, report_resources},
    [TEAM_ALARM_ORDER] = {report_robot, report_held, report_resources},
    [TEAM_ALARM_NESTED_LOCK] = {report_robot, report_held, report_resources},
    [TEAM_ALARM_TASK_ERROR] = {report_robot, report_held},
    [TEAM_ALARM_EARLY] = {report_robot, report_duration, report_min},
    [TEAM_ALARM_OUT_OF_CONTEXT] = {report_robot, report_event},
    [TEAM_ALARM_FINISHED_HOLDING] = {report_robot, report_resources},
    [TEAM_ALARM_NOBODY_CAN] = {report_part},
    [TEAM_ALARM_JOBS_FULL] = {report_part},
};

void team_report_effect(struct json_writer *w, const char *key, const struct team_params *p,
                        const struct team_effect *effect, enum team_time time)
{
    const struct effect_report t = {p, effect, time};
    member_writer *const *members = effect_members[effect->kind];
    json_write_object(w, key);
    write_time(w, &t, "t", "t_ms", effect->t_us);
    json_write_text(w, "type", team_effect_name(effect->kind));
    if (effect->kind == TEAM_ALARM) {
        json_write_text(w, "alarm", team_alarm_name(effect->alarm));
        members = alarm_members[effect->alarm];
    }
    for (size_t k = 0; k < MEMBERS_MAX && members[k]; k++) {
        members[k](w, &t);
    }
    if (effect->id[0]) {
        json_write_text(w, "id", effect->id);
    }
    json_write_close(w);
}

/* ---- state
 * -------------------------------------------------------------------------------- */

void team_report_job(struct json_writer *w, const char *key, const struct team_params *p,
                     const struct team_job *job)
{
    JSON_WRITE_OBJECT(
        w, key, JSON_OPTIONAL("id", job->id), JSON("part", name_or_null(p, job->part)),
        JSON("seq", p->sequences[job->sequence].name), JSON("home", robot_name(p, job->home)));
}

static void write_owners(struct json_writer *w, const struct team_params *p,
                         const struct team_resource_view *x)
{
    JSON_LIST(w, "owners", size_t k = 0; k < x->held_count; k++) {
        JSON_WRITE_OBJECT(w, NULL, JSON("robot", robot_name(p, x->held[k].robot)),
                          JSON("fence", x->held[k].fence),
                          JSON_SECONDS("since", x->held[k].since_us));
    }
}

/* Writes owner, fence, since, queue, and owners if it has several units.
 * Absent values are null. */
static void write_resource(struct json_writer *w, const struct team_params *p,
                           const struct team *team, uint16_t resource)
{
    struct team_resource_view x;
    uint16_t queue[TEAM_ROBOTS_MAX];
    team_resource(team, resource, &x);
    const bool held = x.held_count > 0;
    JSON_OPEN(w, p->resources[resource].name,
              JSON("owner", held ? robot_name(p, x.held[0].robot) : NULL),
              held ? JSON("fence", x.held[0].fence) : JSON_NULL("fence"),
              JSON_SECONDS("since", held ? x.held[0].since_us : LAB_TIME_NONE));
    if (p->resources[resource].capacity > 1) {
        write_owners(w, p, &x);
    }
    write_robots(w, p, "queue", queue, team_queue(team, resource, queue, TEAM_ROBOTS_MAX));
    json_write_close(w);
}

/* Writes task, arg, since, state and online. Absent values are null. */
static void write_robot(struct json_writer *w, const struct team_params *p,
                        const struct team *team, uint16_t robot)
{
    struct team_robot_view m;
    team_robot(team, robot, &m);
    const struct team_effect e = {.step = m.step,
                                  .resources =
                                      m.step ? &p->lists[m.step->first_resource] : NULL,
                                  .resource_count = m.step ? m.step->resource_count : 0};
    const struct effect_report t = {p, &e, TEAM_TIME_S};
    json_write_object(w, p->robots[robot].name);
    if (m.step) {
        report_task(w, &t);
        report_arg(w, &t);
    } else {
        JSON_WRITE(w, JSON_NULL("task"), JSON_NULL("arg"));
    }
    JSON_WRITE(w, JSON_SECONDS("since", m.since_us), JSON("state", team_phase_name(m.phase)),
               JSON("online", m.online));
    json_write_close(w);
}

void team_report_resources(struct json_writer *w, const struct team_params *p,
                           const struct team *team)
{
    JSON_MAP(w, "resources", size_t i = 0; i < p->resource_count; i++) {
        write_resource(w, p, team, (uint16_t)i);
    }
}

void team_report_robots(struct json_writer *w, const struct team_params *p,
                        const struct team *team)
{
    JSON_MAP(w, "robots", size_t i = 0; i < p->robot_count; i++) {
        write_robot(w, p, team, (uint16_t)i);
    }
}
