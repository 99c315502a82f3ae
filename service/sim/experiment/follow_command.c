/* service/sim/experiment/follow_command.c - tandem follow: runs an experiment offline. */
#include <stdio.h>
#include <string.h>

#include "config/options/option_file.h"
#include "service/sim/experiment/arm_study.h"
#include "service/sim/experiment/follow_study.h"
#include "service/sim/experiment/joint_study.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/csv_file.h"
#include "service/tool/document_page.h"
#include "service/tool/lab_argument.h"
#include "service/tool/progress.h"
#include "service/tool/stop_signal.h"

static bool go_on(void *context, size_t done, size_t total)
{
    progress_step(context, done, total);
    return !stop_signal_raised();
}

/* Destinations of the output. */
struct places {
    bool json;              /* one line on stdout instead of the page */
    const char *csv_folder; /* NULL: no tables; a missing folder is created */
    const char *plot_path;  /* NULL: no plot */
};

/* Writes the results. */
static int show_study(const struct experiment_output *output, const void *study,
                      const struct places *to, enum status status, struct err *err)
{
    if (status == STATUS_OK && !document_page_show(to->json, output->members, study)) {
        return EXIT_FAILED;
    }
    if (status == STATUS_OK && to->csv_folder) {
        status =
            csv_tables_write(to->csv_folder, output->tables, output->table_count, study, err);
    }
    if (status == STATUS_OK && to->plot_path) {
        status = gnuplot_draw(output->script, study, to->plot_path, err);
    }
    if (status != STATUS_OK) {
        csv_file_complain(err);
    }
    return status == STATUS_OK ? EXIT_FINE : EXIT_FAILED;
}

static int run_follow(const struct experiment_file *file, const struct places *to)
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

/* Nothing in it is random, so one run is enough. */
static int run_joint(const struct joint_file *file, const struct places *to)
{
    struct joint_study study = {0};
    struct err err = {0};
    const enum status status = joint_study_run(file, &study, &err);
    const int exit_status = show_study(&joint_output, &study, to, status, &err);
    joint_study_free(&study);
    return exit_status;
}

/* An arm's only randomness is lost samples, which its seed decides. */
static int run_arm(struct arm_file *file, const char *recording, const struct places *to)
{
    struct arm_study study = {0};
    struct err err = {0};
    if (recording) {
        (void)snprintf(file->recording_path, sizeof file->recording_path, "%s", recording);
    }
    const enum status status = arm_study_run(file, &study, &err);
    const int exit_status = show_study(&arm_output, &study, to, status, &err);
    arm_study_free(&study);
    return exit_status;
}

/* Options that replace a value of the file, or that it needs; 0 or NULL: not given. */
struct replacements {
    int runs;
    const char *recording;
    const char *model; /* its name */
};

/* An option without effect is a mistake of whoever gives it. */
static bool refuse_idle(const char *path, const struct any_experiment *file,
                        const struct replacements *own)
{
    const struct {
        const char *option;
        bool given;
        enum experiment_kind kind;
    } rows[] = {{"--recording", own->recording != NULL, EXPERIMENT_ARM},
                {"--runs", own->runs > 0, EXPERIMENT_FOLLOW},
                {"--model", own->model != NULL, EXPERIMENT_FOLLOW}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].given && file->kind != rows[i].kind) {
            (void)complain("follow: %s is for experiments of kind %s; %s is of kind %s",
                           rows[i].option, experiment_kind_name(rows[i].kind), path,
                           experiment_kind_name(file->kind));
            return true;
        }
    }
    if (own->model && strcmp(own->model, file->follow.model->name) != 0) {
        (void)complain("follow: --model is the model %s, but %s names %s; 'model: %s' "
                       "in it was expected",
                       own->model, path, file->follow.model->name, own->model);
        return true;
    }
    return false;
}

static int run_file(const char *path, const struct replacements *own, const struct places *to)
{
    struct any_experiment file = {0};
    struct err_list errors = {0};
    if (option_file_load(&any_experiment_file, path, &file, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return EXIT_USAGE;
    }
    if (refuse_idle(path, &file, own)) {
        return EXIT_USAGE;
    }
    if (file.kind == EXPERIMENT_JOINT) {
        return run_joint(&file.of_joint, to);
    }
    if (file.kind == EXPERIMENT_ARM) {
        return run_arm(&file.of_arm, own->recording, to);
    }
    file.follow.runs = own->runs > 0 ? (uint32_t)own->runs : file.follow.runs;
    return run_follow(&file.follow, to);
}

int command_follow(int argc, char **argv)
{
    struct places to = {0};
    struct replacements own = {0};
    const struct argument rows[] = {
        {"model", 0, ARGUMENT_TEXT, &own.model, 0, 0, "FILE.yaml",
         "of kind follow: a model from a file, which the experiment names"},
        {"runs", 0, ARGUMENT_INTEGER, &own.runs, 1, EXPERIMENT_RUNS_MAX, "N",
         "of kind follow: number of runs instead of the file's"},
        {"recording", 0, ARGUMENT_TEXT, &own.recording, 0, 0, "FILE.csv",
         "of kind arm: a real arm's motion, in place of the file's own"},
        {"csv", 0, ARGUMENT_TEXT, &to.csv_folder, 0, 0, "DIR",
         "also write states.csv (controllers.csv, telemetry.csv), and run.csv with the first "
         "run "
         "over time"},
        {"plot", 0, ARGUMENT_TEXT, &to.plot_path, 0, 0, "FILE.svg",
         "also draw the first run (needs gnuplot)"},
        {"json", 0, ARGUMENT_FLAG, &to.json, 0, 0, NULL,
         "print one JSON document, nothing else"},
    };
    const struct arguments arguments = {
        .command = "follow",
        .operands = "EXPERIMENT.yaml",
        .description =
            "  Simulates a reference robot and a second one that is driven so that it moves\n"
            "  alike, by the model identified for it, as often as the experiment says, each\n"
            "  time with other true parameters within their intervals. Prints how closely it\n"
            "  followed, state by state, next to published results. Experiments of kind joint\n"
            "  compare position controllers of a servo joint; nothing is random there,\n"
            "  one run says it all. Those of kind arm show how far a virtual arm is from a "
            "real\n"
            "  one whose telemetry is late. Experiments that come with tandem: "
            "config/experiments.\n",
        .examples = "  tandem follow config/experiments/table7.yaml\n"
                    "  tandem follow config/experiments/shadow.yaml --json\n"
                    "  tandem follow config/experiments/joint.yaml\n"
                    "  tandem follow config/experiments/arm.yaml --recording ur5.csv\n",
        .exit_status = "the experiment cannot be run, or the robot was lost in a run",
        ARGUMENT_ROWS(rows),
    };
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    struct err err = {0};
    if (to.plot_path && gnuplot_check_path(to.plot_path, &err) != STATUS_OK) {
        return complain_exit(EXIT_USAGE, "follow: %s", err.text);
    }
    if (own.model && !model_argument_load("follow", &own.model)) {
        return EXIT_USAGE;
    }
    return run_file(argv[1], &own, &to);
}
