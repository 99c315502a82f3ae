#include "service/engine/engine_check.h"

#include <stdlib.h>
#include <time.h>

#include "base/text/text.h"
#include "service/engine/engine_target.h"
#include "service/engine/postgresql_schema.h"

enum {
    ANSWER_MS = 5000,
    SERVER_MS = 2000, /* each server of the list, one after the other */
    /* Time stamps of the database are read by people, and retention goes by them. NTP keeps
     * clocks within milliseconds, so a minute is a clock that nobody sets. */
    CLOCK_APART_MS = 60000
};

static int64_t wall_clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void copy_value(const struct postgresql_result *result, size_t column, char *out,
                       size_t size)
{
    const char *text = postgresql_result_text(result, 0, column, NULL);
    (void)snprintf(out, size, "%s", text ? text : "");
}

static bool is_true(const struct postgresql_result *result, size_t column)
{
    const char *text = postgresql_result_text(result, 0, column, NULL);
    return text && (strcmp(text, "on") == 0 || strcmp(text, "t") == 0);
}

static enum status read_settings(struct postgresql *c, struct engine_facts *out,
                                 struct err *err)
{
    static const char sql[] =
        "SELECT current_setting('fsync'), current_setting('full_page_writes'),"
        " current_setting('data_checksums'), current_setting('synchronous_standby_names'),"
        " has_table_privilege('tandem.entries', 'INSERT'),"
        " floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,"
        " count(s.name), string_agg(s.name, ', ' ORDER BY s.name)"
        " FROM tandem.standbys() s WHERE s.sync_state IN ('sync', 'quorum')";
    struct postgresql_result result;
    const enum status status = postgresql_run(
        c,
        &(struct postgresql_statement){
            .what = "read the settings of the server", .sql = sql, .limit_ms = ANSWER_MS},
        &result, err);
    if (status == STATUS_OK) {
        out->fsync = is_true(&result, 0);
        out->full_pages = is_true(&result, 1);
        out->checksums = is_true(&result, 2);
        copy_value(&result, 3, out->sync_names, sizeof out->sync_names);
        out->writes = is_true(&result, 4);
        out->clock_ahead_ms = postgresql_result_number(&result, 0, 5) - wall_clock_ms();
        out->sync_standbys = postgresql_result_number(&result, 0, 6);
        copy_value(&result, 7, out->standbys, sizeof out->standbys);
    }
    postgresql_result_free(&result);
    return status;
}

static enum status read_primary(const struct engine_options *engine, struct engine_facts *out,
                                struct err *err)
{
    struct postgresql_target *target = NULL;
    struct postgresql *c = NULL;
    int64_t oldest = 0;
    enum status status = engine_target_create(engine, NULL, &target, err);
    if (status == STATUS_OK) {
        status = postgresql_open(target, POSTGRESQL_WRITABLE, ANSWER_MS, &c, err);
    }
    if (status == STATUS_OK) {
        (void)snprintf(out->address, sizeof out->address, "%s", postgresql_address(c));
        status = postgresql_schema_check(c, err);
    }
    if (status == STATUS_OK) {
        status = postgresql_schema_read(c, &out->schema, &oldest, err);
    }
    if (status == STATUS_OK) {
        status = read_settings(c, out, err);
    }
    postgresql_close(c);
    postgresql_target_destroy(target);
    return status;
}

static void read_server(const struct engine_options *engine, size_t i,
                        struct engine_server *out)
{
    struct postgresql_target *target = NULL;
    struct postgresql *c = NULL;
    struct postgresql_result result = {0};
    struct err err = {0};
    if (engine_target_create_one(engine, i, &target, &err) == STATUS_OK &&
        postgresql_open(target, POSTGRESQL_ANY, SERVER_MS, &c, &err) == STATUS_OK &&
        postgresql_run(c,
                       &(struct postgresql_statement){.what = "ask whether it is a standby",
                                                      .sql = "SELECT pg_is_in_recovery()",
                                                      .limit_ms = SERVER_MS},
                       &result, &err) == STATUS_OK) {
        out->answers = true;
        out->version = postgresql_version(c);
        out->standby = is_true(&result, 0);
    }
    (void)snprintf(out->why, sizeof out->why, "%s", err.text);
    postgresql_result_free(&result);
    postgresql_close(c);
    postgresql_target_destroy(target);
}

enum status engine_facts_read(const struct lab_file *lab, struct engine_facts *out,
                              struct err *err)
{
    const struct engine_options *engine = &lab->engine;
    *out = (struct engine_facts){0};
    enum status status = read_primary(engine, out, err);
    /* A user without rights is a fault of its own. */
    if (status == STATUS_OK && out->writes) {
        status = engine_session_try(lab, &out->refusals, err);
    }
    for (size_t i = 0; status == STATUS_OK && i < engine->postgresql.server_count; i++) {
        read_server(engine, i, &out->servers[i]);
    }
    return status;
}

/* --- printing --------------------------------------------------------------------------------
 */

struct report {
    FILE *out;
    const char *margin;
    size_t faults;
};

static void PRINTF_LIKE(3, 4)
    print_line(const struct report *report, const char *what, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    TEXT_FORMAT(text, sizeof text, format);
    (void)fprintf(report->out, "%s%-10s %s\n", report->margin, what, text);
}

static void print_server(const struct report *report, const char *name,
                         const struct engine_server *server)
{
    if (server->answers) {
        print_line(report, "server", "%s: PostgreSQL %d.%d, %s", name, server->version / 10000,
                   server->version % 10000, server->standby ? "standby" : "writable");
    } else {
        print_line(report, "server", "%s: does not answer: %s", name, server->why);
    }
}

static void print_standbys(struct report *report, const struct engine_facts *facts,
                           int64_t required)
{
    const bool none = facts->sync_names[0] == '\0';
    print_line(report, "standbys", "%lld synchronous%s%s%s; %lld required",
               (long long)facts->sync_standbys, facts->standbys[0] ? " (" : "", facts->standbys,
               facts->standbys[0] ? ")" : "", (long long)required);
    if (facts->sync_standbys < required) {
        report->faults++;
        print_line(report, "fault", "%s; %s",
                   none ? "no synchronous standby is named, so a lost server loses results"
                        : "too few synchronous standbys are connected",
                   none ? "set synchronous_standby_names = 'ANY 1 (s1,s2,s3)' on every server"
                        : "start them, or see pg_stat_replication on the primary");
    }
}

/* Hours read better than thousands of seconds. */
static void print_clock(struct report *report, int64_t ahead_ms)
{
    const double s = (double)llabs(ahead_ms) / 1000.0;
    const char *side = ahead_ms < 0 ? "behind" : "ahead of";
    if (llabs(ahead_ms) < CLOCK_APART_MS) {
        print_line(report, "clock", "%.1f s %s this machine's", s, side);
        return;
    }
    report->faults++;
    print_line(report, "fault",
               "the server's clock is %.1f %s %s this machine's; set both by NTP (timedatectl)",
               s < 3600.0 ? s : s / 3600.0, s < 3600.0 ? "s" : "hours", side);
}

static void print_settings(const struct report *report, const struct engine_facts *facts)
{
    if (!facts->fsync) {
        print_line(report, "danger",
                   "fsync is off, so a power cut destroys the database; set "
                   "fsync = on");
    }
    if (!facts->full_pages) {
        print_line(report, "danger",
                   "full_page_writes is off, so a power cut can destroy pages; "
                   "set full_page_writes = on");
    }
    if (!facts->checksums) {
        print_line(report, "danger",
                   "data checksums are off, so a bad disk goes unnoticed; stop "
                   "the server and run pg_checksums --enable");
    }
}

static void print_refusal(struct report *report, const struct err *why)
{
    if (why->code != STATUS_OK) {
        report->faults++;
        print_line(report, "fault", "%s: %s", why->where, why->text);
    }
}

size_t engine_facts_print(const struct engine_facts *facts, const struct engine_options *engine,
                          const char *margin, FILE *out)
{
    struct report report = {out, margin, 0};
    for (size_t i = 0; i < engine->postgresql.server_count; i++) {
        print_server(&report, engine->postgresql.servers[i], &facts->servers[i]);
    }
    print_line(&report, "primary", "%s", facts->address);
    print_line(&report, "tables", "version %lld", (long long)facts->schema);
    if (!facts->writes) {
        report.faults++;
        print_line(&report, "fault",
                   "the user \"%s\" may not write results; run tandem db init, or: GRANT "
                   "tandem_writer TO \"%s\"",
                   engine->postgresql.user, engine->postgresql.user);
    }
    print_refusal(&report, &facts->refusals.instance);
    print_refusal(&report, &facts->refusals.pairs);
    print_standbys(&report, facts, (int64_t)engine->postgresql.require_sync);
    print_clock(&report, facts->clock_ahead_ms);
    print_settings(&report, facts);
    return report.faults;
}
