/* service/team/team_check_command.c - tandem team check: explores every order in which a team's
 * work can go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/errors/err.h"
#include "base/text/text.h"
#include "config/labfile/lab_file.h"
#include "config/team/team_file.h"
#include "service/team/team_command.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/document_page.h"
#include "service/tool/progress.h"
#include "service/tool/stop_signal.h"
#include "twin/team/check/model_checker.h"

enum { BYTES_MAX = 1 << 30, TEXT_MAX = 512, STEPS_MAX = 4096, FAILURES_MAX = 64 };

/* One team and its result. */
struct check {
    const struct team_params *p;
    struct model_checker_options options;
    struct checker_memory memory;
    struct model_checker *checker;
    struct model_checker_result result;
    enum team_end worst; /* TEAM_END_FINISHED: nothing to report */
    /* The path into that end: a text of each instant, and the state then. */
    json_t *path;
    char waits_text[TEXT_MAX];
};

/* ---- words ---- */

static void add_resources(char to[TEXT_MAX], const struct team_params *p, const char *what,
                          const uint16_t *resources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_append(to, TEXT_MAX, "%s %s", i == 0 ? what : "", p->resources[resources[i]].name);
    }
}

/* "R1 holds A wants B" */
static void add_wait(char to[TEXT_MAX], const struct team_params *p,
                     const struct team_wait *wait)
{
    text_append(to, TEXT_MAX, "%s%s", to[0] ? ", " : "", p->robots[wait->robot].name);
    add_resources(to, p, " holds", wait->held, wait->held_count);
    if (wait->meeting != TEAM_NONE) {
        text_append(to, TEXT_MAX, " wants meeting %s", team_name(p, wait->meeting));
    } else {
        add_resources(to, p, " wants", wait->wants, wait->want_count);
    }
}

static void add_move(char to[TEXT_MAX], const struct check *c, const struct team *team,
                     const struct team_move *move)
{
    const struct team_params *p = c->p;
    struct team_robot_view view;
    text_append(to, TEXT_MAX, "%s", to[0] ? " and " : "");
    if (move->kind == TEAM_MOVE_START) {
        text_append(to, TEXT_MAX, "others start");
        return;
    }
    if (move->kind == TEAM_MOVE_DELAY) {
        text_append(to, TEXT_MAX, "the delay of %s is over", p->resources[move->subject].name);
        return;
    }
    text_append(to, TEXT_MAX, "%s %s", p->robots[move->subject].name,
                team_move_kind_name(move->kind));
    team_robot(team, move->subject, &view);
    const bool activity = move->kind == TEAM_MOVE_DONE || move->kind == TEAM_MOVE_FAIL;
    if (activity && view.step && view.step->task != TEAM_NONE) {
        char task[2 * TEAM_NAME_MAX];
        team_task_text(p, view.step->task, view.step->arg, task, sizeof task);
        text_append(to, TEXT_MAX, " %s", task);
    }
}

/* ---- the path ------------------------------------------------------------------------ */

static void record_instant(void *context, const struct team *team,
                           const struct team_move *moves, size_t count)
{
    struct check *c = context;
    char text[TEXT_MAX] = "";
    for (size_t i = 0; i < count; i++) {
        add_move(text, c, team, &moves[i]);
    }
    const size_t steps = json_array_size(c->path);
    if (steps <= STEPS_MAX) {
        (void)json_array_append_new(c->path, json_string(steps < STEPS_MAX ? text : "…"));
    }
}

/* The last deadlock reported is the one at the path's end. */
static void record_deadlock(void *context, const struct team_effect *effect)
{
    struct check *c = context;
    if (effect->kind != TEAM_ALARM || effect->alarm != TEAM_ALARM_DEADLOCK) {
        return;
    }
    c->waits_text[0] = '\0';
    for (size_t i = 0; i < effect->cycle_count; i++) {
        add_wait(c->waits_text, c->p, &effect->cycle[i]);
    }
}

/* Reports who waits for what in the team's final state. */
static void report_waits(struct check *c, const struct team *team)
{
    for (uint16_t r = 0; r < c->p->robot_count; r++) {
        uint16_t held[TEAM_RESOURCES_MAX];
        uint16_t wants[TEAM_RESOURCES_MAX];
        struct team_robot_view view;
        team_robot(team, r, &view);
        struct team_wait wait = {
            .robot = r, .meeting = TEAM_NONE, .held = held, .wants = wants};
        wait.held_count = team_held(team, r, held, COUNT(held));
        for (uint16_t i = 0; i < c->p->resource_count; i++) {
            uint16_t queue[MODEL_CHECKER_ROBOTS_MAX];
            const size_t length = team_queue(team, i, queue, COUNT(queue));
            for (size_t k = 0; k < length; k++) {
                if (queue[k] == r) {
                    wants[wait.want_count++] = i;
                }
            }
        }
        if (view.phase == TEAM_PHASE_MEETING && view.step) {
            wait.meeting = view.step->meeting;
        }
        if (wait.want_count > 0 || wait.meeting != TEAM_NONE) {
            add_wait(c->waits_text, c->p, &wait);
        } else if (view.phase != TEAM_PHASE_FINISHED && view.phase != TEAM_PHASE_PARKED) {
            text_append(c->waits_text, TEXT_MAX, "%s%s is %s", c->waits_text[0] ? ", " : "",
                        c->p->robots[r].name, team_phase_name(view.phase));
            add_resources(c->waits_text, c->p, " with", held, wait.held_count);
        }
    }
}

static void follow_path(struct check *c, struct model_checker *x, struct team_path path)
{
    const struct model_checker_observer guide = {record_instant, {record_deadlock, c}, c};
    json_decref(c->path);
    c->path = json_array();
    c->waits_text[0] = '\0';
    const struct team *team = model_checker_replay(x, path, &guide);
    if (team && c->worst != TEAM_END_DEADLOCK) {
        c->waits_text[0] = '\0';
        report_waits(c, team);
    }
}

/* ---- exploring ---- */

static void *resize_block(void *context, void *block, size_t bytes)
{
    (void)context;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, bytes);
}

static bool go_on(void *context, size_t states, size_t open)
{
    progress_step(context, states - open, states);
    return !stop_signal_raised();
}

/* Finds a path into a deadlock with one event after another, if there is one; else as it was
 * found.
 */
static void find_deadlock(struct check *c, const struct model_checker_watch *watch)
{
    struct model_checker_options one = c->options;
    struct model_checker_result result;
    struct model_checker *x;
    one.together = 1;
    one.first_deadlock = true;
    c->worst = TEAM_END_DEADLOCK;
    if (model_checker_run(c->p, &one, &c->memory, watch, &x, &result) == STATUS_OK) {
        if (result.deadlocks > 0) {
            follow_path(c, x, result.deadlock);
            model_checker_free(x);
            return;
        }
        model_checker_free(x);
    }
    follow_path(c, c->checker, c->result.deadlock);
}

static void find_worst(struct check *c, const struct model_checker_watch *watch)
{
    c->worst = TEAM_END_FINISHED;
    for (enum team_end end = 0; end < TEAM_END_BLOCKED; end++) {
        if (end == TEAM_END_DEADLOCK && c->result.deadlocks > 0) {
            find_deadlock(c, watch);
            return;
        }
        if (c->result.ends[end] > 0) {
            c->worst = end;
            follow_path(c, c->checker, c->result.path[end]);
            return;
        }
    }
}

static bool run_check(struct check *c)
{
    struct progress progress;
    const struct model_checker_watch watch = {go_on, &progress};
    progress_start(&progress, "states");
    const enum status st =
        model_checker_run(c->p, &c->options, &c->memory, &watch, &c->checker, &c->result);
    if (st == STATUS_OK) {
        find_worst(c, &watch);
    }
    progress_end(&progress);
    if (st == STATUS_E_RANGE) {
        complain("team %s: %zu robots, at most %d can be explored", c->p->name,
                 c->p->robot_count, MODEL_CHECKER_ROBOTS_MAX);
    } else if (st != STATUS_OK) {
        complain("team %s: out of memory", c->p->name);
    }
    return st == STATUS_OK;
}

/* ---- output -------------------------------------------------------------------------- */

static const char *const unused_keys[MODEL_CHECKER_ITEMS] = {"unused_sequences",
                                                             "unused_robots", "unused_jobs"};

static size_t count_items(const struct check *c, enum model_checker_item kind)
{
    return kind == MODEL_CHECKER_SEQUENCE ? c->p->sequence_count
           : kind == MODEL_CHECKER_ROBOT  ? c->p->robot_count
                                          : c->p->job_count;
}

/* Returns NULL for what was used. */
static const char *name_unused(const struct check *c, enum model_checker_item kind, size_t i)
{
    const struct team_params *p = c->p;
    return model_checker_used(c->checker, kind, i) ? NULL
           : kind == MODEL_CHECKER_SEQUENCE        ? p->sequences[i].name
           : kind == MODEL_CHECKER_ROBOT           ? p->robots[i].name
                                                   : team_name(p, p->jobs[i].part);
}

static bool is_complete(const struct check *c)
{
    return c->result.stop == TEAM_STOP_COMPLETE;
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct check *c = what;
    const struct model_checker_result *r = &c->result;
    JSON_WRITE(w, JSON("team", c->p->name), JSON("locking", team_locking_name(c->p->locking)),
               JSON("failures", c->options.failures), JSON("losses", c->options.losses),
               JSON("complete", is_complete(c)), JSON("stop", team_stop_name(r->stop)),
               JSON_WHOLE("states", r->states), JSON_WHOLE("transitions", r->edges),
               JSON_COUNTS("ends", &team_end_names, r->ends));
    for (enum model_checker_item kind = 0; kind < MODEL_CHECKER_ITEMS; kind++) {
        JSON_LIST(w, unused_keys[kind], size_t i = 0; i < count_items(c, kind); i++) {
            const char *name = name_unused(c, kind, i);
            if (name) {
                json_write_text(w, NULL, name);
            }
        }
    }
    JSON_BLOCK(w, "worst", c->worst != TEAM_END_FINISHED) {
        json_write_text(w, "end", team_end_name(c->worst));
        JSON_LIST(w, "path", size_t i = 0; i < json_array_size(c->path); i++) {
            json_write_text(w, NULL, json_string_value(json_array_get(c->path, i)));
        }
        json_write_text(w, "waits", c->waits_text);
    }
}

static int judge_check(const struct check *c)
{
    const struct model_checker_result *r = &c->result;
    if (r->unsound > 0 || r->violations > 0) {
        return complain_exit(EXIT_FAILED,
                             "team %s: %llu wrong alarms, %llu wrong grants: a fault of "
                             "Tandem, please report it with the file",
                             c->p->name, (unsigned long long)r->unsound,
                             (unsigned long long)r->violations);
    }
    if (c->worst != TEAM_END_FINISHED) {
        return EXIT_FAILED;
    }
    return is_complete(c) ? EXIT_FINE : EXIT_AS_ASKED;
}

static int check_team(const struct team_params *p, const struct model_checker_options *options,
                      bool json)
{
    struct check c = {.p = p, .options = *options};
    c.memory = (struct checker_memory){resize_block, NULL, 0, BYTES_MAX};
    if (!run_check(&c)) {
        return EXIT_AS_ASKED;
    }
    const bool shown = document_page_show(json, write_members, &c);
    const int exit_status = shown ? judge_check(&c) : EXIT_FAILED;
    model_checker_free(c.checker);
    json_decref(c.path);
    return exit_status;
}

/* A wrong team is worse than one that was not explored fully. */
static int join_exits(int a, int b)
{
    return a == EXIT_FAILED || b == EXIT_FAILED ? EXIT_FAILED : a > b ? a : b;
}

static int check_teams(const char *path, const struct model_checker_options *options, bool json)
{
    struct team_file file = {0};
    struct err_list errors = {0};
    int exit_status = EXIT_FINE;
    if (lab_file_load_teams(path, &file, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return EXIT_USAGE;
    }
    if (file.warnings) {
        err_list_print(file.warnings, stderr);
    }
    stop_signal_install();
    for (size_t i = 0; i < file.team_count && !stop_signal_raised(); i++) {
        exit_status = join_exits(exit_status, check_team(&file.teams[i], options, json));
    }
    team_file_free(&file);
    return exit_status;
}

static const char description[] =
    "  Reads the teams of FILE, a team file or a lab file: every fault is reported at once,\n"
    "  including those of the static check. Then explores every order in which their\n"
    "  activities can end, two in one instant too, and prints how the work can end, and the\n"
    "  shortest path into a deadlock. Durations are left open: a complete exploration without\n"
    "  a deadlock proves that there is none. Docs: docs/model/teams.md.\n";

int team_check_command(int argc, char **argv)
{
    int failures = 0;
    int losses = 0;
    int states = 1000000;
    bool json = false;
    const struct argument rows[] = {
        {"failures", 0, ARGUMENT_INTEGER, &failures, 0, FAILURES_MAX, "N",
         "up to N activities may fail, anywhere (0)"},
        {"losses", 0, ARGUMENT_INTEGER, &losses, 0, FAILURES_MAX, "N",
         "up to N robots may fall silent until their leases end (0)"},
        {"states", 0, ARGUMENT_INTEGER, &states, 1, 100000000, "MAX",
         "explore no more states (1000000)"},
        {"json", 0, ARGUMENT_FLAG, &json, 0, 0, NULL, "a line of JSON for each team"},
    };
    const struct arguments arguments = {
        .command = "team check",
        .purpose = "every order in which the work of a team can go",
        .operands = "FILE",
        .description = description,
        .examples = "  tandem team check config/examples/class3.yaml --failures 1\n",
        .exit_status = "a deadlock, or another wait for ever that no failure explains",
        .exit_as_asked = "not all was explored, and nothing wrong found",
        ARGUMENT_ROWS(rows)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    const struct model_checker_options options = {.failures = (uint32_t)failures,
                                                  .losses = (uint32_t)losses,
                                                  .together = 2,
                                                  .states_max = (size_t)states,
                                                  .bytes_max = BYTES_MAX};
    return check_teams(argv[1], &options, json);
}
