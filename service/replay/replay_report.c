#include "service/replay/replay_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "logger/message/record_json.h"
#include "service/cli/csv_tables.h"
#include "service/replay/replay_document.h"
#include "twin/report/fit_report.h"
#include "web/http/csv.h"

/* ---- CSV ----------------------------------------------------------------------------------
 */

struct csv_run {
    const struct record_table *table;
    FILE *file;
    struct body body;
};

static bool flush_body(struct csv_run *c)
{
    const bool good =
        !c->body.failed && (c->body.bytes == 0 ||
                            fwrite(c->body.text, 1, c->body.bytes, c->file) == c->body.bytes);
    body_clear(&c->body);
    return good;
}

static bool write_csv_row(void *context, const struct store_row *row)
{
    struct csv_run *c = context;
    csv_row(&c->body, c->table->columns, c->table->column_count, row->json, row->json_bytes);
    return c->body.bytes < 65536 || flush_body(c);
}

static FILE *create_csv(struct replay_run *run, const char *name, char path[512])
{
    (void)snprintf(path, 512, "%s/%s.csv", run->options.csv_dir, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        (void)err_set(&run->err, STATUS_E_IO, path, 0, 0, "cannot be written: %s",
                      strerrordesc_np(errno));
    }
    return file;
}

static enum status write_table(struct replay_run *run, const struct record_table *table,
                               enum store_kind kind)
{
    char path[512];
    struct csv_run c = {.table = table, .file = create_csv(run, table->name, path)};
    if (!c.file) {
        return STATUS_E_IO;
    }
    csv_header(&c.body, table->columns, table->column_count);
    enum status status = store_each(run->spool, kind, NULL, 0, write_csv_row, &c, &run->err);
    const bool written = flush_body(&c);
    if (fclose(c.file) != 0 || (!written && status == STATUS_OK)) {
        status = err_set(&run->err, STATUS_E_IO, path, 0, 0, "cannot be written");
    }
    return status;
}

static void write_travel_rows(FILE *file, const char *id, enum side side,
                              const struct travel_fit *fit)
{
    for (enum travel_term t = TRAVEL_T0; t < TRAVEL_P; t++) {
        const struct estimate *e = &fit->estimate;
        (void)fprintf(file, "%s,%s,%zu,%s,%s,%s,", id, side_name(side), fit->n,
                      travel_method_name(fit->method),
                      estimate_verdict_name(fit->estimate.verdict), travel_term_name(t));
        csv_tables_number(file, e->value[t], false);
        csv_tables_number(file, e->se[t], false);
        csv_tables_number(file, e->lo[t], false);
        csv_tables_number(file, e->hi[t], true);
    }
}

static enum status write_travel_csv(struct replay_run *run)
{
    char path[512];
    FILE *file = create_csv(run, "travel_time", path);
    if (!file) {
        return STATUS_E_IO;
    }
    (void)fputs("pair,side,n,method,verdict,term,value,se,ci95_lo,ci95_hi\n", file);
    for (size_t i = 0; i < run->file->pair_count; i++) {
        struct pair_fits fits;
        const struct pair_params *p = &run->file->pairs[i];
        pair_fit_window(lab_pair(run->replay->lab, i), p, &fits);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (fits.known[s]) {
                write_travel_rows(file, p->id, s, &fits.fit[s]);
            }
        }
    }
    return fclose(file) == 0 ? STATUS_OK
                             : err_set(&run->err, STATUS_E_IO, path, 0, 0, "cannot be written");
}

static enum status write_csv(struct replay_run *run)
{
    if (mkdir(run->options.csv_dir, 0777) != 0 && errno != EEXIST) {
        return err_set(&run->err, STATUS_E_IO, run->options.csv_dir, 0, 0, "cannot be made: %s",
                       strerrordesc_np(errno));
    }
    static const struct {
        const struct record_table *table;
        enum store_kind kind;
    } tables[] = {{&record_entries, STORE_ENTRIES},
                  {&record_alarms, STORE_ALARMS},
                  {&record_log, STORE_LOG},
                  {&record_changes, STORE_CHANGES}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < COUNT(tables) && status == STATUS_OK; i++) {
        status = write_table(run, tables[i].table, tables[i].kind);
    }
    return status == STATUS_OK ? write_travel_csv(run) : status;
}

/* ---- the summary for people ---------------------------------------------------------------
 */

static void print_speed(const char *what, double value, double lo, double hi, const char *unit)
{
    if (isfinite(value)) {
        (void)printf("  %s %.4g [%.4g, %.4g] %s", what, value, lo, hi, unit);
    }
}

static void print_fit(enum side side, const struct travel_fit *fit)
{
    (void)printf("  %-7s %s, %zu moves, %s:", side_name(side),
                 estimate_verdict_name(fit->estimate.verdict), fit->n,
                 travel_method_name(fit->method));
    print_speed("turns at", fit->estimate.value[TRAVEL_INV_W], fit->estimate.lo[TRAVEL_INV_W],
                fit->estimate.hi[TRAVEL_INV_W], "rad/s");
    print_speed("drives at", fit->estimate.value[TRAVEL_INV_V], fit->estimate.lo[TRAVEL_INV_V],
                fit->estimate.hi[TRAVEL_INV_V], "m/s");
    (void)putchar('\n');
    for (size_t i = 0; i < fit->estimate.reason_count; i++) {
        (void)printf("          %s\n", fit->estimate.reasons[i]);
    }
    for (size_t i = 0; i < fit->estimate.advice_count; i++) {
        (void)printf("          advice: %s\n", fit->estimate.advice[i]);
    }
}

/* What of the recording was not taken as it stands there; nothing is said of what is zero. */
static void print_oddities(const struct replay_run *run)
{
    const struct replay_counts *c = &run->replay->counts;
    const struct lab_counts *l = lab_counts(run->replay->lab);
    const struct {
        uint64_t n;
        const char *what;
    } odd[] = {
        {c->torn, "torn at the end of a file: a crash cut them"},
        {c->ahead, "stamped far ahead of those before them: passed over (--pause-max)"},
        {c->other, "of topics that are not read: the daemon's own, or not below broker.prefix"},
        {l->unknown_pair, "of pairs that are not in the lab file"},
        {l->redelivered, "delivered again: passed over"},
        {l->retained, "retained commands or replies: old ones, passed over"},
        {l->out_of_order,
         "earlier than the one before: taken as of its time, so laps are wrong"},
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
        if (pair->version == 0) {
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
        (void)printf("; %llu alarms\n", (unsigned long long)pair->counts.alarms);
        pair_fit_window(pair, &run->file->pairs[i], &fits);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (fits.known[s]) {
                print_fit(s, &fits.fit[s]);
            }
        }
    }
}

/* ---- the end ------------------------------------------------------------------------------
 */

enum status replay_report(struct replay_run *run)
{
    enum status status = replay_end_spool(run);
    if (status == STATUS_OK && run->options.csv_dir) {
        status = write_csv(run);
    }
    if (status == STATUS_OK && run->options.json) {
        status = replay_document(run, NULL, stdout);
    } else if (status == STATUS_OK) {
        print_summary(run);
    }
    return status;
}
