/* service/team/team_plan_command.c - tandem team plan: an order of a team's tasks with start
 * times, so that nobody waits. It only shows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "config/labfile/lab_file.h"
#include "service/team/team_command.h"
#include "service/team/team_runs.h"
#include "service/team/team_settings.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/document_page.h"
#include "twin/team/check/team_plan.h"

enum { USES_MAX = 512, DRAWS = 200, DAY_S = 86400 };

/* A task holds a resource. */
struct use {
    size_t task;
    uint16_t resource;
    int64_t from_us, to_us; /* after the task's start, then after that of the plan */
};

/* State of one call; all zero is empty. */
struct plan_job {
    struct team_file file;
    struct team_settings settings;
    struct team_plan_task tasks[TEAM_PLAN_TASKS_MAX];
    size_t task_count, task; /* task: the one that is simulated */
    struct use uses[USES_MAX];
    size_t use_count;
    struct team_plan plan;
    int64_t bound_us, list_us; /* list_us: length by list scheduling */
    double spread;
    size_t draws, draws_with_wait;
    double waited_s, waited_max_s,
        length_s; /* means over the draws with a wait, and over all */
};

/* ---- durations ----------------------------------------------------------------------- */

static void record_use(void *context, const struct team_effect *effect)
{
    struct plan_job *j = context;
    if (effect->kind == TEAM_GRANT && j->use_count < USES_MAX) {
        j->uses[j->use_count++] =
            (struct use){j->task, effect->resource, effect->t_us, INT64_MAX};
    }
    for (size_t i = j->use_count; i > 0 && effect->kind == TEAM_FREED; i--) {
        struct use *use = &j->uses[i - 1];
        if (use->task == j->task && use->resource == effect->resource &&
            use->to_us == INT64_MAX) {
            use->to_us = effect->t_us;
            return;
        }
    }
}

/* Only the robots of the task work, and do its sequence once. */
static void select_robots(struct plan_job *j, const struct team_planned *planned)
{
    for (size_t r = 0; r < j->settings.params.robot_count; r++) {
        j->settings.robots[r].sequence = TEAM_NONE;
    }
    for (size_t i = 0; i < planned->robot_count; i++) {
        struct team_robot_params *robot = &j->settings.robots[planned->robots[i]];
        robot->sequence = planned->sequence;
        robot->cycles = 1;
        robot->start_us = 0;
    }
}

static bool find_lap(struct plan_job *j, const struct team_planned *planned)
{
    const struct team_runs_options options = {.horizon_us = lab_us(DAY_S)};
    const struct team_effects fx = {record_use, j};
    struct team_run run = {0};
    struct err_list errors = {0};
    select_robots(j, planned);
    struct team_prediction *tp = team_settings_predict(&j->settings);
    if (!tp) {
        return complain("out of memory");
    }
    const enum status status = team_runs_expect(tp, &options, &fx, &run, &errors);
    free(tp);
    if (status != STATUS_OK) {
        err_list_print(&errors, stderr);
        return false;
    }
    if (run.end != TEAM_RUN_FINISHED || run.makespan_us <= 0) {
        return complain("team %s: task '%s' of the plan must end after some time with its "
                        "robots alone; simulated, it is %s",
                        j->settings.params.name, planned->name, team_run_end_name(run.end));
    }
    struct team_plan_task *task = &j->tasks[j->task];
    *task = (struct team_plan_task){.lap_us = run.makespan_us,
                                    .after = planned->after,
                                    .robot_count = planned->robot_count};
    memcpy(task->robots, planned->robots, sizeof task->robots);
    return true;
}

static bool find_laps(struct plan_job *j)
{
    const struct team_params *p = &j->settings.params;
    j->settings.params.job_count = 0;
    j->task_count = p->planned_count;
    for (j->task = 0; j->task < j->task_count; j->task++) {
        if (!find_lap(j, &p->planned[j->task])) {
            return false;
        }
    }
    return true;
}

/* ---- the plan ------------------------------------------------------------------------ */

static void draw_courses(struct plan_job *j, uint64_t seed)
{
    for (size_t k = 0; k < j->draws; k++) {
        struct random_source source = random_stream(seed, k);
        struct team_plan_course course;
        team_plan_draw(j->tasks, &j->plan, j->spread, &source, &course);
        const double waited_s = lab_s(course.waited_us);
        j->draws_with_wait += course.waited_us > 0;
        j->waited_s += waited_s;
        j->waited_max_s = fmax(j->waited_max_s, waited_s);
        j->length_s += lab_s(course.length_us) / (double)j->draws;
    }
    j->waited_s /= fmax(1.0, (double)j->draws_with_wait);
}

static void make_plan(struct plan_job *j, uint64_t seed)
{
    j->bound_us = team_plan_bound(j->tasks, j->task_count);
    team_plan_list(j->tasks, j->task_count, &j->plan);
    j->list_us = j->plan.length_us;
    if (j->task_count <= TEAM_PLAN_OPTIMUM_MAX) {
        team_plan_optimum(j->tasks, j->task_count, &j->plan);
    }
    for (size_t i = 0; i < j->use_count; i++) {
        struct use *use = &j->uses[i];
        const int64_t start_us = j->plan.start_us[use->task];
        use->from_us += start_us;
        use->to_us = use->to_us == INT64_MAX ? start_us + j->tasks[use->task].lap_us
                                             : use->to_us + start_us;
    }
    draw_courses(j, seed);
}

/* ---- output -------------------------------------------------------------------------- */

static bool do_overlap(const struct use *a, const struct use *b)
{
    return a->task != b->task && a->resource == b->resource && a->from_us <= b->from_us &&
           b->from_us < a->to_us && (a->from_us < b->from_us || a < b);
}

/* The uses that are under way when this one begins; more than the capacity allows interfere. */
static void write_interference(const struct plan_job *j, struct json_writer *w, size_t i)
{
    const struct team_params *p = &j->settings.params;
    const struct use *late = &j->uses[i];
    uint32_t under_way = 0;
    for (size_t k = 0; k < j->use_count; k++) {
        under_way += do_overlap(&j->uses[k], late);
    }
    for (size_t k = 0; k < j->use_count; k++) {
        const struct use *use = &j->uses[k];
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

static void write_task(const struct plan_job *j, struct json_writer *w, size_t task)
{
    const struct team_params *p = &j->settings.params;
    const struct team_planned *planned = &p->planned[task];
    char robots[TEAM_PLAN_ROBOTS_MAX * (TEAM_NAME_MAX + 1)] = "";
    for (size_t r = 0; r < planned->robot_count; r++) {
        text_append(robots, sizeof robots, "%s%s", r > 0 ? " " : "",
                    p->robots[planned->robots[r]].name);
    }
    const int64_t start_us = j->plan.start_us[task];
    JSON_BLOCK(w, NULL, true) {
        JSON_WRITE(w, JSON("task", planned->name), JSON("robots", robots),
                   JSON("start_s", lab_s(start_us)),
                   JSON("end_s", lab_s(start_us + j->tasks[task].lap_us)));
    }
}

static double find_gap(int64_t length_us, int64_t least_us)
{
    return (double)(length_us - least_us) / (double)least_us;
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct plan_job *j = what;
    JSON_WRITE(w, JSON("team", j->settings.params.name),
               JSON("length_s", lab_s(j->plan.length_us)), JSON("bound_s", lab_s(j->bound_us)),
               JSON("gap_to_bound", find_gap(j->plan.length_us, j->bound_us)));
    const bool searched = j->task_count <= TEAM_PLAN_OPTIMUM_MAX;
    const bool optimal = searched || j->plan.length_us == j->bound_us;
    JSON_WRITE(w, JSON("optimal", optimal));
    if (searched) {
        JSON_WRITE(w, JSON("list_s", lab_s(j->list_us)),
                   JSON("list_gap", find_gap(j->list_us, j->plan.length_us)));
    }
    JSON_LIST(w, "tasks", size_t i = 0; i < j->task_count; i++) {
        write_task(j, w, j->plan.order[i]);
    }
    JSON_LIST(w, "interference", size_t i = 0; i < j->use_count; i++) {
        write_interference(j, w, i);
    }
    JSON_BLOCK(w, "uncertain", j->draws > 0) {
        JSON_WRITE(w, JSON("spread", j->spread), JSON_WHOLE("draws", j->draws),
                   JSON("share_with_wait", (double)j->draws_with_wait / (double)j->draws),
                   JSON("waited_mean_s", j->waited_s), JSON("waited_max_s", j->waited_max_s),
                   JSON("length_mean_s", j->length_s));
    }
}

/* ---- the command --------------------------------------------------------------------- */

static bool load_plan(struct plan_job *j, const char *path, const char *team)
{
    struct err_list errors = {0};
    char names[TEAM_SETTINGS_NAMES_MAX];
    if (lab_file_load_teams(path, &j->file, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return false;
    }
    const struct team_params *p = team_settings_choose(&j->file, team, names);
    if (!p) {
        return complain("%s: %s%s", path, names[0] ? "--team is one of " : "no team is in it",
                        names);
    }
    if (p->planned_count == 0) {
        return complain("%s: team %s has no 'plan', as in 'plan: {fetch: {seq: cycle, robots: "
                        "[R1]}}'",
                        path, p->name);
    }
    const enum status status = team_settings_make(p, NULL, 0, &j->settings, &errors);
    err_list_print(&errors, stderr);
    return status == STATUS_OK;
}

int team_plan_command(int argc, char **argv)
{
    const char *team = NULL;
    int draws = DRAWS;
    int seed = 1;
    double spread = 20.0;
    bool json = false;
    /* clang-format off */
    const struct argument rows[] = {
        {"spread", 0, ARGUMENT_REAL, &spread, 0, 99, "PERCENT",
         "durations of a draw lie within this of the predicted (20)"},
        {"draws", 0, ARGUMENT_INTEGER, &draws, 0, 1000000, "N", "plays of the plan with other durations (200)"},
        {"seed", 0, ARGUMENT_INTEGER, &seed, 0, 2147483647, "N", "the same seed gives the same figures (1)"},
        {"team", 0, ARGUMENT_TEXT, &team, 0, 0, "NAME", "which one, of a file with several"},
        {"json", 0, ARGUMENT_FLAG, &json, 0, 0, NULL, "one JSON document"},
    };
    const struct arguments arguments = {
        .command = "team plan",
        .purpose = "an order and start times of a team's tasks, so that nobody waits",
        .operands = "FILE",
        .description =
            "  Gives each task under 'plan' of the team in FILE a start time, by the predicted\n"
            "  durations: by list scheduling, with 8 tasks or fewer the shortest plan. Its length\n"
            "  stands next to a lower bound. Then come tasks that need one place at the same time, and\n"
            "  how often somebody waits when durations differ. It changes nothing\n"
            "  (docs/model/teams.md).\n",
        .examples = "  tandem team plan config/examples/class4_plan.yaml\n",
        .exit_status = "a task has no duration, or does not end",
        ARGUMENT_ROWS(rows)};
    /* clang-format on */
    int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    struct plan_job j = {.draws = (size_t)draws, .spread = spread / 100.0};
    exit_status = EXIT_USAGE;
    if (load_plan(&j, argv[1], team)) {
        exit_status = EXIT_FAILED;
        if (find_laps(&j)) {
            make_plan(&j, (uint64_t)seed);
            exit_status = document_page_show(json, write_members, &j) ? EXIT_FINE : EXIT_FAILED;
        }
    }
    team_settings_free(&j.settings);
    team_file_free(&j.file);
    return exit_status;
}
