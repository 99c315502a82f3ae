/* service/evidence/gate_command.c - `tandem gate`: may this version of a simulator be used? */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/number.h"
#include "base/text/edit_distance.h"
#include "service/evidence/gate_print.h"
#include "service/evidence/two_recordings.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"

enum { ROOM = 16, MARGIN_MAX = 1000 };

struct run {
    struct two_recordings two;
    struct gate_options options;
    const char *pair, *junit;
    bool json;
    struct gate_pair *pairs; /* [two.count] */
    const char **ids;
    double *log_e;
};

/* ---- options ------------------------------------------------------------------------------
 */

static bool find_metric(const char *option, const char *text, size_t bytes,
                        enum gate_metric *metric)
{
    struct edit_guess guess = {0};
    char meant[EDIT_GUESS_MAX];
    char name[EDIT_TEXT_MAX + 1];
    (void)snprintf(name, sizeof name, "%.*s", (int)bytes, text);
    *metric = (enum gate_metric)names_value(&gate_metric_names, name);
    if (*metric < GATE_METRIC_COUNT) {
        return true;
    }
    for (enum gate_metric i = 0; i < GATE_METRIC_COUNT; i++) {
        edit_guess_try(&guess, name, gate_metric_name(i));
    }
    return complain(
        "--%s %s: there are abs_lag_s, sync_share, timeout_share and inconsistent_share%s",
        option, text, edit_guess_text(&guess, meant));
}

static bool parse_margins(const struct argument_list *list, struct gate_options *o)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->texts[i];
        const size_t bytes = strcspn(text, "=");
        const char *value = text + bytes + (text[bytes] == '=');
        enum gate_metric metric = GATE_ABS_LAG;
        double margin = 0.0;
        if (!find_metric("margin", text, bytes, &metric)) {
            return false;
        }
        const char *end = number_scan(value, text + strlen(text), &margin);
        const int most = metric == GATE_ABS_LAG ? MARGIN_MAX : 1; /* others are shares */
        if (end == value || *end || !(margin > 0.0) || !(margin <= most)) {
            return complain("--margin %s: NAME=VALUE with a value above 0 and up to %d was "
                            "expected, such as abs_lag_s=0.005",
                            text, most);
        }
        o->margin[metric] = margin;
    }
    return true;
}

static bool parse_needs(const struct argument_list *list, struct gate_options *o)
{
    o->needed[GATE_ABS_LAG] = list->count == 0;
    for (size_t i = 0; i < list->count; i++) {
        enum gate_metric metric = GATE_ABS_LAG;
        if (!find_metric("need", list->texts[i], strlen(list->texts[i]), &metric)) {
            return false;
        }
        o->needed[metric] = true;
    }
    return true;
}

static bool parse_block(struct gate_options *o)
{
    const char *text = o->block_text;
    const bool is_gap = strncmp(text, "gap:", 4) == 0;
    const char *number = is_gap ? text + 4 : text;
    double value = 0.0;
    if (strcmp(text, "none") == 0) {
        return true;
    }
    const char *end = number_scan(number, text + strlen(text), &value);
    const bool fits =
        is_gap ? value > 0.0 && value <= 86400.0
               : value >= 1.0 && value <= 10000.0 && !(fabs(value - rint(value)) > 0.0);
    if (end == number || *end || !fits) {
        return complain("--block %s: none, a number of commands from 1 to 10000, or gap:S with "
                        "a pause in seconds was expected",
                        text);
    }
    o->blocks = is_gap ? GATE_BLOCKS_BY_PAUSE : GATE_BLOCKS_OF;
    o->block_of = is_gap ? 0 : (size_t)value;
    o->gap_s = value;
    return true;
}

/* clang-format off */
static const char description[] =
    "  Both are recordings of the same commands (tandem drive with the same --seed), or\n"
    "  JSON documents of `tandem replay`. The candidate passes if it is proved not worse\n"
    "  by more than the margin, and fails if it is proved worse by more. The result is\n"
    "  valid after every command: record more and call again while it is undecided.\n"
    "  Choose margin, clip, block and alpha before the first look, and keep them.\n";
/* clang-format on */

static int parse_options(struct run *run, int argc, char **argv, struct argument_list *labs)
{
    struct gate_options *o = &run->options;
    const char *margin_texts[ROOM];
    const char *need_texts[ROOM];
    struct argument_list margins = {.room = ROOM, .texts = margin_texts};
    struct argument_list needs = {.room = ROOM, .texts = need_texts};
    /* clang-format off */
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_LIST, labs, 0, 0, "LAB.yaml",
         "the lab file of journals; twice: of the reference, and of the candidate"},
        {"margin", 0, ARGUMENT_LIST, &margins, 0, 0, "NAME=VALUE",
         "largest rise that is accepted (abs_lag_s=0.005 sync_share=0.05 timeout_share=0.02 inconsistent_share=0.02)"},
        {"need", 0, ARGUMENT_LIST, &needs, 0, 0, "NAME",
         "must be proved not worse; the others must not be proved worse (abs_lag_s)"},
        {"alpha", 0, ARGUMENT_REAL, &o->alpha, 0.001, 0.5, "X",
         "probability of a wrong pass, and of a wrong fail, however often one looks (0.05)"},
        {"clip", 0, ARGUMENT_REAL, &o->clip, 1, 1000, "FACTOR", "limit of one command's time, in margins (8)"},
        {"block", 0, ARGUMENT_TEXT, &o->block_text, 0, 0, "none, N or gap:S",
         "commands that count as one: N at a time, or until a pause of S seconds (none)"},
        {"pair", 0, ARGUMENT_TEXT, &run->pair, 0, 0, "ID[=ID]",
         "only this pair; with =: against another one of the candidate"},
        {"json", 0, ARGUMENT_FLAG, &run->json, 0, 0, NULL, "one JSON document"},
        {"junit", 0, ARGUMENT_TEXT, &run->junit, 0, 0, "FILE.xml", "also write the result as JUnit's XML"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "gate",
        .operands = "REFERENCE CANDIDATE",
        .description = description,
        .examples =
            "  tandem gate -c lab.yaml reference.jsonl candidate.jsonl --junit gate.xml\n"
            "  tandem gate A.json B.json --margin abs_lag_s=0.02 --block 10\n",
        .exit_status = "the two cannot be compared, or a file cannot be read or written",
        .exit_as_asked = "fail: proved worse",
        .exit_undecided = "undecided: record more commands",
        ARGUMENT_ROWS(rows)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    run->two.path[0] = argv[1];
    run->two.path[1] = argv[2];
    return parse_margins(&margins, o) && parse_needs(&needs, o) && parse_block(o)
               ? ARGUMENTS_PARSED
               : EXIT_USAGE;
}

/* ---- the gate -----------------------------------------------------------------------------
 */

static enum status test_pair(struct run *run, size_t i, struct err *err)
{
    const struct common_pair *pair = &run->two.pairs[i];
    struct recorded_pair a = {0};
    struct recorded_pair b = {0};
    enum status status = recording_load(run->two.in[0], pair->a, &a, err);
    status = status == STATUS_OK ? recording_load(run->two.in[1], pair->b, &b, err) : status;
    status =
        status == STATUS_OK ? gate_pair_test(&a, &b, &run->options, &run->pairs[i]) : status;
    recorded_pair_free(&a);
    recorded_pair_free(&b);
    return status == STATUS_E_NOMEM ? err_no_memory(err, pair->id, "out of memory") : status;
}

static enum status test_pairs(struct run *run, struct err *err)
{
    const size_t count = run->two.count;
    enum status status = STATUS_OK;
    run->pairs = calloc(count, sizeof *run->pairs);
    run->ids = calloc(count, sizeof *run->ids);
    run->log_e = calloc(count * GATE_METRIC_COUNT, sizeof *run->log_e);
    if (!run->pairs || !run->ids || !run->log_e) {
        return err_no_memory(err, "gate", "out of memory");
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        run->ids[i] = run->two.pairs[i].id;
        status = test_pair(run, i, err);
    }
    return status;
}

static bool write_junit(const char *path, const struct gate_report *report)
{
    FILE *out = fopen(path, "w");
    if (out) {
        gate_print_junit(report, out);
    }
    const bool failed = !out || ferror(out);
    if ((out && fclose(out) != 0) || failed) {
        return complain("--junit %s: cannot be written: %s", path, strerrordesc_np(errno));
    }
    return true;
}

/* Prints the verdict first: a report that cannot be written must not hide it. */
static int report_gate(struct run *run, struct gate_result result)
{
    static const int statuses[] = {[GATE_PASS] = EXIT_FINE,
                                   [GATE_FAIL] = EXIT_AS_ASKED,
                                   [GATE_UNDECIDED] = EXIT_UNDECIDED};
    const struct gate_report report = {.a = two_recordings_name(&run->two, 0),
                                       .b = two_recordings_name(&run->two, 1),
                                       .options = &run->options,
                                       .pairs = run->pairs,
                                       .ids = run->ids,
                                       .count = run->two.count,
                                       .result = result};
    if (run->json) {
        gate_print_json(&report, stdout);
    } else {
        gate_print_text(&report, stdout);
    }
    for (size_t i = 0; i < run->two.count && result.usable == 0; i++) {
        complain("%s: %s", run->ids[i], run->pairs[i].why);
    }
    const bool written = !run->junit || write_junit(run->junit, &report);
    return written && result.usable > 0 ? statuses[result.outcome] : EXIT_FAILED;
}

static int run_gate(struct run *run)
{
    struct err err = {0};
    int exit_status = EXIT_FAILED;
    if (run->two.count == 0) {
        (void)complain("no pair has a command: %s, %s", run->two.path[0], run->two.path[1]);
        return exit_status;
    }
    if (test_pairs(run, &err) == STATUS_OK) {
        exit_status = report_gate(
            run, gate_decide(run->pairs, run->two.count, &run->options, run->log_e));
    } else {
        complain_err(&err);
    }
    for (size_t i = 0; i < run->two.count && run->pairs; i++) {
        gate_pair_free(&run->pairs[i]);
    }
    free(run->pairs);
    free(run->ids);
    free(run->log_e);
    return exit_status;
}

int command_gate(int argc, char **argv)
{
    static struct run run;
    const char *lab_paths[2];
    struct argument_list labs = {.room = COUNT(lab_paths), .texts = lab_paths};
    run = (struct run){.options = {.margin = {[GATE_ABS_LAG] = 0.005,
                                              [GATE_SYNC] = 0.05,
                                              [GATE_TIMEOUT] = 0.02,
                                              [GATE_INCONSISTENT] = 0.02},
                                   .alpha = 0.05,
                                   .clip = 8.0,
                                   .block_text = "none"}};
    int status = parse_options(&run, argc, argv, &labs);
    if (status != ARGUMENTS_PARSED) {
        return status;
    }
    status = two_recordings_open(&run.two, "gate", lab_paths, labs.count, run.pair);
    status = status == EXIT_FINE ? run_gate(&run) : status;
    two_recordings_close(&run.two);
    return status;
}
