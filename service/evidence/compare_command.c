/* service/evidence/compare_command.c - `tandem compare`: what differs between two recordings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/evidence/compare_plot.h"
#include "service/evidence/compare_print.h"
#include "service/evidence/condition.h"
#include "service/evidence/split.h"
#include "service/evidence/two_recordings.h"
#include "service/tool/arguments.h"
#include "service/tool/array.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"

enum { CONDITIONS_MAX = 64 };

/* The confidence of a whole comparison; conditions share what is missing. */
#define CONFIDENCE 0.95

struct left_out {
    const char *id;
    struct err why;
};

struct run {
    struct two_recordings two;
    const char *pair, *match, *split_text, *plot;
    bool all, json;
    struct split split;
    enum alignment_rule request;
    struct condition conditions[CONDITIONS_MAX];
    size_t condition_count;
    struct json_writer w;
    struct left_out *left_out; /* [left_out_count] pairs that --split could not divide */
    size_t left_out_count, left_out_room;
    bool failed; /* a condition */
};

/* ---- one pair -----------------------------------------------------------------------------
 */

static enum status load_pair(struct run *run, const struct common_pair *pair,
                             struct recorded_pair *a, struct recorded_pair *b, struct err *err)
{
    enum status status = recording_load(run->two.in[0], pair->a, a, err);
    if (status == STATUS_OK && run->split.kind != SPLIT_NOT) {
        struct recorded_pair whole = *a;
        status = split_pair(&whole, pair->id, &run->split, a, b, err);
        recorded_pair_free(&whole);
    } else if (status == STATUS_OK) {
        status = recording_load(run->two.in[1], pair->b, b, err);
    }
    return status;
}

static enum status judge_pair(struct run *run, const char *id, const struct recorded_pair *a,
                              const struct recorded_pair *b, const struct comparison *c)
{
    struct comparison strict = *c;
    const double tests = (double)(run->condition_count * run->two.count);
    if (run->condition_count == 0) {
        return STATUS_OK;
    }
    const enum status status =
        comparison_estimate(a, b, 1.0 - (1.0 - CONFIDENCE) / tests, &strict);
    for (size_t i = 0; i < run->condition_count && status == STATUS_OK; i++) {
        const struct condition *condition = &run->conditions[i];
        const enum condition_result result = condition_judge(condition, &strict);
        (void)fprintf(stderr, "%-11s %s  %s\n", condition_result_name(result), id,
                      condition->text);
        run->failed = run->failed || result == CONDITION_FAILED;
    }
    return status;
}

static enum status compare_loaded(struct run *run, const char *id,
                                  const struct recorded_pair *a, const struct recorded_pair *b,
                                  struct err *err)
{
    struct comparison c;
    if (comparison_make(a, b, run->request, CONFIDENCE, &c) != STATUS_OK) {
        return err_no_memory(err, id, "out of memory");
    }
    if (run->json) {
        compare_print_json(&run->w, id, a, b, &c);
    } else {
        compare_print_text(id, a, b, &c, run->all, stdout);
    }
    enum status status = judge_pair(run, id, a, b, &c);
    status = status == STATUS_OK ? STATUS_OK : err_no_memory(err, id, "out of memory");
    if (status == STATUS_OK && run->plot) {
        status = compare_plot(run->plot, id, a, b, &c, err);
    }
    comparison_free(&c);
    return status;
}

/* A pair that is not compared proves nothing. */
static void fail_needs(struct run *run, const char *id)
{
    for (size_t i = 0; i < run->condition_count; i++) {
        if (run->conditions[i].needed) {
            (void)fprintf(stderr, "%-11s %s  %s\n", condition_result_name(CONDITION_FAILED), id,
                          run->conditions[i].text);
            run->failed = true;
        }
    }
}

/* Leaves out a pair that has nothing to split at. */
static enum status leave_out(struct run *run, const char *id, struct err *err)
{
    const struct left_out pair = {id, *err};
    if (!array_append((void **)&run->left_out, &run->left_out_count, &run->left_out_room, &pair,
                      sizeof pair)) {
        return err_no_memory(err, id, "out of memory");
    }
    *err = (struct err){0};
    fail_needs(run, id);
    return STATUS_OK;
}

static enum status compare_pair(struct run *run, const struct common_pair *pair,
                                struct err *err)
{
    struct recorded_pair a = {0};
    struct recorded_pair b = {0};
    enum status status = load_pair(run, pair, &a, &b, err);
    status = status == STATUS_OK ? compare_loaded(run, pair->id, &a, &b, err) : status;
    recorded_pair_free(&a);
    recorded_pair_free(&b);
    return status == STATUS_E_EMPTY ? leave_out(run, pair->id, err) : status;
}

/* ---- all pairs ----------------------------------------------------------------------------
 */

/* Lists the pairs that only one recording has. */
static void write_only(struct run *run, const char *key, size_t which)
{
    const struct recording *mine = run->two.in[which];
    const struct recording *other = run->two.in[1 - which];
    bool open = false;
    for (size_t i = 0; i < recording_pair_count(mine) && !run->pair; i++) {
        const char *id = recording_pair_id(mine, i);
        if (recording_find_pair(other, id) == recording_pair_count(other)) {
            if (!open) {
                json_write_array(&run->w, key);
            }
            open = true;
            json_write_text(&run->w, NULL, id);
        }
    }
    if (open) {
        json_write_close(&run->w);
    }
}

static enum status compare_all(struct run *run, struct err *err)
{
    char buffer[65536];
    enum status status = STATUS_OK;
    if (run->json) {
        json_write_start(&run->w, buffer, sizeof buffer, json_file_flush, stdout);
        JSON_OPEN(&run->w, NULL, JSON("a", two_recordings_name(&run->two, 0)),
                  JSON("b", two_recordings_name(&run->two, 1)),
                  JSON_IF(run->split_text, JSON("split", run->split_text)));
        json_write_object(&run->w, "pairs");
    }
    for (size_t i = 0; i < run->two.count && status == STATUS_OK; i++) {
        status = compare_pair(run, &run->two.pairs[i], err);
    }
    if (run->json) {
        json_write_close(&run->w);
        write_only(run, "only_a", 0);
        write_only(run, "only_b", 1);
        if (run->left_out_count > 0) {
            JSON_MAP(&run->w, "left_out", size_t i = 0; i < run->left_out_count; i++) {
                json_write_text(&run->w, run->left_out[i].id, run->left_out[i].why.text);
            }
        }
        json_write_close(&run->w);
        (void)json_write_end(&run->w);
        (void)fputc('\n', stdout);
    }
    return status;
}

/* Beside pairs that were compared, the others are part of the result. */
static void report_left_out(const struct run *run)
{
    const bool any = run->left_out_count < run->two.count;
    for (size_t i = 0; i < run->left_out_count; i++) {
        const struct left_out *pair = &run->left_out[i];
        if (!any) {
            (void)complain("%s: %s", pair->why.where, pair->why.text);
        } else if (!run->json) {
            (void)printf("%s: left out: %s\n", pair->id, pair->why.text);
        }
    }
    if (any && run->left_out_count > 0) {
        (void)complain("--split: %zu of %zu pairs left out", run->left_out_count,
                       run->two.count);
    }
}

static int run_compare(struct run *run)
{
    struct err err = {0};
    if (run->plot && run->two.count > 1) {
        return complain_exit(EXIT_USAGE,
                             "--plot draws one pair, %zu are in both: name it by --pair",
                             run->two.count);
    }
    if (run->two.count == 0) {
        fail_needs(run, "no command");
    }
    if (compare_all(run, &err) != STATUS_OK) {
        complain_err(&err);
        return EXIT_FAILED;
    }
    report_left_out(run);
    return run->failed ? EXIT_AS_ASKED : run->left_out_count > 0 ? EXIT_FAILED : EXIT_FINE;
}

/* ---- the command --------------------------------------------------------------------------
 */

static bool parse_conditions(struct run *run, const struct argument_list *list, bool needed)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!condition_parse(list->texts[i], needed, &run->conditions[run->condition_count])) {
            return false;
        }
        run->condition_count++;
    }
    return true;
}

/* One operand is enough with --split, or with two lab files. */
static bool set_paths(struct run *run, char **paths, size_t labs)
{
    size_t count = 0;
    while (paths[count]) {
        count++;
    }
    const bool alone = run->split_text || labs == 2;
    if (count != (alone && count < 2 ? 1 : 2) || (run->split_text && (count > 1 || labs > 1))) {
        return complain("compare needs A and B, or one recording with --split or with two lab "
                        "files, see 'tandem compare --help'");
    }
    run->two.path[0] = paths[0];
    run->two.path[1] = run->split_text ? NULL : count == 2 ? paths[1] : paths[0];
    return true;
}

/* clang-format off */
static const char description[] =
    "  A and B are recordings as `tandem replay` reads them, or its JSON documents, which\n"
    "  need no lab file. Commands are matched by time and id, by id, or by the longest\n"
    "  common sequence of equal commands. Differences are B less A, with intervals of\n"
    "  95 % each. Rows without a difference are not printed.\n"
    "\n"
    "  COND is NAME<NUMBER or NAME>NUMBER in SI units, unlike the words of `identify\n"
    "  --fail-if`. Names: lag_s, abs_lag_s, real_lap_s, virtual_lap_s, sync_share,\n"
    "  verdicts.NAME, alarms.TYPE, real.TERM, virtual.TERM (speeds: ratios). It is\n"
    "  proved if the whole interval lies beyond NUMBER. With m conditions times pairs\n"
    "  each interval has the level 1 - 0.05 / m, so that all hold together. The results\n"
    "  are on standard error: fail, ok or cannot tell.\n";
/* clang-format on */

static int parse_options(struct run *run, int argc, char **argv, struct argument_list *labs)
{
    const char *fail_texts[CONDITIONS_MAX / 2];
    const char *need_texts[CONDITIONS_MAX / 2];
    struct argument_list fail_if = {.room = COUNT(fail_texts), .texts = fail_texts};
    struct argument_list need = {.room = COUNT(need_texts), .texts = need_texts};
    /* clang-format off */
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_LIST, labs, 0, 0, "LAB.yaml", "the lab file of journals; twice: of A, and of B"},
        {"pair", 0, ARGUMENT_TEXT, &run->pair, 0, 0, "ID[=ID]",
         "only this pair; with =: A's pair against another one of B"},
        {"match", 0, ARGUMENT_TEXT, &run->match, 0, 0, "auto|id|sequence|none",
         "how commands of A and B are matched (auto)"},
        {"split", 0, ARGUMENT_TEXT, &run->split_text, 0, 0, "change:N, entry:N, [SIDE_]version:TEXT or a time",
         "compare one recording before and after this, or a version with the one before"},
        {"fail-if", 0, ARGUMENT_LIST, &fail_if, 0, 0, "COND",
         "exit with 3 if this is proved, such as 'abs_lag_s>0.01'"},
        {"need", 0, ARGUMENT_LIST, &need, 0, 0, "COND", "exit with 3 unless this is proved"},
        {"all", 0, ARGUMENT_FLAG, &run->all, 0, 0, NULL, "print rows without a difference as well"},
        {"json", 0, ARGUMENT_FLAG, &run->json, 0, 0, NULL, "one JSON document"},
        {"plot", 0, ARGUMENT_TEXT, &run->plot, 0, 0, "FILE.svg", "draw the lags of one pair"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "compare",
        .operands = "A [B]",
        .description = description,
        .examples = "  tandem compare -c lab.yaml yesterday.jsonl today.jsonl\n"
                    "  tandem compare -c old.yaml -c new.yaml lab.jsonl\n"
                    "  tandem compare -c lab.yaml --split change:3 lab.jsonl\n"
                    "  tandem compare A.json B.json --fail-if 'abs_lag_s>0.01'\n",
        .exit_status = "a file could not be read or written, no pair is in both, or --split "
                       "left a pair out",
        .exit_as_asked = "what --fail-if names is proved, or what --need names is not",
        ARGUMENT_ROWS(rows)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    run->request = (enum alignment_rule)names_value(&alignment_rule_names, run->match);
    return parse_conditions(run, &fail_if, false) && parse_conditions(run, &need, true) &&
                   (!run->split_text || split_parse(run->split_text, &run->split)) &&
                   set_paths(run, argv + 1, labs->count)
               ? ARGUMENTS_PARSED
               : EXIT_USAGE;
}

int command_compare(int argc, char **argv)
{
    static struct run run;
    const char *lab_paths[2];
    struct argument_list labs = {.room = COUNT(lab_paths), .texts = lab_paths};
    run = (struct run){.match = "auto"};
    int status = parse_options(&run, argc, argv, &labs);
    if (status != ARGUMENTS_PARSED) {
        return status;
    }
    status = two_recordings_open(&run.two, "compare", lab_paths, labs.count, run.pair);
    status = status == EXIT_FINE ? run_compare(&run) : status;
    two_recordings_close(&run.two);
    free(run.left_out);
    return status;
}
