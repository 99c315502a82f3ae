/* tandem follow - a model-following experiment, offline. */
#include <stdio.h>
#include <stdlib.h>

#include "config/text_file.h"
#include "service/cli/arguments.h"
#include "service/cli/commands.h"
#include "service/cli/csv_file.h"
#include "service/cli/gnuplot.h"
#include "service/cli/progress.h"
#include "service/cli/stop_signal.h"
#include "service/experiments/experiment_file.h"
#include "service/experiments/follow_plot.h"
#include "service/experiments/follow_report.h"
#include "service/experiments/joint_file.h"
#include "service/experiments/joint_plot.h"
#include "service/experiments/joint_report.h"

static bool go_on(void *context, size_t done, size_t total)
{
    progress_step(context, done, total);
    return !stop_signal_raised();
}

/* Where to beside the page; NULL: not. */
struct places {
    const char *csv_folder, *plot_path;
};

static enum status show_study(const struct follow_study *study, bool json,
                              const struct places *to, struct err *err)
{
    if (json) {
        follow_report_json(study, stdout);
    } else {
        follow_report_page(study, stdout);
    }
    if (fflush(stdout) != 0) {
        return err_set(err, STATUS_E_IO, "standard output", 0, 0, "cannot be written");
    }
    const enum status status =
        to->csv_folder ? follow_report_csv(study, to->csv_folder, err) : STATUS_OK;
    return status == STATUS_OK && to->plot_path ? follow_plot_draw(study, to->plot_path, err)
                                                : status;
}

static int run_follow(const struct experiment_file *file, bool json, const struct places *to)
{
    struct follow_study study = {0};
    struct progress progress;
    struct err err = {0};
    stop_signal_install();
    progress_start(&progress, "runs");
    enum status status = follow_study_run(file, go_on, &progress, &study, &err);
    progress_end(&progress);
    if (status == STATUS_OK) {
        status = show_study(&study, json, to, &err);
    }
    if (status != STATUS_OK) {
        csv_file_complain(&err);
    }
    const bool whole = status == STATUS_OK && study.diverged == 0 && study.runs == file->runs;
    follow_study_free(&study);
    return whole ? EXIT_FINE : EXIT_FAILED;
}

/* An experiment of kind joint: nothing in it is random, so that one run says it all. */
static int run_joint(const char *path, bool json, const struct places *to)
{
    struct joint_file file;
    struct joint_study study = {0};
    struct err_list errors = {0};
    struct err err = {0};
    if (option_file_load(&joint_file, path, &file, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return EXIT_USAGE;
    }
    enum status status = joint_study_run(&file, &study, &err);
    if (status == STATUS_OK) {
        (json ? joint_report_json : joint_report_page)(&study, stdout);
        status = fflush(stdout) == 0
                     ? STATUS_OK
                     : err_set(&err, STATUS_E_IO, "standard output", 0, 0, "cannot be written");
    }
    if (status == STATUS_OK && to->csv_folder) {
        status = joint_report_csv(&study, to->csv_folder, &err);
    }
    if (status == STATUS_OK && to->plot_path) {
        status = joint_plot_draw(&study, to->plot_path, &err);
    }
    if (status != STATUS_OK) {
        csv_file_complain(&err);
    }
    joint_study_free(&study);
    return status == STATUS_OK ? EXIT_FINE : EXIT_FAILED;
}

int command_follow(int argc, char **argv)
{
    bool json = false;
    struct places to = {NULL, NULL};
    int runs = 0;
    const struct argument rows[] = {
        {"runs", 0, ARGUMENT_INTEGER, &runs, 1, EXPERIMENT_RUNS_MAX, "N",
         "so many runs instead of the file's"},
        {"csv", 0, ARGUMENT_TEXT, &to.csv_folder, 0, 0, "DIR",
         "also write states.csv (controllers.csv), and run.csv with the first run over time"},
        {"plot", 0, ARGUMENT_TEXT, &to.plot_path, 0, 0, "FILE.svg",
         "also draw the first run (needs gnuplot)"},
        {"json", 0, ARGUMENT_FLAG, &json, 0, 0, NULL, "print one JSON document, nothing else"},
    };
    const struct arguments arguments = {
        .command = "follow",
        .purpose = "a model-following experiment, offline",
        .operands = "EXPERIMENT.yaml",
        .description =
            "Simulates a reference robot and a second one that is driven so that it moves\n"
            "alike, by the model identified for it, as often as the experiment says, each\n"
            "time with other true parameters within their intervals. Prints how closely it\n"
            "followed, state by state, beside what was published. Experiments of kind joint\n"
            "compare position controllers of a servo joint; nothing is random there, one run\n"
            "says it all. Experiments that come with tandem: config/experiments.\n",
        .examples = "  tandem follow config/experiments/table7.yaml\n"
                    "  tandem follow config/experiments/shadow.yaml --json\n"
                    "  tandem follow config/experiments/joint.yaml\n",
        .exit_status = "the experiment cannot be run, or the robot was lost in a run",
        .rows = rows,
        .row_count = COUNT(rows),
    };
    struct err_list errors = {0};
    int first = 0;
    int exit_status = EXIT_FINE;
    if (!arguments_parse(&arguments, argc, argv, &first, &exit_status)) {
        return exit_status;
    }
    if (first + 1 < argc && argv[first + 1]) { /* operands end with NULL */
        (void)fputs("tandem: follow: one experiment is wanted, see 'tandem follow --help'\n",
                    stderr);
        return EXIT_USAGE;
    }
    struct err err = {0};
    if (to.plot_path && gnuplot_check_path(to.plot_path, &err) != STATUS_OK) {
        (void)fprintf(stderr, "tandem: follow: %s\n", err.text);
        return EXIT_USAGE;
    }
    if (joint_file_is(argv[first])) {
        return run_joint(argv[first], json, &to);
    }
    struct experiment_file *file = malloc(sizeof *file);
    if (!file) {
        (void)fputs("tandem: follow: not enough memory\n", stderr);
        return EXIT_FAILED;
    }
    exit_status = EXIT_USAGE;
    if (option_file_load(&experiment_file, argv[first], file, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
    } else {
        file->runs = runs > 0 ? (uint32_t)runs : file->runs;
        exit_status = run_follow(file, json, &to);
    }
    free(file);
    return exit_status;
}
