#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "logger/record_json.h"
#include "logger/store.h"
#include "service/commands.h"
#include "service/progress.h"
#include "service/replay.h"
#include "twin/pair_report.h"

enum { SPOOL_BATCH = 20000, SHOWN_FAULTS_MAX = 10 };

struct options {
    const char *lab_path;
    bool json;
    const char *csv_dir;
    double speed; /* 0: as fast as it goes */
};

/* The run in progress: where its records go. */
struct run {
    struct options options;
    struct lab_file file;
    struct replay *replay;
    struct store *spool; /* NULL when records are printed as they come */
    unsigned batched;
    enum status spool_status;
    struct err err;
};

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
        "      --csv DIR      entries.csv, alarms.csv and travel_time.csv in DIR\n"
        "      --speed X      X times as fast as it was (default: as fast as it goes)\n"
        "  -h, --help\n\n"
        "A recording that ends while commands are open: they time out. A journal that ends "
        "with\n"
        "the daemon's orderly stop: they stay open, as they were.\n\n"
        "exit status: 0 fine, 1 a file could not be read, 2 wrong usage or configuration\n",
        out);
}

/* ---- records ------------------------------------------------------------------------------
 */

static void spool_row(struct run *run, const struct store_row *row)
{
    bool is_new = false;
    if (run->spool_status == STATUS_OK && run->batched == 0) {
        run->spool_status = store_begin(run->spool, &run->err);
    }
    if (run->spool_status == STATUS_OK) {
        run->spool_status = store_add(run->spool, row, &is_new, &run->err);
    }
    if (run->spool_status == STATUS_OK && ++run->batched == SPOOL_BATCH) {
        run->batched = 0;
        run->spool_status = store_commit(run->spool, &run->err);
    }
}

static void take_entry(struct run *run, const struct entry *e, const char *pair)
{
    char text[RECORD_JSON_MAX];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    entry_write_json(&w, NULL, e, pair);
    (void)json_write_end(&w);
    spool_row(run, &(struct store_row){.kind = STORE_ENTRIES,
                                       .pair = pair,
                                       .n = e->n,
                                       .t_us = e->t_us,
                                       .id = e->id,
                                       .type = verdict_name(e->verdict),
                                       .lag_s = e->lag_us == LAB_TIME_NONE ? nan("")
                                                                           : lab_s(e->lag_us),
                                       .json = text,
                                       .json_bytes = w.used});
}

static void take_alarm(struct run *run, const struct alarm *a, const char *pair)
{
    char text[RECORD_JSON_MAX];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    alarm_write_json(&w, NULL, a, pair);
    (void)json_write_end(&w);
    spool_row(run, &(struct store_row){.kind = STORE_ALARMS,
                                       .pair = pair,
                                       .n = a->n,
                                       .t_us = a->t_us,
                                       .id = a->id,
                                       .type = alarm_type_name(a->type),
                                       .lag_s = nan(""),
                                       .json = text,
                                       .json_bytes = w.used});
}

static const char *show_lap(int64_t us, char text[16])
{
    if (us == LAB_TIME_NONE) {
        return "-";
    }
    (void)snprintf(text, 16, "%.3f", lab_s(us));
    return text;
}

static void print_entry(const struct entry *e, const char *pair)
{
    char real[16];
    char virtual[16];
    char lag[16];
    char time[28];
    message_format_time(e->t_us, time);
    (void)printf("%.23sZ %-8s %-10s %-6s %7.2f rad %7.3f m %9s %9s %9s  %s\n", time, pair,
                 e->id[0] ? e->id : "-", e->op, e->rotation_rad, e->displacement_m,
                 show_lap(e->lap_us[SIDE_REAL], real),
                 show_lap(e->lap_us[SIDE_VIRTUAL], virtual), show_lap(e->lag_us, lag),
                 verdict_name(e->verdict));
}

static void print_alarm(const struct alarm *a, const char *pair)
{
    char time[28];
    message_format_time(a->t_us, time);
    (void)printf("%.23sZ %-8s %-10s alarm %s%s%s: %s\n", time, pair, a->id[0] ? a->id : "-",
                 alarm_type_name(a->type), a->side < SIDE_COUNT ? ", " : "", side_name(a->side),
                 a->detail);
}

static void take_effect(void *context, const struct effect *effect)
{
    struct run *run = context;
    const char *pair = run->file.pairs[effect->pair].id;
    if (effect->kind == EFFECT_ENTRY) {
        if (run->spool) {
            take_entry(run, effect->entry, pair);
        } else {
            print_entry(effect->entry, pair);
        }
    } else if (effect->kind == EFFECT_ALARM) {
        if (run->spool) {
            take_alarm(run, effect->alarm, pair);
        } else {
            print_alarm(effect->alarm, pair);
        }
    }
}

/* ---- the document -------------------------------------------------------------------------
 */

static void flush_stdout(void *context, const char *text, size_t bytes)
{
    (void)context;
    (void)fwrite(text, 1, bytes, stdout);
}

static bool write_row(void *context, const struct store_row *row)
{
    json_write_raw(context, NULL, row->json, row->json_bytes);
    return true;
}

static enum status write_records(struct run *run, struct json_writer *w, const char *key,
                                 enum store_kind kind, const char *pair)
{
    json_write_array(w, key);
    const enum status status = store_each(run->spool, kind, pair, write_row, w, &run->err);
    json_write_close(w);
    return status;
}

static enum status write_pair(struct run *run, struct json_writer *w, size_t i)
{
    const struct pair *pair = lab_pair(run->replay->lab, i);
    const struct pair_params *p = &run->file.pairs[i];
    json_write_object(w, p->id);
    enum status status = write_records(run, w, "entries", STORE_ENTRIES, p->id);
    if (status == STATUS_OK) {
        status = write_records(run, w, "alarms", STORE_ALARMS, p->id);
    }
    pair_report_counts(w, "counts", pair);
    pair_report_alarm_counts(w, "alarm_counts", pair);
    pair_report_travel_time(w, "travel_time", pair, p);
    pair_report_tracked(w, "tracked", pair);
    pair_report_clock(w, "clock", pair, p);
    json_write_close(w);
    return status;
}

static void write_journal_counts(struct json_writer *w, const struct replay *replay)
{
    const struct replay_counts *c = &replay->counts;
    const struct lab_counts *l = lab_counts(replay->lab);
    json_write_object(w, "journal");
    json_write_int(w, "lines", (int64_t)c->lines);
    json_write_int(w, "events", (int64_t)c->events);
    json_write_int(w, "malformed", (int64_t)c->malformed);
    json_write_int(w, "other", (int64_t)c->other);
    json_write_int(w, "torn", (int64_t)c->torn);
    json_write_int(w, "overlong", (int64_t)c->overlong);
    json_write_int(w, "unknown_pair", (int64_t)l->unknown_pair);
    json_write_int(w, "redelivered", (int64_t)l->redelivered);
    json_write_int(w, "retained", (int64_t)l->retained);
    json_write_int(w, "out_of_order", (int64_t)l->out_of_order);
    json_write_close(w);
}

static enum status write_document(struct run *run)
{
    char buffer[65536];
    struct json_writer w;
    enum status status = STATUS_OK;
    json_write_start(&w, buffer, sizeof buffer, flush_stdout, NULL);
    json_write_object(&w, NULL);
    json_write_object(&w, "pairs");
    for (size_t i = 0; i < run->file.pair_count && status == STATUS_OK; i++) {
        status = write_pair(run, &w, i);
    }
    json_write_close(&w);
    write_journal_counts(&w, run->replay);
    json_write_close(&w);
    (void)json_write_end(&w);
    (void)fputc('\n', stdout);
    return status;
}

/* ---- the summary for people ---------------------------------------------------------------
 */

static void print_speed(const char *what, double value, double lo, double hi, const char *unit)
{
    if (isfinite(value)) {
        (void)printf("  %s %.4g [%.4g, %.4g] %s", what, value, lo, hi, unit);
    }
}

static void print_fit(const struct pair *pair, const struct pair_params *p, enum side side)
{
    struct travel_move moves[PAIR_WINDOW_MAX];
    struct travel_fit fit;
    const size_t n = pair_moves(pair, p, side, moves);
    if (travel_time_fit(moves, n, p->method, &fit) != STATUS_OK) {
        return;
    }
    (void)printf("  %-7s %s, %zu moves, %s:", side_name(side), travel_verdict_name(fit.verdict),
                 fit.n, travel_method_name(fit.method));
    print_speed("turns at", fit.angular_speed_radps, fit.angular_speed_lo, fit.angular_speed_hi,
                "rad/s");
    print_speed("drives at", fit.linear_speed_mps, fit.linear_speed_lo, fit.linear_speed_hi,
                "m/s");
    (void)putchar('\n');
    for (size_t i = 0; i < fit.reason_count; i++) {
        (void)printf("          %s\n", fit.reasons[i]);
    }
    for (size_t i = 0; i < fit.advice_count; i++) {
        (void)printf("          advice: %s\n", fit.advice[i]);
    }
}

static void print_summary(const struct run *run)
{
    const struct replay_counts *c = &run->replay->counts;
    (void)printf("\n%llu lines, %llu events, %llu malformed\n", (unsigned long long)c->lines,
                 (unsigned long long)c->events, (unsigned long long)c->malformed);
    for (size_t i = 0; i < run->file.pair_count; i++) {
        const struct pair *pair = lab_pair(run->replay->lab, i);
        if (pair->version == 0) {
            continue;
        }
        (void)printf("%s: %llu commands", run->file.pairs[i].id,
                     (unsigned long long)pair->counts.commands);
        for (enum verdict v = VERDICT_AHEAD; v < VERDICT_COUNT; v++) {
            if (pair->counts.verdict[v] > 0) {
                (void)printf(", %llu %s", (unsigned long long)pair->counts.verdict[v],
                             verdict_name(v));
            }
        }
        (void)printf("; %llu alarms\n", (unsigned long long)pair->counts.alarms);
        print_fit(pair, &run->file.pairs[i], SIDE_REAL);
        print_fit(pair, &run->file.pairs[i], SIDE_VIRTUAL);
    }
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

static bool read_all(struct run *run, struct journal_reader *reader)
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

static enum status end_spool(struct run *run)
{
    if (run->spool && run->spool_status == STATUS_OK && run->batched > 0) {
        run->spool_status = store_commit(run->spool, &run->err);
    }
    return run->spool_status;
}

static int replay_files(struct run *run, struct journal_reader *reader)
{
    const bool whole = read_all(run, reader);
    enum status status = end_spool(run);
    if (status == STATUS_OK && run->options.json) {
        status = write_document(run);
    } else if (status == STATUS_OK) {
        print_summary(run);
    }
    if (status != STATUS_OK) {
        (void)fprintf(stderr, "tandem: %s: %s\n", run->err.where, run->err.text);
    }
    if (fflush(stdout) != 0) {
        (void)fputs("tandem: standard output: cannot be written\n", stderr);
        return EXIT_FAILED;
    }
    return whole && status == STATUS_OK ? EXIT_FINE : EXIT_FAILED;
}

static int open_and_run(struct run *run, char **paths, int count)
{
    struct journal_reader *reader = NULL;
    const struct effects effects = {take_effect, run};
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

static bool parse_options(int argc, char **argv, struct options *o)
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
    struct run run = {0};
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
