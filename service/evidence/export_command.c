/* service/evidence/export_command.c - `tandem export`: a slice of a recording as MCAP, as
 * journal lines, or its telemetry as CSV. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/iso_time.h"
#include "service/evidence/slice_file.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/lab_argument.h"
#include "service/tool/lab_clock.h"

enum { PAIRS_MAX = 256 };

struct export
{
    const char *lab_path, *path, *since, *until, *around;
    double before_s, after_s;
    struct argument_list pairs;
    const char *pair_texts[PAIRS_MAX];
    char pair[EVENT_PAIR_MAX]; /* of --around */
    struct slice_request request;
};

/* --- words ----------------------------------------------------------------------------------
 */

static bool parse_time(const char *option, const char *text, int64_t *t_us)
{
    *t_us = iso_time_parse_asked(text, lab_clock_now_us());
    return *t_us != LAB_TIME_NONE ||
           complain("--%s %s: expected %s", option, text, ISO_TIME_ASKED);
}

/* Parses "PAIR:N". */
static bool parse_entry(struct export *x, const char *text)
{
    char *end = NULL;
    const char *colon = strrchr(text, ':');
    const size_t n = colon ? (size_t)(colon - text) : 0;
    if (n > 0 && n < sizeof x->pair && colon[1] >= '1' && colon[1] <= '9') {
        (void)snprintf(x->pair, sizeof x->pair, "%.*s", (int)n, text);
        x->request.pair = x->pair;
        x->request.n = strtoull(colon + 1, &end, 10);
    }
    return (end && !*end) ||
           complain("--around entry:%s: expected entry:PAIR:N, such as entry:r1:57", text);
}

static bool parse_around(struct export *x)
{
    const char *text = x->around;
    struct slice_request *r = &x->request;
    r->before_us = lab_us(isnan(x->before_s) ? 10.0 : x->before_s);
    r->after_us = lab_us(isnan(x->after_s) ? 5.0 : x->after_s);
    if (strncmp(text, "entry:", 6) == 0) {
        r->around = SLICE_AROUND_ENTRY;
        return parse_entry(x, text + 6);
    }
    if (strncmp(text, "id:", 3) == 0) {
        r->around = SLICE_AROUND_ID;
        r->id = text + 3;
        return true;
    }
    r->around = SLICE_AROUND_TIME;
    return parse_time("around", text, &r->t_us);
}

static bool parse_window(struct export *x)
{
    struct slice_request *r = &x->request;
    r->since_us = LAB_TIME_NONE;
    r->until_us = LAB_TIME_MAX;
    if (x->around ? x->since || x->until : !isnan(x->before_s) || !isnan(x->after_s)) {
        return complain(
            "export: --around with --before and --after, or --since and --until, not both");
    }
    if (x->around) {
        return parse_around(x);
    }
    if ((x->since && !parse_time("since", x->since, &r->since_us)) ||
        (x->until && !parse_time("until", x->until, &r->until_us))) {
        return false;
    }
    if (x->since && r->until_us <= r->since_us) {
        return complain("export: --until %s is not after --since %s", x->until, x->since);
    }
    return true;
}

static bool check_pair(const struct lab_file *lab, const char *id)
{
    return lab_find_params(lab->pairs, lab->pair_count, id) ||
           complain("export: the lab file has no pair '%s'", id);
}

/* The recording is read more than once. */
static bool check_inputs(struct export *x, char **operands, const struct lab_file *lab)
{
    bool good = !x->request.pair || check_pair(lab, x->request.pair);
    for (size_t i = 0; i < x->pairs.count; i++) {
        good = check_pair(lab, x->pair_texts[i]) && good;
    }
    for (; operands[x->request.path_count]; x->request.path_count++) {
        if (strcmp(operands[x->request.path_count], "-") == 0) {
            complain("export: reads its files more than once: standard input cannot be one");
            good = false;
        }
    }
    x->request.lab = lab;
    x->request.paths = (const char *const *)operands;
    x->request.pairs = x->pair_texts;
    x->request.pair_count = x->pairs.count;
    return good;
}

/* --- work -----------------------------------------------------------------------------------
 */

/* Never overwrites a recording. */
static FILE *create_file(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!to) {
        complain("%s: cannot be made: %s", path, strerrordesc_np(errno));
    }
    return to;
}

static void report_slice(const struct export *x, enum slice_format format,
                         const struct slice_found *found)
{
    (void)fprintf(stderr, "export: %" PRIu64 " %s, %s\n", found->lines,
                  format == SLICE_TELEMETRY ? "samples" : "messages", x->path);
    if (found->torn > 0 || found->unread > 0) {
        complain("export: %" PRIu64 " lines torn at the end of a file, %" PRIu64
                 " that are no message",
                 found->torn, found->unread);
    }
}

static int write_slice(struct export *x, enum slice_format format)
{
    struct slice_found found;
    struct err err = {0};
    FILE *to = create_file(x->path);
    if (!to) {
        return EXIT_FAILED;
    }
    enum status status = slice_file_write(&x->request, format, NULL, to, &found, &err);
    if (fclose(to) != 0 && status == STATUS_OK) {
        status = STATUS_E_IO;
    }
    if (status == STATUS_OK) {
        report_slice(x, format, &found);
        return EXIT_FINE;
    }
    if (err.code == STATUS_OK) {
        (void)err_set(&err, status, FAULT_FILE_UNWRITABLE, x->path, "cannot be written: %s",
                      status == STATUS_E_NOMEM ? "no memory" : strerrordesc_np(errno));
    }
    complain_err(&err);
    (void)remove(x->path);
    return EXIT_FAILED;
}

static const char description[] =
    "  Writes a part of a recording to FILE: a journal, a directory with one, or what\n"
    "  `tandem record` wrote. The end of FILE's name chooses the format.\n"
    "\n"
    "  .mcap   all messages for PlotJuggler, Foxglove or Rerun, a channel per topic, with the\n"
    "          entries and alarms that a replay makes of them; the lab file without secrets\n"
    "  .jsonl  the lines as they are, for tandem replay, play and identify\n"
    "  .csv    telemetry, a row per sample\n"
    "\n"
    "  The window begins earlier if a command is open then: at its arrival, at most timeout_s\n"
    "  before. Entries keep their numbers of the whole recording, so give all of its files.\n"
    "  A replay of the slice numbers and calibrates anew. A slice of one pair (--pair) does "
    "not\n"
    "  hold the commands that a team gave it. FILE must not exist.\n";

static int parse_words(struct export *x, int argc, char **argv)
{
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &x->lab_path, 0, 0, "LAB.yaml", "the lab file (needed)"},
        {"output", 'o', ARGUMENT_TEXT, &x->path, 0, 0, "FILE",
         "x.mcap, x.jsonl or x.csv (needed)"},
        {"pair", 0, ARGUMENT_LIST, &x->pairs, 0, 0, "ID",
         "only this pair; may be given several times"},
        {"since", 0, ARGUMENT_TEXT, &x->since, 0, 0, "T",
         "begin: Unix seconds, ISO 8601, or a time ago such as -2h"},
        {"until", 0, ARGUMENT_TEXT, &x->until, 0, 0, "T", "end, exclusive"},
        {"around", 0, ARGUMENT_TEXT, &x->around, 0, 0, "WHAT",
         "entry:PAIR:N, id:COMMAND or a time, instead of --since and --until"},
        {"before", 0, ARGUMENT_REAL, &x->before_s, 0, 1e6, "S", "time before it (10)"},
        {"after", 0, ARGUMENT_REAL, &x->after_s, 0, 1e6, "S", "time after it (5)"},
    };
    const struct arguments arguments = {
        .command = "export",
        .operands = "FILE...",
        .description = description,
        .examples = "  tandem export -c lab.yaml journal/ --since -2h -o today.mcap\n"
                    "  tandem export -c lab.yaml journal/ --around entry:r1:57 -o r1-57.mcap\n",
        .exit_status = "nothing is in the window, a file cannot be read or not be written",
        ARGUMENT_ROWS(rows)};
    const int code = arguments_parse(&arguments, argc, argv);
    if (code == ARGUMENTS_PARSED &&
        (!x->path || slice_file_format(x->path) == SLICE_FORMAT_COUNT)) {
        return complain_exit(EXIT_USAGE, "export: -o x.mcap, x.jsonl or x.csv is needed");
    }
    return code == ARGUMENTS_PARSED && !parse_window(x) ? EXIT_USAGE : code;
}

int command_export(int argc, char **argv)
{
    struct lab_file lab;
    struct export x = {.before_s = NAN, .after_s = NAN};
    x.pairs = (struct argument_list){.room = PAIRS_MAX, .texts = x.pair_texts};
    int code = parse_words(&x, argc, argv);
    if (code != ARGUMENTS_PARSED) {
        return code;
    }
    if (!lab_argument_load("export", x.lab_path, &lab)) {
        return EXIT_USAGE;
    }
    code = check_inputs(&x, argv + 1, &lab) ? write_slice(&x, slice_file_format(x.path))
                                            : EXIT_USAGE;
    lab_file_free(&lab);
    return code;
}
