/* service/identify/identify_command.c - tandem identify: fits a model to recorded data. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors/status.h"
#include "service/bag/bag_rows.h"
#include "service/identify/identify.h"
#include "service/identify/identify_request.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/csv_file.h"
#include "service/tool/lab_argument.h"
#include "service/tool/progress.h"
#include "service/tool/stop_signal.h"

static const char purpose[] =
    "  Fits a model to recorded data and says how far the numbers may be trusted: standard\n"
    "  errors, 95 % intervals, which terms the data determine and which recording is missing.\n"
    "  Several files are fitted together; '-' is standard input.\n"
    "\n"
    "  Tables are CSV with a header line, SI units, decimal points. A unit in brackets is "
    "part\n"
    "  of a column's name: lap1[s] is lap1_s. Columns of other names and units are given by\n"
    "  --columns: t=stamp:ns,theta=yaw:deg with s ms us ns, m cm mm, rad deg turn and\n"
    "  iso8601, which are per second of a speed; --columns @FILE reads them from a file, a\n"
    "  line each. Lines that begin with '#' are remarks. Models "
    "of\n"
    "  motion also take journals, as `mosquitto_sub -F %J` and the daemon write them: the\n"
    "  telemetry of one robot, with nu[0], nu[1] ... and tau[0] ... in the order of the\n"
    "  model's axes.\n"
    "\n"
    "  ROS 2 bags (MCAP, .db3) are read, too: Twist and Odometry by type, other values by\n"
    "  their paths: --columns velocity=/joint_states.velocity[elbow].\n";

static const char examples[] =
    "  tandem identify --model usv3 --validate day2.csv --plot day1.svg day1.csv\n"
    "  tandem identify --list walk.mcap\n"
    "  tandem identify --model diffdrive --topics command=/cmd_vel,motion=/odom walk.mcap\n"
    "  tandem identify --model usv3 --pair r1 --side virtual --reference used.json log.jsonl\n";

static int report_status(enum status st, const struct err *err)
{
    if (st == STATUS_E_ARG && err->line == 0) {
        return complain_exit(EXIT_USAGE, "identify: %s", err->text);
    }
    if (st != STATUS_OK) {
        csv_file_complain(err);
        return st == STATUS_E_ARG ? EXIT_USAGE : EXIT_FAILED;
    }
    return EXIT_FINE;
}

static bool show_progress(void *context, const char *stage, double share)
{
    struct progress *progress = context;
    progress->what = stage;
    progress_step(progress, (uint64_t)(1000.0 * share), 1000);
    return !stop_signal_raised();
}

static int refuse_model(const char *name)
{
    char guess[EDIT_GUESS_MAX];
    return complain_exit(EXIT_USAGE,
                         "identify: unknown model '%s'%s, 'tandem identify --help' lists them",
                         name, model_row_guess(name, guess));
}

/* Does the model read this quantity from a column that bags have by type, and --columns not? */
static bool needs_topic(const struct model_row *row, const struct identify_request *request,
                        bool command)
{
    if (row->data == MODEL_OF_WHEELS) {
        return !command && !column_map_find(&request->columns, "x");
    }
    if (row->data != MODEL_OF_MOTION) {
        return false;
    }
    const struct model_axis *axis = &row->model->axes[0];
    const char *role = row->roles[command ? 1 : 1 + row->model->axis_count];
    return strcmp(command ? axis->effort : axis->velocity, command ? "v_cmd_mps" : "v_mps") ==
               0 &&
           !column_map_find(&request->columns, role);
}

static enum status load_bags(const struct model_row *row, struct identify_request *request,
                             struct csv_source *files, struct err *err)
{
    const struct bag_request bags = {.columns = &request->columns,
                                     .topics = request->topics,
                                     .clock = request->clock,
                                     .command_timeout_s = request->command_timeout_s,
                                     .needs_command = needs_topic(row, request, true),
                                     .needs_motion = needs_topic(row, request, false)};
    const enum status st = bag_rows_load(&bags, files, request->file_count, err);
    return st == STATUS_OK
               ? bag_rows_load(&bags, request->validate, request->validate_count, err)
               : st;
}

static int run_model(struct identify_request *request, struct csv_source *files)
{
    if (request->model && !model_argument_load("identify", &request->model)) {
        return EXIT_USAGE;
    }
    const char *name = request->model;
    const struct model_row *row = name ? model_row_find(name) : NULL;
    struct progress progress;
    struct err err = {0};
    unsigned outcome = 0;
    unsigned fail_if = 0;
    if (!name) {
        return complain_exit(
            EXIT_USAGE, "identify: which model? --model NAME, see 'tandem identify --help'");
    }
    if (!row) {
        return refuse_model(name);
    }
    enum status st = identify_check(row, request, &err);
    st = st == STATUS_OK ? load_bags(row, request, files, &err) : st;
    if (st == STATUS_OK) {
        stop_signal_install();
        progress_start(&progress, "reading");
        request->caller = (struct identify_caller){&outcome, show_progress, &progress};
        st = identify_run(row, request, stdout, &err);
        progress_end(&progress);
    }
    st = st == STATUS_OK ? identify_fail_if(request, &fail_if, &err) : st;
    const int code = report_status(st, &err);
    return code == EXIT_FINE && (outcome & fail_if) ? EXIT_AS_ASKED : code;
}

/* Formats the help page, to which each model contributes, or the part of one model. NULL: no
 * memory. */
static char *describe_models(const struct model_row *only)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to) {
        return NULL;
    }
    (void)fputs(only ? "" : purpose, to);
    for (size_t i = 0; i < model_row_count; i++) {
        if (!only || only == model_rows[i]) {
            (void)fprintf(to, "%smodel %s\n%s", only ? "" : "\n", model_rows[i]->name,
                          model_rows[i]->help);
        }
    }
    return fclose(to) == 0 ? text : NULL;
}

static int parse_words(int argc, char **argv, struct identify_request *request)
{
    struct argument rows[IDENTIFY_OPTIONS_MAX];
    const struct model_row *only = NULL;
    if (argc > 2 && strcmp(argv[1], "--help") == 0 && argv[2][0] != '-') {
        only = model_row_find(argv[2]);
        if (!only) {
            return refuse_model(argv[2]);
        }
    }
    const size_t count =
        identify_options_arguments(request, only ? 1U << only->data : UINT_MAX, rows);
    char *description = describe_models(only);
    const struct arguments arguments = {
        .command = "identify",
        .purpose = only ? only->words : NULL,
        .operands = "FILE...",
        .description = description ? description : purpose,
        .examples = only ? NULL : examples,
        .exit_status = "the data cannot be read, or the fit was cancelled",
        .exit_as_asked = "what --fail-if names; without it, read the verdict",
        .rows = rows,
        .row_count = count,
        .words = &(const struct argument_words){"model", model_argument_name},
        .word_count = 1};
    const int code = arguments_parse(&arguments, argc, argv);
    free(description);
    return code;
}

static int identify_files(int argc, char **argv, struct csv_source *files)
{
    const char *held_out[IDENTIFY_HELD_OUT_MAX];
    struct identify_request request = identify_request_defaults();
    struct err err = {0};
    request.held_out = (struct argument_list){.room = IDENTIFY_HELD_OUT_MAX, .texts = held_out};
    request.files = files;
    const int code = parse_words(argc, argv, &request);
    if (code != ARGUMENTS_PARSED) {
        return code;
    }
    for (char **word = argv + 1; *word; word++) {
        files[request.file_count++].path = *word;
    }
    for (size_t i = 0; i < request.held_out.count; i++) {
        request.validate[request.validate_count++].path = held_out[i];
    }
    const enum status st = request.column_words ? column_map_read(request.column_words, true,
                                                                  &request.columns, &err)
                                                : STATUS_OK;
    if (st == STATUS_OK && request.list) {
        return report_status(bag_rows_list(files, request.file_count, stdout, &err), &err);
    }
    const int done = st == STATUS_OK ? run_model(&request, files) : report_status(st, &err);
    bag_rows_free(files, request.file_count);
    bag_rows_free(request.validate, request.validate_count);
    return done;
}

int command_identify(int argc, char **argv)
{
    struct csv_source *files = calloc((size_t)argc + 1, sizeof *files);
    if (!files) {
        return complain_exit(EXIT_FAILED, "identify: no memory");
    }
    const int code = identify_files(argc, argv, files);
    free(files);
    return code;
}
