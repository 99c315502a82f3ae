#include "service/team/team_plan_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "service/team/team_runs.h"
#include "twin/team/check/team_plan.h"

enum { USES_MAX = 512, DAY_S = 86400 };

/* A task holds a resource. */
struct use {
    size_t task;
    uint16_t resource;
    int64_t from_us, to_us; /* after the task's start, then after that of the plan */
};

struct team_plan_study {
    struct team_settings *settings;
    struct team_prediction *tp;
    struct team_plan_request request;
    struct team_plan_task tasks[TEAM_PLAN_TASKS_MAX];
    bool guessed[TEAM_PLAN_TASKS_MAX]; /* the duration uses times of the file */
    size_t task_count, task;           /* task: the one that is simulated */
    struct use uses[USES_MAX];
    size_t use_count;
    struct team_plan plan;
    int64_t bound_us, list_us; /* list_us: length by list scheduling */
    size_t draws_with_wait;
    double waited_s, waited_max_s,
        length_s; /* means over the draws with a wait, and over all */
};

enum status team_plan_study_check(const struct team_params *p, const char *where,
                                  struct err *err)
{
    return p->planned_count > 0
               ? STATUS_OK
               : err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, where,
                         "team %s has no 'plan', as in 'plan: {fetch: {seq: cycle, robots: "
                         "[R1]}}'",
                         p->name);
}

/* ---- durations ----------------------------------------------------------------------- */

static void record_use(void *context, const struct team_effect *effect)
{
    struct team_plan_study *s = context;
    if (effect->kind == TEAM_GRANT && s->use_count < USES_MAX) {
        s->uses[s->use_count++] =
            (struct use){s->task, effect->resource, effect->t_us, INT64_MAX};
    }
    for (size_t i = s->use_count; i > 0 && effect->kind == TEAM_FREED; i--) {
        struct use *use = &s->uses[i - 1];
        if (use->task == s->task && use->resource == effect->resource &&
            use->to_us == INT64_MAX) {
            use->to_us = effect->t_us;
            return;
        }
    }
}

/* Only the robots of the task work, and do its sequence once. */
static void select_robots(struct team_plan_study *s, const struct team_planned *planned)
{
    for (size_t r = 0; r < s->settings->params.robot_count; r++) {
        s->settings->robots[r].sequence = TEAM_NONE;
    }
    for (size_t i = 0; i < planned->robot_count; i++) {
        struct team_robot_params *robot = &s->settings->robots[planned->robots[i]];
        robot->sequence = planned->sequence;
        robot->cycles = 1;
        robot->start_us = 0;
    }
}

static enum status find_lap(struct team_plan_study *s, const struct team_planned *planned,
                            struct err_list *errors)
{
    const struct team_runs_options options = {.horizon_us = lab_us(DAY_S),
                                              .activities_max = s->request.activities_max};
    const struct team_effects fx = {record_use, s};
    struct team_run run = {0};
    select_robots(s, planned);
    const enum status status =
        team_runs_expect(s->tp, &options, &fx, &run, &s->guessed[s->task], errors);
    if (status != STATUS_OK) {
        return status;
    }
    if (run.end == TEAM_RUN_REFUSED) {
        return err_list_add(errors, STATUS_E_EMPTY, FAULT_TOO_MANY, s->settings->params.name, 0,
                            0, "task '%s' of the plan has more than %llu activities",
                            planned->name, (unsigned long long)s->request.activities_max);
    }
    if (run.end != TEAM_RUN_FINISHED || run.makespan_us <= 0) {
        return err_list_add(errors, STATUS_E_EMPTY, FAULT_NO_DATA, s->settings->params.name, 0,
                            0,
                            "task '%s' of the plan must end after some time with its robots "
                            "alone; simulated, it is %s",
                            planned->name, team_run_end_name(run.end));
    }
    struct team_plan_task *task = &s->tasks[s->task];
    *task = (struct team_plan_task){.lap_us = run.makespan_us,
                                    .after = planned->after,
                                    .robot_count = planned->robot_count};
    memcpy(task->robots, planned->robots, sizeof task->robots);
    return STATUS_OK;
}

static enum status find_laps(struct team_plan_study *s, struct err_list *errors)
{
    struct team_params *p = &s->settings->params;
    enum status status = STATUS_OK;
    p->job_count = 0;
    s->task_count = p->planned_count;
    for (s->task = 0; s->task < s->task_count && status == STATUS_OK; s->task++) {
        status = find_lap(s, &p->planned[s->task], errors);
    }
    return status;
}

/* ---- the plan ------------------------------------------------------------------------ */

static void draw_courses(struct team_plan_study *s)
{
    for (size_t k = 0; k < s->request.draws; k++) {
        struct random_source source = random_stream(s->request.seed, k);
        struct team_plan_course course;
        team_plan_draw(s->tasks, &s->plan, s->request.spread, &source, &course);
        const double waited_s = lab_s(course.waited_us);
        s->draws_with_wait += course.waited_us > 0;
        s->waited_s += waited_s;
        s->waited_max_s = fmax(s->waited_max_s, waited_s);
        s->length_s += lab_s(course.length_us) / (double)s->request.draws;
    }
    s->waited_s /= fmax(1.0, (double)s->draws_with_wait);
}

static void make_plan(struct team_plan_study *s)
{
    s->bound_us = team_plan_bound(s->tasks, s->task_count);
    team_plan_list(s->tasks, s->task_count, &s->plan);
    s->list_us = s->plan.length_us;
    if (s->task_count <= TEAM_PLAN_OPTIMUM_MAX) {
        team_plan_optimum(s->tasks, s->task_count, &s->plan);
    }
    for (size_t i = 0; i < s->use_count; i++) {
        struct use *use = &s->uses[i];
        const int64_t start_us = s->plan.start_us[use->task];
        use->from_us += start_us;
        use->to_us = use->to_us == INT64_MAX ? start_us + s->tasks[use->task].lap_us
                                             : use->to_us + start_us;
    }
    draw_courses(s);
}

enum status team_plan_study_make(struct team_settings *settings, struct team_prediction *tp,
                                 const struct team_plan_request *request,
                                 struct team_plan_study **out, struct err_list *errors)
{
    struct team_plan_study *s = calloc(1, sizeof *s);
    if (!s) {
        return err_list_add(errors, STATUS_E_NOMEM, FAULT_NO_MEMORY, "plan", 0, 0,
                            "out of memory");
    }
    s->settings = settings;
    s->tp = tp;
    s->request = *request;
    const enum status status = find_laps(s, errors);
    if (status != STATUS_OK) {
        free(s);
        return status;
    }
    make_plan(s);
    *out = s;
    return STATUS_OK;
}

/* ---- output -------------------------------------------------------------------------- */

static bool do_overlap(const struct use *a, const struct use *b)
{
    return a->task != b->task && a->resource == b->resource && a->from_us <= b->from_us &&
           b->from_us < a->to_us && (a->from_us < b->from_us || a < b);
}

/* The uses that are under way when this one begins; more than the capacity allows interfere. */
static void write_interference(const struct team_plan_study *s, struct json_writer *w, size_t i)
{
    const struct team_params *p = &s->settings->params;
    const struct use *late = &s->uses[i];
    uint32_t under_way = 0;
    for (size_t k = 0; k < s->use_count; k++) {
        under_way += do_overlap(&s->uses[k], late);
    }
    for (size_t k = 0; k < s->use_count; k++) {
        const struct use *use = &s->uses[k];
        if (under_way < p->resources[late->resource].capacity || !do_overlap(use, late)) {
            continue;
        }
        const int64_t to_us = use->to_us < late->to_us ? use->to_us : late->to_us;
        JSON_BLOCK(w, NULL, true) {
            JSON_WRITE(w, JSON("resource", p->resources[late->resource].name),
                       JSON("task", p->planned[use->task].name),
                       JSON("other", p->planned[late->task].name),
                       JSON("from_s", lab_s(late->from_us)), JSON("to_s", lab_s(to_us)));
        }
    }
}

static void write_task(const struct team_plan_study *s, struct json_writer *w, size_t task)
{
    const struct team_params *p = &s->settings->params;
    const struct team_planned *planned = &p->planned[task];
    char robots[TEAM_PLAN_ROBOTS_MAX * (TEAM_NAME_MAX + 1)] = "";
    for (size_t r = 0; r < planned->robot_count; r++) {
        text_append(robots, sizeof robots, "%s%s", r > 0 ? " " : "",
                    p->robots[planned->robots[r]].name);
    }
    const int64_t start_us = s->plan.start_us[task];
    JSON_BLOCK(w, NULL, true) {
        JSON_WRITE(w, JSON("task", planned->name), JSON("robots", robots),
                   JSON("start_s", lab_s(start_us)),
                   JSON("end_s", lab_s(start_us + s->tasks[task].lap_us)),
                   JSON("guessed", s->guessed[task]));
    }
}

static double find_gap(int64_t length_us, int64_t least_us)
{
    return (double)(length_us - least_us) / (double)least_us;
}

void team_plan_study_write(const void *what, struct json_writer *w)
{
    const struct team_plan_study *s = what;
    JSON_WRITE(w, JSON("team", s->settings->params.name),
               JSON("length_s", lab_s(s->plan.length_us)), JSON("bound_s", lab_s(s->bound_us)),
               JSON("gap_to_bound", find_gap(s->plan.length_us, s->bound_us)));
    const bool searched = s->task_count <= TEAM_PLAN_OPTIMUM_MAX;
    const bool optimal = searched || s->plan.length_us == s->bound_us;
    JSON_WRITE(w, JSON("optimal", optimal));
    if (searched) {
        JSON_WRITE(w, JSON("list_s", lab_s(s->list_us)),
                   JSON("list_gap", find_gap(s->list_us, s->plan.length_us)));
    }
    JSON_LIST(w, "tasks", size_t i = 0; i < s->task_count; i++) {
        write_task(s, w, s->plan.order[i]);
    }
    JSON_LIST(w, "interference", size_t i = 0; i < s->use_count; i++) {
        write_interference(s, w, i);
    }
    const bool cut = s->use_count == USES_MAX;
    JSON_WRITE(w, JSON("interference_cut", cut));
    JSON_BLOCK(w, "uncertain", s->request.draws > 0) {
        JSON_WRITE(
            w, JSON("spread", s->request.spread), JSON_WHOLE("draws", s->request.draws),
            JSON("share_with_wait", (double)s->draws_with_wait / (double)s->request.draws),
            JSON("waited_mean_s", s->waited_s), JSON("waited_max_s", s->waited_max_s),
            JSON("length_mean_s", s->length_s));
    }
}
