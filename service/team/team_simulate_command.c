/* service/team/team_simulate_command.c - `tandem team simulate`: predicts how long a team
 * takes, with error bars, also after what-if changes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/team/team_command.h"
#include "service/team/team_inputs.h"
#include "service/team/team_simulate_report.h"
#include "service/tool/commands.h"
#include "service/tool/gnuplot.h"
#include "service/tool/json_file.h"
#include "service/tool/progress.h"
#include "twin/report/team_report.h"

enum { RUNS = 10000, DAY_S = 86400 };

static const double SPAN_S_MAX = 1e12; /* sums of times are whole microseconds in 64 bits */

struct options {
    struct team_inputs_options inputs;
    const char *csv_dir, *plot_dir;
    int runs, seed, threads;
    double horizon_s;
    bool nominal, trace, json;
};

/* State of one call; all zero is empty. */
struct job {
    const struct options *options;
    struct team_inputs in;
    struct team_runs_options runs;
};

/* ---- output ---- */

struct trace {
    const struct team_params *params;
    FILE *out;
};

static void print_effect(void *context, const struct team_effect *effect)
{
    const struct trace *trace = context;
    char buffer[4096];
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, json_file_flush, trace->out);
    team_report_effect(&w, NULL, trace->params, effect, TEAM_TIME_S);
    (void)json_write_end(&w);
    (void)fputc('\n', trace->out);
}

static int print_trace(const struct job *j)
{
    struct trace trace = {&j->in.settings.params, stdout};
    const struct team_effects fx = {print_effect, &trace};
    struct team_run run;
    bool guessed = false;
    struct err_list errors = {0};
    if (team_runs_expect(j->in.tp, &j->runs, &fx, &run, &guessed, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return EXIT_FAILED;
    }
    return run.end == TEAM_RUN_FINISHED ? EXIT_FINE : EXIT_FAILED;
}

static bool write_study(const struct job *j, const struct team_study *study)
{
    const struct options *o = j->options;
    struct err err = {0};
    if (!team_study_show(study, o->json)) {
        return false;
    }
    if (o->csv_dir && csv_tables_write(o->csv_dir, team_study_tables, TEAM_STUDY_TABLES, study,
                                       &err) != STATUS_OK) {
        return complain_err(&err);
    }
    char path[512];
    (void)snprintf(path, sizeof path, "%s/simulate.svg", o->plot_dir ? o->plot_dir : "");
    if (o->plot_dir && (csv_tables_write(o->plot_dir, NULL, 0, NULL, &err) != STATUS_OK ||
                        gnuplot_draw(team_study_script, study, path, &err) != STATUS_OK)) {
        return complain_err(&err);
    }
    return true;
}

static bool show_progress(void *context, double share)
{
    progress_step(context, (uint64_t)(share * RUNS), RUNS);
    return true;
}

static int run_study(struct job *j)
{
    const struct options *o = j->options;
    struct progress progress;
    struct team_runs runs;
    struct err_list errors = {0};
    j->runs.go_on = show_progress;
    j->runs.context = &progress;
    progress_start(&progress, "simulate");
    const enum status status = team_runs_make(j->in.tp, &j->runs, &runs, &errors);
    progress_end(&progress);
    if (status != STATUS_OK) {
        err_list_print(&errors, stderr);
        return EXIT_FAILED;
    }
    struct team_study study = {.tp = j->in.tp,
                               .runs = &runs,
                               .measured = o->inputs.journal ? &j->in.measured : NULL,
                               .run_count = j->runs.runs,
                               .seed = j->runs.seed,
                               .from = o->inputs.journal};
    json_t *document = team_study_document(&study);
    study.document = document;
    const bool written = document && write_study(j, &study);
    json_decref(document);
    const size_t count = runs.makespan_s.n;
    const bool finished = count == j->runs.runs;
    if (!finished) {
        (void)complain("team simulate: %zu of %zu runs did not finish; makespans are "
                       "those of the other %zu",
                       j->runs.runs - count, j->runs.runs, count);
    }
    team_runs_free(&runs);
    return written && finished ? EXIT_FINE : EXIT_FAILED;
}

/* ---- the command ---- */

static int run_job(struct job *j, const char *path)
{
    const struct options *o = j->options;
    if (!team_inputs_load(&o->inputs, path, &j->in)) {
        return EXIT_USAGE;
    }
    if (o->runs * o->horizon_s > SPAN_S_MAX) {
        return complain_exit(
            EXIT_USAGE, "team simulate: --runs times --horizon: up to 1e12 s was expected");
    }
    j->runs = (struct team_runs_options){.runs = (size_t)o->runs,
                                         .seed = (uint64_t)o->seed,
                                         .threads = (unsigned)o->threads,
                                         .horizon_us = lab_us(o->horizon_s)};
    return o->trace ? print_trace(j) : run_study(j);
}

static int parse_options(int argc, char **argv, struct options *o)
{
    /* clang-format off */
    const struct argument rows[] = {
        {"runs", 0, ARGUMENT_INTEGER, &o->runs, 1, TEAM_RUNS_MAX, "N", "runs with chance (10000)"},
        {"seed", 0, ARGUMENT_INTEGER, &o->seed, 0, 2147483647, "N",
         "the same seed gives the same figures, on any number of threads (1)"},
        {"threads", 0, ARGUMENT_INTEGER, &o->threads, 1, TEAM_THREADS_MAX, "N", "(as many as there are processors)"},
        {"nominal", 0, ARGUMENT_FLAG, &o->nominal, 0, 0, NULL, "the times of the file alone (usual without --from)"},
        TEAM_INPUTS_ARGUMENTS(&o->inputs),
        {"horizon", 0, ARGUMENT_REAL, &o->horizon_s, 1, 1e9, "S", "a run that lasts longer does not finish (86400)"},
        {"trace", 0, ARGUMENT_FLAG, &o->trace, 0, 0, NULL,
         "one run without randomness: its events, one JSON object a line, and nothing else"},
        {"json", 0, ARGUMENT_FLAG, &o->json, 0, 0, NULL, "one JSON document"},
        {"csv", 0, ARGUMENT_TEXT, &o->csv_dir, 0, 0, "DIR",
         "makespans, robots, resources, waits and activities as tables in DIR"},
        {"plot", 0, ARGUMENT_TEXT, &o->plot_dir, 0, 0, "DIR",
         "simulate.svg in DIR: makespans, and what the robots do with their time"},
    };
    const struct arguments arguments = {
        .command = "team simulate",
        .purpose = "how long a team takes, with error bars",
        .operands = "FILE",
        .description =
            "  Runs the team of FILE many times in simulated time: how long it takes, who is\n"
            "  busy and who waits for whom, which resource is short. Each activity takes its\n"
            "  measured time, or that predicted from its pair's moves, or the time in FILE, in\n"
            "  this order; uncertain values are drawn once a run (docs/model/teams.md).\n",
        .examples =
            "  tandem team simulate cell.yaml\n"
            "  tandem team simulate cell.yaml --from journal/ --set IB.capacity=2\n"
            "  tandem team simulate cell.yaml --trace\n",
        .exit_status = "a run did not finish, or a duration is unknown",
        ARGUMENT_ROWS(rows)};
    /* clang-format on */
    return arguments_parse(&arguments, argc, argv);
}

static int count_processors(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > TEAM_THREADS_MAX ? TEAM_THREADS_MAX : (int)n;
}

int team_simulate_command(int argc, char **argv)
{
    struct options o = {
        .runs = RUNS, .seed = 1, .threads = count_processors(), .horizon_s = DAY_S};
    team_inputs_options_init(&o.inputs, "team simulate");
    int exit_status = parse_options(argc, argv, &o);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    if (o.nominal && o.inputs.journal) {
        return complain_exit(EXIT_USAGE, "--nominal and --from exclude each other");
    }
    struct job j = {.options = &o};
    exit_status = run_job(&j, argv[1]);
    team_inputs_free(&j.in);
    return exit_status;
}
