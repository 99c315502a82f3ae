/* service/replay/replay_command.c - `tandem replay`: reads its files in the order of time,
 * runs them through the lab, and prints the results as lines, JSON or CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/record_json.h"
#include "service/list/colour.h"
#include "service/list/entry_filter.h"
#include "service/replay/replay_moves.h"
#include "service/replay/replay_read.h"
#include "service/replay/replay_run.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/csv_tables.h"
#include "service/tool/lab_argument.h"
#include "web/http/csv.h"

enum { PAUSE_DAYS = REPLAY_PAUSE_US_MAX / 86400000000 };

/* ---- CSV ----------------------------------------------------------------------------------
 */

/* A file of records. */
struct csv_records {
    const struct record_table *table;
    enum store_kind kind;
    struct replay_run *run;
};

struct csv_rows {
    const struct record_table *table;
    FILE *file;
    struct body body;
    bool failed; /* no memory; failures of the file are seen by its owner */
};

static bool flush_rows(struct csv_rows *c)
{
    c->failed = c->failed || c->body.failed;
    if (c->body.bytes > 0) {
        (void)fwrite(c->body.text, 1, c->body.bytes, c->file);
    }
    body_clear(&c->body);
    return !c->failed;
}

static bool write_csv_row(void *context, const struct spool_row *row)
{
    struct csv_rows *c = context;
    csv_row(&c->body, c->table->columns, c->table->column_count, row->json, row->json_bytes);
    return c->body.bytes < 65536 || flush_rows(c);
}

static void write_records(const void *what, FILE *file)
{
    const struct csv_records *records = what;
    const struct record_table *table = records->table;
    struct csv_rows rows = {.table = table, .file = file};
    csv_header(&rows.body, table->columns, table->column_count);
    const enum status status = replay_each(records->run, records->kind, write_csv_row, &rows);
    if (!flush_rows(&rows) && status == STATUS_OK) {
        (void)err_no_memory(&records->run->err, "replay", "out of memory");
    }
}

/* The words for either kind of fit. */
struct fit_words {
    const struct estimate *estimate;
    size_t n;
    enum travel_method method;
};

static struct fit_words read_fit(const struct pair_fits *fits, enum side side)
{
    const struct travel_fit *fit = &fits->fit[side];
    const struct profile_fit *profile = &fits->profile[side];
    return fits->commanded ? (struct fit_words){&profile->estimate, profile->n, profile->method}
                           : (struct fit_words){&fit->estimate, fit->n, fit->method};
}

static void write_travel_rows(FILE *file, const char *id, enum side side,
                              const struct pair_fits *fits)
{
    const struct fit_words fit = read_fit(fits, side);
    const struct estimate *e = fit.estimate;
    for (size_t t = 0; t < e->p; t++) {
        (void)fprintf(file, "%s,%s,%zu,%s,%s,%s,", id, side_name(side), fit.n,
                      travel_method_name(fit.method), estimate_verdict_name(e->verdict),
                      e->name[t]);
        csv_tables_number(file, e->value[t], false);
        csv_tables_number(file, e->se[t], false);
        csv_tables_number(file, e->lo[t], false);
        csv_tables_number(file, e->hi[t], true);
    }
}

static void write_travel(const void *what, FILE *file)
{
    const struct replay_run *run = what;
    (void)fputs("pair,side,n,method,verdict,term,value,se,ci95_lo,ci95_hi\n", file);
    for (size_t i = 0; i < run->file->pair_count; i++) {
        struct pair_fits fits;
        const struct pair_params *p = &run->file->pairs[i];
        const bool kept = replay_keeps_pair(run, p->id);
        pair_fit_window(lab_pair(run->replay->lab, i), p, &fits);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (fits.known[s] && kept) {
                write_travel_rows(file, p->id, s, &fits);
            }
        }
    }
}

static enum status write_csv(struct replay_run *run)
{
    static const struct csv_table travel = {"travel_time.csv", write_travel};
    const struct csv_records files[] = {{&record_entries, STORE_ENTRIES, run},
                                        {&record_alarms, STORE_ALARMS, run},
                                        {&record_log, STORE_LOG, run},
                                        {&record_changes, STORE_CHANGES, run}};
    const char *folder = run->options.csv_dir;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < COUNT(files) && status == STATUS_OK; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s.csv", files[i].table->name);
        const struct csv_table table = {name, write_records};
        status = csv_tables_write(folder, &table, 1, &files[i], &run->err);
        status = status == STATUS_OK ? run->err.code : status;
    }
    return status == STATUS_OK ? csv_tables_write(folder, &travel, 1, run, &run->err) : status;
}

/* ---- the summary for people ---------------------------------------------------------------
 */

static void print_speed(const char *what, double value, double lo, double hi, const char *unit)
{
    if (!isfinite(value)) {
        return;
    }
    (void)printf("  %s %.4g %s", what, value, unit);
    if (isfinite(lo) && isfinite(hi)) {
        (void)printf(" [%.4g, %.4g]", lo, hi);
    } else if (isfinite(lo)) {
        (void)printf(" [%.4g, -]", lo);
    } else {
        (void)fputs(" (too few moves for an interval)", stdout);
    }
}

static void print_fit(enum side side, const struct pair_fits *fits)
{
    static const struct {
        bool commanded;
        size_t term;
        const char *words, *unit;
    } rows[] = {{false, TRAVEL_INV_W, "turns at", "rad/s"},
                {false, TRAVEL_INV_V, "drives at", "m/s"},
                {true, PROFILE_JOINT_SPEED, "joints at", "of the speed commanded"},
                {true, PROFILE_LINE_SPEED, "lines at", "of it"}};
    const struct fit_words fit = read_fit(fits, side);
    const struct estimate *e = fit.estimate;
    (void)printf("  %-7s %s, %zu moves, %s:", side_name(side),
                 estimate_verdict_name(e->verdict), fit.n, travel_method_name(fit.method));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t at = rows[i].term;
        if (rows[i].commanded == fits->commanded) {
            print_speed(rows[i].words, e->value[at], e->lo[at], e->hi[at], rows[i].unit);
        }
    }
    (void)putchar('\n');
    for (size_t i = 0; i < e->reason_count; i++) {
        (void)printf("          %s\n", e->reasons[i]);
    }
    for (size_t i = 0; i < e->advice_count; i++) {
        (void)printf("          advice: %s\n", e->advice[i]);
    }
}

/* Prints counts of lines that were not processed as written; zero counts are skipped. */
static void print_oddities(const struct replay_run *run)
{
    const struct replay_counts *c = &run->replay->counts;
    const struct lab_counts *l = lab_counts(run->replay->lab);
    const struct {
        uint64_t n;
        const char *what;
    } odd[] = {
        {c->torn, "torn at the end of a file: a crash cut them"},
        {c->ahead, "stamped far ahead of the previous ones: skipped (--pause-max)"},
        {c->overlong, "too long: skipped"},
        {c->other, "of topics that are not read: the daemon's own, or not below broker.prefix"},
        {l->unknown_pair, "of pairs that are not in the lab file"},
        {l->redelivered, "delivered again: passed over"},
        {l->ambiguous, "ambiguous: it is unknown whether they are duplicates"},
        {l->forgotten_early,
         "forgotten before broker.remember_s: raise broker.remember_messages"},
        {l->retained, "retained commands or replies: old ones, passed over"},
        {l->out_of_order, "earlier than the previous one: given its time, so laps are wrong"},
    };
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        if (odd[i].n > 0) {
            (void)printf("  %llu %s\n", (unsigned long long)odd[i].n, odd[i].what);
        }
    }
}

static void print_summary(const struct replay_run *run)
{
    const struct replay_counts *c = &run->replay->counts;
    (void)printf("\n%llu lines, %llu events, %llu malformed\n", (unsigned long long)c->lines,
                 (unsigned long long)c->events, (unsigned long long)c->malformed);
    print_oddities(run);
    for (size_t i = 0; i < run->file->pair_count; i++) {
        struct pair_fits fits;
        const struct pair *pair = lab_pair(run->replay->lab, i);
        if (pair->version == 0 || !replay_keeps_pair(run, run->file->pairs[i].id)) {
            continue;
        }
        (void)printf("%s: %llu commands", run->file->pairs[i].id,
                     (unsigned long long)pair->counts.commands);
        for (enum verdict v = VERDICT_AHEAD; v < VERDICT_COUNT; v++) {
            if (pair->counts.verdict[v] > 0) {
                (void)printf(", %llu %s", (unsigned long long)pair->counts.verdict[v],
                             verdict_name(v));
            }
        }
        if (pair->counts.consistency[INCONSISTENT] > 0) {
            (void)printf("; %llu inconsistent",
                         (unsigned long long)pair->counts.consistency[INCONSISTENT]);
        }
        (void)printf("; %llu alarms\n", (unsigned long long)pair->counts.alarms);
        pair_fit_window(pair, &run->file->pairs[i], &fits);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (fits.known[s]) {
                print_fit(s, &fits);
            }
        }
    }
}

/* Writes the report at the end: one JSON document, CSV files, or lines for people. */
static enum status write_report(struct replay_run *run)
{
    enum status status = run->spool_status;
    if (status == STATUS_OK && run->options.csv_dir) {
        status = write_csv(run);
    }
    if (status == STATUS_OK && run->options.json) {
        replay_document(run, NULL, stdout);
    } else if (status == STATUS_OK) {
        print_summary(run);
    }
    return status;
}

/* ---- the command ---- */

static int read_and_report(struct replay_run *run, char **paths, int count)
{
    const struct replay_options *o = &run->options;
    const struct replay_input input = {.paths = (const char *const *)paths,
                                       .count = (size_t)count,
                                       .pair = o->pair,
                                       .columns = o->column_words,
                                       .is_table =
                                           o->column_words || replay_moves_is_table(paths[0]),
                                       .goes_on = true,
                                       .speed = o->speed};
    struct err err = {0};
    run->replay->refit = o->refit;
    run->replay->pause_us_max = (int64_t)(o->pause_max_days * 86400e6);
    const enum status status = replay_read_files(run->replay, run->file, &input, &err);
    const bool reported = run->replay->ended && write_report(run) == STATUS_OK;
    if (status != STATUS_OK) {
        csv_file_complain(&err);
    }
    if (run->replay->ended && !reported) {
        csv_file_complain(&run->err);
    }
    if (run->alarms_left_out > 0) {
        (void)complain("replay: %" PRIu64 " alarm%s left out: --verdict and --late choose "
                       "entries",
                       run->alarms_left_out, run->alarms_left_out == 1 ? "" : "s");
    }
    const bool whole = replay_report_left_out(run->replay, o->strict);
    return input.is_table && status == STATUS_E_ARG   ? EXIT_USAGE
           : status == STATUS_OK && reported && whole ? EXIT_FINE
                                                      : EXIT_FAILED;
}

static int open_and_run(struct replay_run *run, char **paths, int count)
{
    const struct effects effects = {replay_write_effect, run};
    int exit_status = EXIT_FAILED;
    if (replay_create(run->file, &effects, &run->replay) != STATUS_OK) {
        complain("out of memory");
    } else if ((run->options.json || run->options.csv_dir) &&
               replay_open_spool(run) != STATUS_OK) {
        csv_file_complain(&run->err);
    } else {
        exit_status = read_and_report(run, paths, count);
    }
    replay_close_spool(run);
    replay_destroy(run->replay);
    return exit_status;
}

static int parse_options(int argc, char **argv, struct replay_options *o,
                         struct entry_filter *filter)
{
    enum { OWN = 9 };
    /* clang-format off */
    struct argument rows[OWN + ENTRY_FILTER_ARGUMENTS] = {
        {"config", 'c', ARGUMENT_TEXT, &o->lab_path, 0, 0, "LAB.yaml", "the lab file (needed)"},
        {"json", 0, ARGUMENT_FLAG, &o->json, 0, 0, NULL, "one JSON document: entries, alarms, fits, clocks, counts"},
        {"csv", 0, ARGUMENT_TEXT, &o->csv_dir, 0, 0, "DIR",
         "entries.csv, alarms.csv, log.csv, changes.csv and travel_time.csv in DIR"},
        {"pause-max", 0, ARGUMENT_REAL, &o->pause_max_days, 0, 36500, "DAYS",
         "longest time between two lines (31; 1000 where the daemon was away); later lines are skipped"},
        {"strict", 0, ARGUMENT_FLAG, &o->strict, 0, 0, NULL, "exit with 1 when any line was skipped"},
        {"refit", 0, ARGUMENT_FLAG, &o->refit, 0, 0, NULL,
         "repeat every fit of dynamics, and ignore the journal's own fits"},
        {"pair", 0, ARGUMENT_TEXT, &o->pair, 0, 0, "ID",
         "results of this pair only; pair of the moves, for a table without a column pair"},
        {"columns", 0, ARGUMENT_TEXT, &o->column_words, 0, 0, "ROLE=NAME,...",
         "columns of a table of moves that are called or measured otherwise: t=stamp:ns,rotation_rad=turn:deg; "
         "@FILE holds them"},
        {"speed", 's', ARGUMENT_REAL, &o->speed, 0, 1e9, "X", "X times as fast as recorded; 0: without pauses (0)"},
    };
    /* clang-format on */
    entry_filter_arguments(filter, rows + OWN);
    const struct arguments arguments = {
        .command = "replay",
        .operands = "FILE...",
        .description =
            "  FILE is a journal, a recording by `mosquitto_sub -F %J` (or %j), or - for "
            "standard\n"
            "  input; a directory means the journal in it. Several files are merged by time.\n"
            "  FILE.csv is a table of moves with t, rotation_rad, displacement_m, real_lap_s,\n"
            "  virtual_lap_s and more, or with the names that --columns gives. No message is "
            "sent to\n"
            "  robots. Equal files give equal bytes. Without --json and --csv it prints a line "
            "for\n"
            "  each entry and alarm, and a summary.\n"
            "\n"
            "  --since, --until, --verdict, --late and --pair choose the records that are "
            "printed.\n"
            "  The lab still processes every message, and counts and fits are those of all.\n"
            "\n"
            "  If a recording ends while commands are open, they time out. After the orderly "
            "stop of\n"
            "  a daemon they stay open in its journal.\n"
            "\n"
            "  A fit of dynamics ends where the daemon's journal says so. In other recordings, "
            "and\n"
            "  with --refit, it ends 5 s after its start. Use --refit with changed options.\n"
            "\n"
            "  Skipped lines are counted, and reported on standard error. A last line cut off "
            "by a\n"
            "  crash is no failure. Whole lines that are too long, or too far ahead in time\n"
            "  (--pause-max), cause exit status 1. With --strict every skipped line does: also "
            "lines\n"
            "  that are no message, on topics that are not read, or of pairs not in the lab "
            "file.\n",
        .examples = "  tandem replay -c lab.yaml journal/\n"
                    "  tandem replay -c lab.yaml --late --since 2026-11-20 --pair r1 journal/\n"
                    "  tandem replay -c lab.yaml lab.jsonl --json | jq .pairs.r1.counts\n",
        .exit_status = "a file could not be read, whole lines were left out, or the results "
                       "not be written",
        ARGUMENT_ROWS(rows)};
    return arguments_parse(&arguments, argc, argv);
}

/* Is --pair absent, or the name of a pair or team? */
static bool check_pair(const struct replay_run *run)
{
    const struct lab_params params = lab_file_params(run->file);
    bool found = !run->options.pair;
    for (size_t i = 0; i < params.pair_count + params.team_count && !found; i++) {
        found = replay_keeps_pair(run, lab_name(&params, (uint32_t)i));
    }
    return found || complain("replay: the lab has no pair '%s'", run->options.pair);
}

int command_replay(int argc, char **argv)
{
    struct lab_file file;
    struct replay_run run = {.file = &file, .options = {.pause_max_days = PAUSE_DAYS}};
    struct entry_filter filter = {0};
    struct query only;
    char query[QUERY_TEXT_MAX];
    int exit_status = parse_options(argc, argv, &run.options, &filter);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    if (!entry_filter_parse(&filter, "replay", query, &only) ||
        !lab_argument_load("replay", run.options.lab_path, &file)) {
        return EXIT_USAGE;
    }
    run.options.only = query[0] ? &only : NULL;
    run.options.colour = colour_wanted(stdout);
    int count = 0;
    while (argv[1 + count]) {
        count++;
    }
    exit_status = check_pair(&run) ? open_and_run(&run, argv + 1, count) : EXIT_USAGE;
    lab_file_free(&file);
    return exit_status;
}
