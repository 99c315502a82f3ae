#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "service/commands.h"
#include "service/progress.h"
#include "service/replay_report.h"

enum { SHOWN_FAULTS_MAX = 10 };

static void print_help(FILE *out)
{
    (void)fputs(
        "tandem replay - run recorded messages through the code of the daemon\n\n"
        "usage: tandem replay -c LAB.yaml [OPTION]... FILE...\n\n"
        "FILE is a journal, or what `mosquitto_sub -v -F %J` (or %j) printed; a directory "
        "stands\n"
        "for the journal in it, - for the standard input. Several files are merged by time.\n"
        "Messages to robots are not sent. The same files give the same bytes each time.\n\n"
        "  -c, --config LAB   the lab file\n"
        "      --json         one JSON document on stdout: entries, alarms, counts, fits, "
        "clocks\n"
        "      --csv DIR      entries.csv, alarms.csv, log.csv and travel_time.csv in DIR\n"
        "      --speed X      X times as fast as it was (default: as fast as it goes)\n"
        "  -h, --help\n\n"
        "A recording that ends while commands are open: they time out. A journal that ends "
        "with\n"
        "the daemon's orderly stop: they stay open, as they were.\n\n"
        "exit status: 0 fine, 1 a file could not be read, 2 wrong usage or configuration\n",
        out);
}

/* ---- reading ------------------------------------------------------------------------------
 */

static int64_t monotonic_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* With --speed: wait until the recording's time has come. */
static void keep_pace(double speed, int64_t t_us, int64_t *first_us, int64_t *begin_us)
{
    if (!(speed > 0.0) || t_us == LAB_TIME_NONE) {
        return;
    }
    if (*first_us == LAB_TIME_NONE) {
        *first_us = t_us;
        *begin_us = monotonic_us();
    }
    const int64_t due_us = *begin_us + (int64_t)((double)(t_us - *first_us) / speed);
    const int64_t wait_us = due_us - monotonic_us();
    if (wait_us > 0) {
        const struct timespec pause = {wait_us / 1000000, wait_us % 1000000 * 1000};
        (void)nanosleep(&pause, NULL);
    }
}

static void show_fault(const struct journal_line *line, const struct err *err, unsigned *shown)
{
    if (*shown < SHOWN_FAULTS_MAX) {
        (void)fprintf(stderr, "tandem: %s:%llu:%u: %s\n", line->path,
                      (unsigned long long)line->number, err->column, err->text);
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
    if (replay_create(&run->file, &effects, &run->replay) != STATUS_OK) {
        (void)fputs("tandem: out of memory\n", stderr);
    } else if ((run->options.json || run->options.csv_dir) &&
               store_open(&spool, &run->spool, &run->err) != STATUS_OK) {
        (void)fprintf(stderr, "tandem: %s: %s\n", run->err.where, run->err.text);
    } else if (journal_reader_open_files((const char *const *)paths, (size_t)count, &reader,
                                         &run->err) != STATUS_OK) {
        (void)fprintf(stderr, "tandem: %s: %s\n", run->err.where, run->err.text);
    } else {
        exit_status = replay_files(run, reader);
    }
    journal_reader_close(reader);
    store_close(run->spool);
    replay_destroy(run->replay);
    return exit_status;
}

static bool parse_options(int argc, char **argv, struct replay_options *o)
{
    static const struct option table[] = {
        {"config", required_argument, NULL, 'c'},
        {"json", no_argument, NULL, 'j'},
        {"csv", required_argument, NULL, 'v'},
        {"speed", required_argument, NULL, 's'},
        {NULL, 0, NULL, 0},
    };
    int c = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, "c:", table, NULL)) != -1) {
        char *end = NULL;
        switch (c) {
        case 'c':
            o->lab_path = optarg;
            break;
        case 'j':
            o->json = true;
            break;
        case 'v':
            o->csv_dir = optarg;
            break;
        case 's':
            o->speed = strtod(optarg, &end);
            if (end == optarg || *end || !(o->speed > 0.0) || !isfinite(o->speed)) {
                (void)fprintf(stderr, "tandem: --speed %s: a number above 0 was expected\n",
                              optarg);
                return false;
            }
            break;
        default:
            return false;
        }
    }
    if (!o->lab_path || optind == argc) {
        (void)fputs("tandem: replay needs -c LAB.yaml and at least one FILE, see "
                    "'tandem replay --help'\n",
                    stderr);
        return false;
    }
    return true;
}

int command_replay(int argc, char **argv)
{
    struct replay_run run = {0};
    struct err_list errors = {0};
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_help(stdout);
        return EXIT_FINE;
    }
    if (!parse_options(argc, argv, &run.options)) {
        return EXIT_USAGE;
    }
    if (lab_file_load(run.options.lab_path, &run.file, &errors) != STATUS_OK) {
        err_list_print(&errors, stderr);
        return EXIT_USAGE;
    }
    const int exit_status = open_and_run(&run, argv + optind, argc - optind);
    lab_file_free(&run.file);
    return exit_status;
}
