#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/option_file.h"
#include "service/cli/arguments.h"
#include "service/cli/commands.h"
#include "service/cli/lab_clock.h"
#include "service/cli/progress.h"
#include "service/replay/replay_report.h"

enum { SHOWN_FAULTS_MAX = 10, PAUSE_DAYS = REPLAY_PAUSE_US_MAX / 86400000000 };

/* ---- reading ------------------------------------------------------------------------------
 */

/* With --speed: wait until the recording's time has come. */
static void keep_pace(double speed, int64_t t_us, int64_t *first_us, int64_t *begin_us)
{
    if (!(speed > 0.0) || t_us == LAB_TIME_NONE) {
        return;
    }
    if (*first_us == LAB_TIME_NONE) {
        *first_us = t_us;
        *begin_us = lab_clock_monotonic_us();
    }
    lab_clock_sleep_until_us(*begin_us + (int64_t)((double)(t_us - *first_us) / speed));
}

static void show_fault(const struct journal_line *line, const struct err *err, unsigned *shown)
{
    if (*shown < SHOWN_FAULTS_MAX) {
        (void)fprintf(stderr, "tandem: %s:%llu:%u: %s%s\n", line->path,
                      (unsigned long long)line->number, err->column, err->text,
                      err->code == STATUS_E_RANGE ? "; if so much time did pass: --pause-max"
                                                  : "");
    } else if (*shown == SHOWN_FAULTS_MAX) {
        (void)fputs("tandem: more faulty lines follow; they are counted only\n", stderr);
    }
    (*shown)++;
}

static bool read_all(struct replay_run *run, struct journal_reader *reader)
{
    struct progress progress;
    struct journal_reader_stats stats;
    struct journal_line line;
    int64_t first_us = LAB_TIME_NONE;
    int64_t begin_us = 0;
    unsigned shown = 0;
    uint64_t count = 0;
    bool whole = true;
    progress_start(&progress, "replay");
    for (;;) {
        struct err err = {0};
        const enum status status = journal_reader_next(reader, &line, &err);
        if (status == STATUS_E_EMPTY) {
            break;
        }
        if (status != STATUS_OK) {
            (void)fprintf(stderr, "tandem: %s: %s\n", err.where, err.text);
            whole = false;
            continue;
        }
        if (replay_line(run->replay, &line, &err) != STATUS_OK) {
            show_fault(&line, &err, &shown);
        }
        keep_pace(run->options.speed, run->replay->t_us, &first_us, &begin_us);
        if (++count % 4096 == 0 && progress.shown) {
            journal_reader_stats(reader, &stats);
            progress_step(&progress, stats.bytes, stats.total_bytes);
        }
    }
    journal_reader_stats(reader, &stats);
    run->replay->counts.overlong = stats.overlong;
    run->replay->counts.malformed += stats.overlong;
    replay_end(run->replay);
    progress_end(&progress);
    return whole;
}

static int replay_files(struct replay_run *run, struct journal_reader *reader)
{
    const bool whole = read_all(run, reader);
    const enum status status = replay_report(run);
    if (status != STATUS_OK) {
        (void)fprintf(stderr, "tandem: %s: %s\n", run->err.where, run->err.text);
    }
    if (fflush(stdout) != 0) {
        (void)fputs("tandem: standard output: cannot be written\n", stderr);
        return EXIT_FAILED;
    }
    return whole && status == STATUS_OK ? EXIT_FINE : EXIT_FAILED;
}

static int open_and_run(struct replay_run *run, char **paths, int count)
{
    struct journal_reader *reader = NULL;
    const struct effects effects = {replay_take_effect, run};
    const struct store_params spool = {.path = "", .spool = true};
    int exit_status = EXIT_FAILED;
    if (replay_create(run->file, &effects, &run->replay) != STATUS_OK) {
        (void)fputs("tandem: out of memory\n", stderr);
    } else if ((run->options.json || run->options.csv_dir) &&
               store_open(&spool, &run->spool, &run->err) != STATUS_OK) {
        (void)fprintf(stderr, "tandem: %s: %s\n", run->err.where, run->err.text);
    } else if (journal_reader_open_files((const char *const *)paths, (size_t)count, &reader,
                                         &run->err) != STATUS_OK) {
        (void)fprintf(stderr, "tandem: %s: %s\n", run->err.where, run->err.text);
    } else {
        run->replay->pause_us_max = (int64_t)(run->options.pause_max_days * 86400e6);
        exit_status = replay_files(run, reader);
    }
    journal_reader_close(reader);
    store_close(run->spool);
    replay_destroy(run->replay);
    return exit_status;
}

static int parse_options(int argc, char **argv, struct replay_options *o)
{
    /* clang-format off */
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &o->lab_path, 0, 0, "LAB.yaml", "the lab file (needed)"},
        {"json", 0, ARGUMENT_FLAG, &o->json, 0, 0, NULL, "one JSON document: entries, alarms, fits, clocks, counts"},
        {"csv", 0, ARGUMENT_TEXT, &o->csv_dir, 0, 0, "DIR",
         "entries.csv, alarms.csv, log.csv, changes.csv and travel_time.csv in DIR"},
        {"pause-max", 0, ARGUMENT_REAL, &o->pause_max_days, 0, 36500, "DAYS",
         "take in a line stamped at most so long after the one before it (31; 1000 where the daemon was away)"},
        {"speed", 's', ARGUMENT_REAL, &o->speed, 0, 1e9, "X", "X times as fast as recorded; 0: without pauses (0)"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "replay",
        .operands = "FILE...",
        .description =
            "  FILE is a journal, or what `mosquitto_sub -F %J` (or %j) printed; a directory\n"
            "  stands for the journal in it, - for the standard input. Several files are "
            "merged\n"
            "  by time. Messages to robots are not sent. The same files give the same bytes\n"
            "  each time. Without --json and --csv: a line for each entry and alarm, and a\n"
            "  summary.\n\n"
            "  A recording that ends while commands are open: they time out. A journal that\n"
            "  ends with the daemon's orderly stop: they stay open, as they were.\n",
        .examples = "  tandem replay -c lab.yaml journal/\n"
                    "  tandem replay -c lab.yaml lab.jsonl --json | jq .pairs.r1.counts\n",
        .exit_status = "a file could not be read, or the results not be written",
        .rows = rows,
        .row_count = sizeof rows / sizeof rows[0]};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status == ARGUMENTS_TAKEN && !o->lab_path) {
        (void)fputs("tandem: replay needs -c LAB.yaml, see 'tandem replay --help'\n", stderr);
        return EXIT_USAGE;
    }
    return exit_status;
}

int command_replay(int argc, char **argv)
{
    struct lab_file file;
    struct replay_run run = {.file = &file, .options = {.pause_max_days = PAUSE_DAYS}};
    struct err_list errors = {0};
    int exit_status = parse_options(argc, argv, &run.options);
    if (exit_status != ARGUMENTS_TAKEN) {
        return exit_status;
    }
    if (lab_file_load(run.options.lab_path, &file, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return EXIT_USAGE;
    }
    int count = 0;
    while (argv[1 + count]) {
        count++;
    }
    exit_status = open_and_run(&run, argv + 1, count);
    lab_file_free(&file);
    return exit_status;
}
