/* service/evidence/report_command.c - `tandem report`: a recording as one HTML file. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/edit_distance.h"
#include "config/labfile/lab_secrets.h"
#include "service/evidence/compare_print.h"
#include "service/evidence/recording.h"
#include "service/evidence/report_inputs.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_argument.h"
#include "service/tool/version.h"
#include "twin/page/html_text.h"

enum { PAIRS_UNASKED_MAX = 50, PAIRS_ASKED_MAX = 256, HEAD_BYTES = 200, COMMAND_MAX = 4096 };

struct run {
    const char *lab_path, *out_path, *title, *other;
    bool force;
    struct argument_list ids;
    char **paths; /* [path_count] journals */
    size_t path_count;
    struct lab_file file;
    struct replay_run replay;
    struct report_inputs inputs;
    struct recording *compared[2]; /* OTHER, this one; NULL without --compare */
    char command[COMMAND_MAX];
};

/* ---- options ------------------------------------------------------------------------------
 */

/* clang-format off */
static const char description[] =
    "  JOURNAL is a recording as `tandem replay` reads it. The report is one file without\n"
    "  scripts, to attach to a thesis, a bug or an acceptance: what ran, verdicts, lags over\n"
    "  time, the largest lags, fits with plots, clocks, alarms, changes of parameters, what\n"
    "  was rejected, and how to make it again. Equal inputs give equal bytes. Passwords and\n"
    "  tokens are not in it.\n";
/* clang-format on */

static int parse_options(struct run *run, int argc, char **argv)
{
    /* clang-format off */
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &run->lab_path, 0, 0, "LAB.yaml", "the lab file (needed)"},
        {"output", 'o', ARGUMENT_TEXT, &run->out_path, 0, 0, "FILE.html", "the report (needed); -: standard output"},
        {"pair", 0, ARGUMENT_LIST, &run->ids, 0, 0, "ID", "only this pair; may be repeated"},
        {"title", 0, ARGUMENT_TEXT, &run->title, 0, 0, "TEXT", "title of the report (the lab's name)"},
        {"compare", 0, ARGUMENT_TEXT, &run->other, 0, 0, "OTHER",
         "say what differs from this earlier recording, as tandem compare does"},
        {"force", 0, ARGUMENT_FLAG, &run->force, 0, 0, NULL, "replace FILE.html although it is no report"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "report",
        .operands = "JOURNAL...",
        .description = description,
        .examples = "  tandem report -c lab.yaml lab.jsonl -o report.html\n"
                    "  tandem report -c lab.yaml --compare yesterday.jsonl today.jsonl -o "
                    "report.html\n",
        .exit_status = "a file could not be read, or the report not be written",
        ARGUMENT_ROWS(rows)};
    return arguments_parse(&arguments, argc, argv);
}

/* A file that is no report is not replaced by mistake. */
static bool may_replace(const char *path)
{
    struct stat about;
    char head[HEAD_BYTES + 1];
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        return true; /* it is written to */
    }
    FILE *file = fopen(path, "rbe");
    if (!file) {
        return errno == ENOENT;
    }
    const size_t n = fread(head, 1, HEAD_BYTES, file);
    head[n] = '\0';
    (void)fclose(file);
    return strstr(head, REPORT_PAGE_MARK) != NULL;
}

static int check_pairs(const struct run *run)
{
    const struct lab_file *file = &run->file;
    for (size_t k = 0; k < run->ids.count; k++) {
        if (!lab_find_params(file->pairs, file->pair_count, run->ids.texts[k])) {
            struct edit_guess guess = {0};
            char meant[EDIT_GUESS_MAX];
            for (size_t i = 0; i < file->pair_count; i++) {
                edit_guess_try(&guess, run->ids.texts[k], file->pairs[i].id);
            }
            return complain_exit(EXIT_USAGE, "--pair: the lab file has no pair %.32s%s",
                                 run->ids.texts[k], edit_guess_text(&guess, meant));
        }
    }
    if (run->ids.count == 0 && file->pair_count > PAIRS_UNASKED_MAX) {
        return complain_exit(EXIT_USAGE, "%s: %zu pairs: name some by --pair", run->lab_path,
                             file->pair_count);
    }
    return EXIT_FINE;
}

static int check_request(struct run *run)
{
    if (!run->out_path) {
        return complain_exit(EXIT_USAGE,
                             "report: -o FILE.html is needed, see 'tandem report --help'");
    }
    if (run->other && run->path_count != 1) {
        return complain_exit(EXIT_USAGE, "--compare: one JOURNAL is compared with OTHER");
    }
    if (strcmp(run->out_path, "-") != 0 && !run->force && !may_replace(run->out_path)) {
        return complain_exit(EXIT_FAILED,
                             "%s: exists and is no report of Tandem; --force replaces it",
                             run->out_path);
    }
    return EXIT_FINE;
}

/* ---- reading ------------------------------------------------------------------------------
 */

static enum status read_inputs(struct run *run)
{
    struct err *err = &run->replay.err;
    enum status status =
        replay_run_files(&run->replay, (const char *const *)run->paths, run->path_count);
    for (size_t k = 0; k < run->path_count && status == STATUS_OK; k++) {
        status = report_inputs_add(&run->inputs, run->paths[k], err);
    }
    return status == STATUS_OK ? report_inputs_add(&run->inputs, run->lab_path, err) : status;
}

static enum status read_compared(struct run *run)
{
    struct err *err = &run->replay.err;
    enum status status = recording_open(run->other, &run->file, NULL, &run->compared[0], err);
    if (status == STATUS_OK) {
        status = recording_open("the replay", NULL, &run->replay, &run->compared[1], err);
    }
    return status == STATUS_OK ? report_inputs_add(&run->inputs, run->other, err) : status;
}

/* ---- writing ------------------------------------------------------------------------------
 */

/* The records of one pair. */
struct source {
    struct run *run;
    size_t pair;
};

struct forwarding {
    report_row_fn *row;
    void *context;
};

static bool forward_row(void *context, const struct spool_row *row)
{
    const struct forwarding *to = context;
    return to->row(to->context, row->json, row->json_bytes);
}

static enum status each_record(void *context, enum report_list list, report_row_fn *row,
                               void *row_context)
{
    static const enum store_kind kinds[] = {[REPORT_ENTRIES] = STORE_ENTRIES,
                                            [REPORT_ALARMS] = STORE_ALARMS,
                                            [REPORT_CHANGES] = STORE_CHANGES};
    const struct source *source = context;
    struct forwarding to = {row, row_context};
    replay_each_of(&source->run->replay, kinds[list], source->pair, 0, forward_row, &to);
    return STATUS_OK;
}

/* Prints what `tandem compare OTHER JOURNAL` prints of this pair. */
static enum status print_comparison(struct run *run, const struct svg_text *h, const char *id)
{
    struct recorded_pair pairs[2] = {{0}};
    struct comparison c;
    char *text = NULL;
    size_t bytes = 0;
    enum status status = STATUS_OK;
    html_fill(h, "<h2>Compared with @</h2>\n", basename(run->other));
    for (size_t k = 0; k < 2 && status == STATUS_OK; k++) {
        const size_t at = recording_find_pair(run->compared[k], id);
        status = at < recording_pair_count(run->compared[k])
                     ? recording_load(run->compared[k], at, &pairs[k], &run->replay.err)
                     : STATUS_OK;
    }
    status = status == STATUS_OK ? comparison_make(&pairs[0], &pairs[1], ALIGNED_AUTO, 0.95, &c)
                                 : status;
    if (status == STATUS_OK) {
        FILE *out = open_memstream(&text, &bytes);
        if (out) {
            compare_print_text(id, &pairs[0], &pairs[1], &c, false, out);
        }
        if (out && fclose(out) == 0) {
            html_element(h, "pre", bytes > 0 ? text : "Nothing differs.");
        }
        comparison_free(&c);
    }
    free(text);
    recorded_pair_free(&pairs[0]);
    recorded_pair_free(&pairs[1]);
    return status;
}

static enum status print_pair(struct run *run, const struct svg_text *h, size_t i,
                              struct report_scan *scan)
{
    struct lab *lab = run->replay.replay->lab;
    struct source source = {run, i};
    struct pair_fits fits;
    const struct report_pair pair = {.p = &run->file.pairs[i],
                                     .pair = lab_pair(lab, i),
                                     .fits = &fits,
                                     .dynamics = lab_dynamics(lab, i),
                                     .following = lab_following(lab, i),
                                     .entries = replay_count_of(&run->replay, STORE_ENTRIES, i),
                                     .state = "the end of the recording",
                                     .each = each_record,
                                     .context = &source};
    pair_fit_window(pair.pair, pair.p, &fits);
    const enum status status = report_page_pair(h, &pair, scan);
    return status == STATUS_OK && run->other ? print_comparison(run, h, pair.p->id) : status;
}

/* Without --pair the pairs that the recording has, or all if it has none. */
static bool is_shown(const struct run *run, size_t i)
{
    bool shown = run->ids.count == 0 && lab_pair(run->replay.replay->lab, i)->version > 0;
    for (size_t k = 0; k < run->ids.count && !shown; k++) {
        shown = strcmp(run->ids.texts[k], run->file.pairs[i].id) == 0;
    }
    return shown;
}

static void append_word(char command[COMMAND_MAX], const char *option, const char *value)
{
    const char *slash = strrchr(value, '/');
    const char *quote = strpbrk(value, " '\"$&;|<>()*?\\") ? "'" : "";
    const size_t n = strlen(command);
    (void)snprintf(command + n, COMMAND_MAX - n, "%s%s %s%s%s", option[0] ? " " : "", option,
                   quote, slash && slash[1] ? slash + 1 : value, quote);
}

static void format_command(struct run *run)
{
    (void)snprintf(run->command, sizeof run->command, "tandem report");
    append_word(run->command, "-c", run->lab_path);
    for (size_t k = 0; k < run->ids.count; k++) {
        append_word(run->command, "--pair", run->ids.texts[k]);
    }
    if (run->title) {
        append_word(run->command, "--title", run->title);
    }
    if (run->other) {
        append_word(run->command, "--compare", run->other);
    }
    for (size_t k = 0; k < run->path_count; k++) {
        append_word(run->command, "", run->paths[k]);
    }
    append_word(run->command, "-o", "report.html");
}

static void print_end(struct run *run, const struct svg_text *h, const char *lab)
{
    const struct replay_counts *c = &run->replay.replay->counts;
    const struct lab_counts *l = lab_counts(run->replay.replay->lab);
    const struct report_count left_out[] = {
        {"malformed messages, or lines that are none", c->malformed},
        {"lines torn at the end of a file", c->torn},
        {"lines stamped far ahead of the previous ones: skipped", c->ahead},
        {"lines too long: skipped", c->overlong},
        {"messages on topics that are not read", c->other},
        {"messages of pairs that are not in the lab file", l->unknown_pair},
        {"messages delivered again: passed over", l->redelivered},
        {"messages of which it is unknown whether they are duplicates", l->ambiguous},
        {"retained commands or replies: passed over", l->retained},
        {"messages earlier than the previous one, given its time", l->out_of_order}};
    format_command(run);
    report_page_end(h, &(struct report_origin){.version = TANDEM_VERSION,
                                               .command = run->command,
                                               .inputs = run->inputs.list,
                                               .input_count = run->inputs.count,
                                               .left_out = left_out,
                                               .left_out_count = COUNT(left_out),
                                               .lab = lab});
}

static enum status write_page(struct run *run, FILE *out)
{
    const struct svg_text h = {json_file_flush, out};
    struct report_scan *scan = calloc(1, sizeof *scan);
    char *lab = lab_secrets_public_text(&run->file);
    enum status status =
        scan && lab ? STATUS_OK : err_no_memory(&run->replay.err, "report", "out of memory");
    report_page_begin(&h, TANDEM_VERSION, run->title ? run->title : run->file.name);
    for (size_t i = 0; i < run->file.pair_count && status == STATUS_OK; i++) {
        if (is_shown(run, i)) {
            status = print_pair(run, &h, i, scan);
        }
    }
    if (status == STATUS_OK) {
        print_end(run, &h, lab);
    }
    free(scan);
    free(lab);
    return status;
}

/* Writes next to the file and renames, so that there is always a whole report. Devices and
 * pipes are written to: they must never be replaced. */
static enum status write_file(struct run *run)
{
    struct stat about;
    char path[PATH_MAX]; /* behind links */
    char part[PATH_MAX + 8];
    const bool printed = strcmp(run->out_path, "-") == 0;
    if (!realpath(run->out_path, path)) {
        (void)snprintf(path, sizeof path, "%s", run->out_path);
    }
    const bool through = printed || (stat(path, &about) == 0 && !S_ISREG(about.st_mode));
    (void)snprintf(part, sizeof part, "%s%s", path, through ? "" : ".part");
    FILE *out = printed ? stdout : fopen(part, "wbe");
    const enum status status = out ? write_page(run, out) : STATUS_OK;
    bool written = out && fflush(out) == 0 && ferror(out) == 0;
    written = (!out || printed || fclose(out) == 0) && written;
    written = written && status == STATUS_OK && (through || rename(part, path) == 0);
    const int error = errno;
    if (!written && out && !through) {
        (void)unlink(part);
    }
    return written || status != STATUS_OK
               ? status
               : err_set(&run->replay.err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, run->out_path,
                         "cannot be written: %s", strerrordesc_np(error));
}

/* ---- the command --------------------------------------------------------------------------
 */

static int make_report(struct run *run)
{
    const struct err *err = &run->replay.err;
    run->replay.file = &run->file;
    enum status status = read_inputs(run);
    status = status == STATUS_OK && run->other ? read_compared(run) : status;
    status = status == STATUS_OK ? write_file(run) : status;
    if (status != STATUS_OK) {
        complain_err(err);
    }
    recording_close(run->compared[0]);
    recording_close(run->compared[1]);
    report_inputs_free(&run->inputs);
    replay_run_free(&run->replay);
    return status == STATUS_OK ? EXIT_FINE : EXIT_FAILED;
}

int command_report(int argc, char **argv)
{
    const char *ids[PAIRS_ASKED_MAX];
    struct run run = {.ids = {.room = COUNT(ids), .texts = ids}};
    int exit_status = parse_options(&run, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    run.paths = argv + 1;
    while (run.paths[run.path_count]) {
        run.path_count++;
    }
    exit_status = check_request(&run);
    if (exit_status != EXIT_FINE) {
        return exit_status;
    }
    if (!lab_argument_load("report", run.lab_path, &run.file)) {
        return EXIT_USAGE;
    }
    exit_status = check_pairs(&run);
    exit_status = exit_status == EXIT_FINE ? make_report(&run) : exit_status;
    lab_file_free(&run.file);
    return exit_status;
}
