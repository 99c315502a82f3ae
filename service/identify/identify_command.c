/* tandem identify - fits a model to recorded data. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "service/cli/arguments.h"
#include "service/cli/commands.h"
#include "service/cli/csv_file.h"
#include "service/cli/progress.h"
#include "service/cli/stop_signal.h"
#include "service/identify/identify.h"

static const char purpose[] =
    "  Fits a model to recorded data and says how far the numbers may be trusted: standard\n"
    "  errors, 95 % intervals, which terms the data determine and which recording is missing.\n"
    "  Several files are fitted together; '-' is standard input.\n"
    "\n"
    "  Tables are CSV with a header line, SI units, decimal points. A unit in brackets is "
    "part\n"
    "  of a column's name: lap1[s] is lap1_s. Lines that begin with '#' are remarks. Models "
    "of\n"
    "  motion also take journals, as `mosquitto_sub -F %J` and the daemon write them: the\n"
    "  telemetry of one robot, with nu[0], nu[1] ... and tau[0] ... in the order of the\n"
    "  model's axes.\n";

static const char examples[] =
    "  tandem identify --model usv3 --validate day2.csv --plot day1.svg day1.csv\n"
    "  tandem identify --model usv3 --pair r1 --side virtual --current used.json log.jsonl\n";

struct wishes {
    const char *model, *columns;
    double delay_max_s;
    struct argument_list validate;
    const char *held_out[IDENTIFY_HELD_OUT_MAX];
    struct identify_request request;
};

static int complain(const char *what, const char *subject, const char *right)
{
    (void)fprintf(stderr, "tandem: identify: %s '%s', %s\n", what, subject, right);
    return EXIT_USAGE;
}

static int answer(enum status st, const struct err *err)
{
    if (st == STATUS_E_ARG) {
        (void)fprintf(stderr, "tandem: identify: %s\n", err->text);
        return EXIT_USAGE;
    }
    if (st != STATUS_OK) {
        csv_file_complain(err);
        return EXIT_FAILED;
    }
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
}

static bool show(void *context, const char *stage, double share)
{
    struct progress *progress = context;
    progress->what = stage;
    progress_step(progress, (uint64_t)(1000.0 * share), 1000);
    return !stop_signal_raised();
}

static int run_model(const char *name, struct identify_request *request)
{
    const struct model_row *row = name ? model_row_find(name) : NULL;
    struct progress progress;
    struct err err = {0};
    if (!name) {
        (void)fputs("tandem: identify: which model? --model NAME, see "
                    "'tandem identify --help'\n",
                    stderr);
        return EXIT_USAGE;
    }
    if (!row) {
        return complain("unknown model", name, "'tandem identify --help' lists them");
    }
    enum status st = identify_check(row, request, &err);
    if (st == STATUS_OK) {
        stop_signal_install();
        progress_start(&progress, "reading");
        request->go_on = show;
        request->context = &progress;
        st = identify_run(row, request, stdout, &err);
        progress_end(&progress);
    }
    return answer(st, &err);
}

/* The page of help: the models tell their part. NULL: no memory. */
static char *describe(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to) {
        return NULL;
    }
    (void)fputs(purpose, to);
    for (size_t i = 0; i < model_row_count; i++) {
        (void)fprintf(to, "\nmodel %s\n%s", model_rows[i]->name, model_rows[i]->help);
    }
    return fclose(to) == 0 ? text : NULL;
}

static bool take_words(int argc, char **argv, struct wishes *w, int *first, int *code)
{
    struct identify_request *r = &w->request;
    /* clang-format off */
    const struct argument rows[] = {
        {"model", 'm', ARGUMENT_TEXT, &w->model, 0, 0, "NAME", "what to fit, see above (needed)"},
        {"method", 0, ARGUMENT_TEXT, &r->method, 0, 0, "METHOD", "how to fit; each model has its own (auto)"},
        {"columns", 0, ARGUMENT_TEXT, &w->columns, 0, 0, "ROLE=NAME,...", "columns to read, where they are not called as the roles"},
        {"side", 0, ARGUMENT_TEXT, &r->side, 0, 0, "real|virtual", "whose laps or telemetry to take where there are both (real)"},
        {"journal", 0, ARGUMENT_FLAG, &r->journal, 0, 0, NULL, "files are journals; else seen from what they begin with"},
        {"pair", 0, ARGUMENT_TEXT, &r->pair, 0, 0, "ID", "whose telemetry, where a journal has several"},
        {"validate", 0, ARGUMENT_LIST, &w->validate, 0, 0, "FILE", "also predict this recording, which takes no part in the fit; may be given several times"},
        {"biases", 0, ARGUMENT_FLAG, &r->biases, 0, 0, NULL, "also fit a constant effort per axis (motion)"},
        {"delay-max", 0, ARGUMENT_REAL, &w->delay_max_s, 0, 10, "S", "longest delay from effort to velocity to look for, up to 10, 0 for none (by the recording; motion)"},
        {"robust", 0, ARGUMENT_FLAG, &r->robust, 0, 0, NULL, "look past samples that lie far from what the others say, and count them (motion)"},
        {"ridge", 0, ARGUMENT_REAL, &r->ridge, 0, 1e6, "SHARE", "draw estimates of linear methods to zero, by this share of each column's square (0; motion)"},
        {"heading-m", 0, ARGUMENT_REAL, &r->heading_m, 0, 100, "M", "weigh a radian of heading like so many metres of position; 0: by the spread of what is left (odometry)"},
        {"current", 0, ARGUMENT_TEXT, &r->current, 0, 0, "SET", "compare with the parameters in use: NAME=VALUE,... by name or symbol, delay_s too, or a JSON file with \"values\" as --json prints (motion)"},
        {"plot", 0, ARGUMENT_TEXT, &r->plot, 0, 0, "FILE.svg", "draw measured against simulated, and what is left, as SVG; needs gnuplot (motion)"},
        {"json", 0, ARGUMENT_FLAG, &r->json, 0, 0, NULL, "print the result as one JSON document and nothing else"},
    };
    /* clang-format on */
    char *description = describe();
    const struct arguments arguments = {
        .command = "identify",
        .operands = "FILE...",
        .description = description ? description : purpose,
        .examples = examples,
        .exit_status = "the data cannot be read, or the fit was cancelled; read the verdict",
        .rows = rows,
        .row_count = COUNT(rows)};
    const bool goes_on = arguments_parse(&arguments, argc, argv, first, code);
    free(description);
    return goes_on;
}

static int identify(int argc, char **argv, struct identify_input *files)
{
    struct wishes w = {.delay_max_s = -1.0, .request = {.side = "real", .files = files}};
    struct err err = {0};
    int code = EXIT_USAGE;
    int first = 0;
    w.validate = (struct argument_list){.room = IDENTIFY_HELD_OUT_MAX, .texts = w.held_out};
    if (!take_words(argc, argv, &w, &first, &code)) {
        return code;
    }
    for (; first < argc && argv[first]; first++) {
        files[w.request.file_count++].path = argv[first];
    }
    for (size_t i = 0; i < w.validate.count; i++) {
        w.request.validate[w.request.validate_count++].path = w.held_out[i];
    }
    w.request.delay_max_s = w.delay_max_s >= 0.0 ? &w.delay_max_s : NULL;
    const enum status st =
        w.columns ? identify_take_columns(w.columns, &w.request, &err) : STATUS_OK;
    return st == STATUS_OK ? run_model(w.model, &w.request) : answer(st, &err);
}

/* Columns that were given back are used again instead of asking for fresh pages, which takes a
 * twentieth of the time of a long recording. */
static void keep_memory(void)
{
    enum { COLUMN_BYTES = 32 << 20, FREE_BYTES = 1 << 30 }; /* glibc takes no larger column */
    (void)mallopt(M_MMAP_THRESHOLD, COLUMN_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, FREE_BYTES);
}

int command_identify(int argc, char **argv)
{
    keep_memory();
    struct identify_input *files = calloc((size_t)argc + 1, sizeof *files);
    if (!files) {
        (void)fputs("tandem: identify: no memory\n", stderr);
        return EXIT_FAILED;
    }
    const int code = identify(argc, argv, files);
    free(files);
    return code;
}
