/* service/forecast/forecast_command.c - `tandem forecast`: replays a recording, then says how
 * long moves take and whether the twin may be trusted for them, or how many forecasts held. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/forecast/forecast_check.h"
#include "service/replay/replay_read.h"
#include "service/sim/mission/mission_legs.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/csv_file.h"
#include "service/tool/document_page.h"
#include "service/tool/lab_argument.h"

struct forecast_run {
    const char *lab_path, *pair, *moves_path, *mission_path, *check;
    const char *level;
    double rotation_rad, displacement_m;
    bool json;
    struct forecast_question question;
    struct lab_file file;
    struct forecast_checks *checks; /* NULL: none wanted */
    struct replay *replay;
};

/* ---- the moves of the question ---- */

static enum status read_row(void *context, const struct csv *csv, struct err *err)
{
    struct forecast_question *question = context;
    double size[2];
    static const char *const names[2] = {"rotation_rad", "displacement_m"};
    for (size_t i = 0; i < 2; i++) {
        size_t column = 0;
        enum status st = csv_require(csv, names[i], &column, err);
        st = st == STATUS_OK ? csv_number(csv, column, &size[i], err) : st;
        if (st != STATUS_OK) {
            return st;
        }
    }
    return forecast_question_add(question, size[0], size[1])
               ? STATUS_OK
               : csv_error(csv, 0, err, FAULT_OUT_OF_RANGE, "more than 256 moves");
}

static bool read_table(struct forecast_run *run)
{
    struct err err = {0};
    const struct csv_source source = {.path = run->moves_path};
    const struct csv_lines lines = {.row = read_row, .context = &run->question};
    if (csv_file_read(&source, &lines, NULL, &err) != STATUS_OK) {
        csv_file_complain(&err);
        return complain("forecast: --moves: a table with the columns rotation_rad and "
                        "displacement_m and 1 to 256 moves is wanted");
    }
    return run->question.count > 0 ||
           complain("forecast: %s: it has no moves", run->moves_path);
}

static bool add_leg(void *context, double rotation_rad, double displacement_m)
{
    return !pair_forecast_sizes(rotation_rad, displacement_m) ||
           forecast_question_add(context, rotation_rad, displacement_m);
}

static bool read_question(struct forecast_run *run)
{
    const bool move = isfinite(run->rotation_rad) || isfinite(run->displacement_m);
    const int sources = move + (run->moves_path != NULL) + (run->mission_path != NULL);
    const bool bounds = !isnan(run->question.bound_s) || !isnan(run->question.total_s);
    const size_t level = names_value(&forecast_level_names, run->level);
    if (level >= FORECAST_LEVELS) {
        return complain("forecast: --level: 0.8, 0.9 or 0.95");
    }
    run->question.level = (enum forecast_level)level;
    if (sources > 1 || (run->check && (sources > 0 || bounds))) {
        return complain("forecast: one of --rotation and --displacement, --moves, --mission "
                        "and --check is wanted");
    }
    if (bounds && sources == 0) {
        return complain("forecast: --bound and --total need moves");
    }
    if (run->moves_path) {
        return read_table(run);
    }
    if (run->mission_path) {
        return mission_legs_read("forecast", run->mission_path, add_leg, &run->question);
    }
    return !move || forecast_question_add(
                        &run->question, isfinite(run->rotation_rad) ? run->rotation_rad : 0.0,
                        isfinite(run->displacement_m) ? run->displacement_m : 0.0);
}

static bool begin_checks(struct forecast_run *run)
{
    unsigned counts[FORECAST_CHECK_COUNTS];
    size_t n = 0;
    const char *at = run->check;
    while (at && *at) {
        char *end = NULL;
        const unsigned long count = strtoul(at, &end, 10);
        if (end == at || count < 1 || count > FORECAST_SUM_MAX || n == FORECAST_CHECK_COUNTS ||
            (*end != '\0' && *end != ',')) {
            return complain("forecast: --check: up to 8 counts from 1 to 256, as 1,8");
        }
        counts[n++] = (unsigned)count;
        at = *end == ',' ? end + 1 : end;
    }
    if (run->check && n == 0) {
        return complain("forecast: --check: up to 8 counts from 1 to 256, as 1,8");
    }
    if (n > 0) {
        run->checks = forecast_checks_create(run->file.pairs, run->file.pair_count, counts, n,
                                             run->question.level);
    }
    return n == 0 || run->checks || complain("forecast: not enough memory");
}

/* ---- the replay ---- */

static void receive_effect(void *context, const struct effect *effect)
{
    struct forecast_run *run = context;
    if (run->checks) {
        forecast_checks_receive(run->checks, run->replay->lab, effect);
    }
}

static bool read_recording(struct forecast_run *run, char **paths, size_t count)
{
    struct err err = {0};
    const struct replay_input input = {
        .paths = (const char *const *)paths, .count = count, .pair = run->pair};
    if (replay_read_files(run->replay, &run->file, &input, &err) != STATUS_OK) {
        return complain_err(&err);
    }
    return replay_report_left_out(run->replay, false);
}

/* ---- answers ---- */

static bool is_asked(const struct forecast_run *run, size_t i)
{
    return run->pair ? strcmp(run->file.pairs[i].id, run->pair) == 0
                     : run->question.count == 0 || !pair_is_arm(&run->file.pairs[i]);
}

static void write_answer(const struct forecast_run *run, struct json_writer *w, size_t i)
{
    const struct pair_params *p = &run->file.pairs[i];
    const struct pair *pair = lab_pair(run->replay->lab, i);
    if (run->checks) {
        forecast_checks_write(w, p->id, run->checks, i);
    } else if (run->question.count == 0) {
        forecast_report_state(w, p->id, pair, p);
    } else if (run->moves_path || run->mission_path || !isnan(run->question.bound_s) ||
               !isnan(run->question.total_s)) {
        forecast_report_sum(w, p->id, pair, p, &run->question);
    } else {
        forecast_report_move(w, p->id, pair, p, &run->question);
    }
}

static void write_pairs(const void *what, struct json_writer *w)
{
    const struct forecast_run *run = what;
    JSON_MAP(w, "pairs", size_t i = 0; i < run->file.pair_count; i++) {
        if (is_asked(run, i)) {
            write_answer(run, w, i);
        }
    }
}

static int run_forecast(struct forecast_run *run, char **paths)
{
    const struct effects effects = {receive_effect, run};
    size_t count = 0;
    while (paths[count]) {
        count++;
    }
    if (replay_create(&run->file, &effects, &run->replay) != STATUS_OK) {
        return complain_exit(EXIT_FAILED, "forecast: not enough memory");
    }
    bool whole = read_recording(run, paths, count);
    whole = document_page_show(run->json, write_pairs, run) && whole;
    if (run->checks && !forecast_checks_whole(run->checks)) {
        whole = complain("forecast: not enough memory");
    }
    return whole ? EXIT_FINE : EXIT_FAILED;
}

/* Are the pair and the moves those of the lab? */
static bool check_pairs(const struct forecast_run *run)
{
    bool found = false;
    for (size_t i = 0; i < run->file.pair_count; i++) {
        for (size_t k = 0; is_asked(run, i) && k < run->question.count; k++) {
            const struct forecast_move *move = &run->question.moves[k];
            const char *fault =
                forecast_question_fault(&run->file.pairs[i], move->turn, move->drive);
            if (fault) {
                return complain("forecast: %s: %s", run->file.pairs[i].id, fault);
            }
        }
        found = found || is_asked(run, i);
    }
    for (size_t i = 0; found && !run->pair && i < run->file.pair_count; i++) {
        if (!is_asked(run, i)) {
            (void)complain(
                "forecast: %s is left out: it is an arm, whose moves are not known by "
                "their size",
                run->file.pairs[i].id);
        }
    }
    return found ||
           (run->pair ? complain("forecast: --pair: the lab has no such pair")
                      : complain("forecast: the lab has arms only, whose moves are not "
                                 "known by their size"));
}

static int parse_options(int argc, char **argv, struct forecast_run *run)
{
    /* clang-format off */
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &run->lab_path, 0, 0, "LAB.yaml", "the lab file (needed)"},
        {"pair", 0, ARGUMENT_TEXT, &run->pair, 0, 0, "ID", "this pair only"},
        {"rotation", 0, ARGUMENT_REAL, &run->rotation_rad, -1e6, 1e6, "RAD", "the turn of a move"},
        {"displacement", 0, ARGUMENT_REAL, &run->displacement_m, -1e9, 1e9, "M", "the drive of a move"},
        {"moves", 0, ARGUMENT_TEXT, &run->moves_path, 0, 0, "FILE.csv",
         "moves, with the columns rotation_rad and displacement_m"},
        {"mission", 0, ARGUMENT_TEXT, &run->mission_path, 0, 0, "FILE.yaml", "moves of a mission of paths"},
        {"bound", 0, ARGUMENT_REAL, &run->question.bound_s, 1e-6, 1e9, "S",
         "may the twin be trusted: is each lag within +-S?"},
        {"total", 0, ARGUMENT_REAL, &run->question.total_s, 1e-6, 1e9, "S", "the same for the sum of the lags"},
        {"level", 0, ARGUMENT_TEXT, &run->level, 0, 0, "0.8|0.9|0.95", "level of the intervals (0.95)"},
        {"check", 0, ARGUMENT_TEXT, &run->check, 0, 0, "COUNT,...",
         "how many forecasts of missions of COUNT moves held"},
        {"json", 0, ARGUMENT_FLAG, &run->json, 0, 0, NULL, "one JSON document"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "forecast",
        .operands = "JOURNAL...",
        .description =
            "  Replays a recording, then predicts how long moves take from its end on: real "
            "lap,\n"
            "  virtual lap and lag, each with an interval that held lately. Without moves it\n"
            "  prints the state of the forecasts. With --bound or --total it says whether the\n"
            "  twin may be trusted for the moves: yes, no or not known, and why.\n"
            "\n"
            "  --check predicts the next COUNT moves before each move of the recording, and\n"
            "  compares with what came. Its coverage is the measure of all other answers.\n",
        .examples =
            "  tandem forecast -c lab.yaml --rotation 1.57 --displacement 0.3 journal/\n"
            "  tandem forecast -c lab.yaml --moves moves.csv --bound 0.05 journal/\n"
            "  tandem forecast -c lab.yaml --check 1,8 journal/\n",
        .exit_status = "a file cannot be read",
        ARGUMENT_ROWS(rows)};
    return arguments_parse(&arguments, argc, argv);
}

int command_forecast(int argc, char **argv)
{
    struct forecast_run *run = calloc(1, sizeof *run);
    if (!run) {
        return complain_exit(EXIT_FAILED, "forecast: not enough memory");
    }
    forecast_question_start(&run->question);
    run->level = "0.95";
    run->rotation_rad = run->displacement_m = (double)NAN;
    int exit_status = parse_options(argc, argv, run);
    if (exit_status == ARGUMENTS_PARSED) {
        exit_status = EXIT_USAGE;
        if (!argv[1]) {
            complain("forecast: no JOURNAL is given");
        } else if (lab_argument_load("forecast", run->lab_path, &run->file)) {
            if (read_question(run) && check_pairs(run) && begin_checks(run)) {
                exit_status = run_forecast(run, argv + 1);
            }
            forecast_checks_destroy(run->checks);
            replay_destroy(run->replay);
            lab_file_free(&run->file);
        }
    }
    free(run);
    return exit_status;
}
