/* tandem follow - a model-following experiment, offline. */
#include <stdio.h>
#include <stdlib.h>

#include "config/option_file.h"
#include "service/cli/arguments.h"
#include "service/cli/commands.h"
#include "service/cli/csv_file.h"
#include "service/cli/progress.h"
#include "service/cli/stop_signal.h"
#include "service/experiments/follow_report.h"
#include "service/experiments/joint_report.h"

static bool go_on(void *context, size_t done, size_t total)
{
    progress_step(context, done, total);
    return !stop_signal_raised();
}

/* What came of it, and how it went. */
static int show_study(const struct experiment_output *output, const void *study,
                      const struct experiment_places *to, enum status status, struct err *err)
{
    if (status == STATUS_OK) {
        status = experiment_output_write(output, study, to, err);
    }
    if (status != STATUS_OK) {
        csv_file_complain(err);
    }
    return status == STATUS_OK ? EXIT_FINE : EXIT_FAILED;
}

static int run_follow(const struct experiment_file *file, const struct experiment_places *to)
{
    struct follow_study study = {0};
    struct progress progress;
    struct err err = {0};
    stop_signal_install();
    progress_start(&progress, "runs");
    const enum status status = follow_study_run(file, go_on, &progress, &study, &err);
    progress_end(&progress);
    const int exit_status = show_study(&follow_output, &study, to, status, &err);
    const bool whole = study.diverged == 0 && study.runs == file->runs;
    follow_study_free(&study);
    return whole ? exit_status : EXIT_FAILED;
}

/* Nothing in it is random, so that one run says it all. */
static int run_joint(const struct joint_file *file, const struct experiment_places *to)
{
    struct joint_study study = {0};
    struct err err = {0};
    const enum status status = joint_study_run(file, &study, &err);
    const int exit_status = show_study(&joint_output, &study, to, status, &err);
    joint_study_free(&study);
    return exit_status;
}

/* An experiment of either kind; runs: in place of the file's own, when above 0. */
static int run_file(const char *path, int runs, const struct experiment_places *to)
{
    const bool joint = joint_file_is(path);
    const struct option_file *kind = joint ? &joint_file : &experiment_file;
    struct err_list errors = {0};
    int exit_status = EXIT_USAGE;
    union {
        struct joint_file joint;
        struct experiment_file follow;
    } *file = malloc(sizeof *file);
    if (!file) {
        (void)fputs("tandem: follow: not enough memory\n", stderr);
        return EXIT_FAILED;
    }
    if (option_file_load(kind, path, file, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
    } else if (joint) {
        exit_status = run_joint(&file->joint, to);
    } else {
        file->follow.runs = runs > 0 ? (uint32_t)runs : file->follow.runs;
        exit_status = run_follow(&file->follow, to);
    }
    free(file);
    return exit_status;
}

int command_follow(int argc, char **argv)
{
    struct experiment_places to = {0};
    int runs = 0;
    const struct argument rows[] = {
        {"runs", 0, ARGUMENT_INTEGER, &runs, 1, EXPERIMENT_RUNS_MAX, "N",
         "so many runs instead of the file's"},
        {"csv", 0, ARGUMENT_TEXT, &to.csv_folder, 0, 0, "DIR",
         "also write states.csv (controllers.csv), and run.csv with the first run over time"},
        {"plot", 0, ARGUMENT_TEXT, &to.plot_path, 0, 0, "FILE.svg",
         "also draw the first run (needs gnuplot)"},
        {"json", 0, ARGUMENT_FLAG, &to.json, 0, 0, NULL,
         "print one JSON document, nothing else"},
    };
    const struct arguments arguments = {
        .command = "follow",
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
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_TAKEN) {
        return exit_status;
    }
    if (argv[2]) {
        (void)fputs("tandem: follow: one experiment is wanted, see 'tandem follow --help'\n",
                    stderr);
        return EXIT_USAGE;
    }
    struct err err = {0};
    if (to.plot_path && gnuplot_check_path(to.plot_path, &err) != STATUS_OK) {
        (void)fprintf(stderr, "tandem: follow: %s\n", err.text);
        return EXIT_USAGE;
    }
    return run_file(argv[1], runs, &to);
}
