#include "logger/fence/fence_journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"

/* Every statement returns the row, and whether commits wait for standbys. */
#define ROW                                                                                    \
    "lease::text, epoch, beat, n, t_us, renewed = 'epoch', "                                   \
    "current_setting('synchronous_standby_names'), current_setting('synchronous_commit')"

enum { ROW_LEASE, ROW_EPOCH, ROW_BEAT, ROW_N, ROW_T, ROW_RELEASED, ROW_NAMES, ROW_COMMIT };
enum { LINE_N = ROW_COMMIT + 1, LINE_TEXT }; /* of FOLLOW */
enum { TABLE_LINES = 5000000 }; /* of a table of the journal, as extend_journal() makes them */

static const char take_sql[] =
    "UPDATE part SET lease = $2::uuid, epoch = epoch + 1, owner = $3, beat = beat + 1, "
    "renewed = clock_timestamp(), state = $4 WHERE p = $1 AND lease = $5::uuid AND beat = $6 "
    "RETURNING " ROW;

static const char ask_sql[] = "UPDATE part SET lease = $2::uuid, beat = beat + 1, renewed = "
                              "clock_timestamp(), state = $3 "
                              "WHERE p = $1 AND lease IN ($2::uuid, $4::uuid) RETURNING " ROW;

static const char write_sql[] =
    "WITH f AS (UPDATE part SET n = n + cardinality($3::text[]), beat = beat + 1, t_us = $5, "
    "renewed = clock_timestamp() WHERE p = $1 AND lease = $2::uuid AND n = $4 RETURNING *), "
    "w AS (INSERT INTO journal(p, n, epoch, at, line) SELECT $1, $4 + i, f.epoch, f.renewed, "
    "u.line "
    "FROM f, unnest($3::text[]) WITH ORDINALITY AS u(line, i)) SELECT " ROW " FROM f";

static const char yield_sql[] = "UPDATE part SET renewed = 'epoch', state = 'released', "
                                "beat = beat + 1 WHERE p = $1 AND lease = $2::uuid "
                                "RETURNING " ROW;

/* A read would also be answered by a server that was replaced; this waits for a standby. */
static const char look_sql[] = "UPDATE part SET state = state WHERE p = $1 RETURNING " ROW;

static const char follow_sql[] =
    "SELECT " ROW ", line_n, line FROM part LEFT JOIN LATERAL (SELECT line_n, line FROM "
    "(SELECT line_n, line, sum(octet_length(line)) OVER (ORDER BY line_n) - octet_length(line) "
    "AS before FROM (SELECT j.n AS line_n, j.line FROM journal j WHERE j.p = $1 AND "
    "j.n >= least(greatest($2, 1), part.n) ORDER BY j.n LIMIT $3) AS page) AS counted "
    "WHERE before < $4) AS found ON true WHERE p = $1 ORDER BY line_n";

static const char lines_sql[] =
    "SELECT line FROM journal WHERE p = $1 AND n > $2 ORDER BY n LIMIT $3";

struct fence_journal {
    struct fence_journal_params params;
    struct postgresql *connection; /* NULL: none */
    struct postgresql_result read; /* of the last FOLLOW */
    size_t read_count;
    int64_t prepared_n; /* lines up to here have a table */
};

enum status fence_journal_create(const struct fence_journal_params *params,
                                 struct fence_journal **out, struct err *err)
{
    if (params->limit_ms <= 0) {
        return err_set(err, STATUS_E_ARG, FAULT_OUT_OF_RANGE, "engine.postgresql",
                       "the time limit must be above 0");
    }
    struct fence_journal *journal = calloc(1, sizeof *journal);
    if (!journal) {
        return err_no_memory(err, "engine.postgresql", "the journal of a partition");
    }
    journal->params = *params;
    *out = journal;
    return STATUS_OK;
}

static void close_connection(struct fence_journal *j)
{
    postgresql_close(j->connection);
    j->connection = NULL;
}

static void free_lines(struct fence_journal *j)
{
    postgresql_result_free(&j->read);
    j->read_count = 0;
}

void fence_journal_destroy(struct fence_journal *journal)
{
    if (journal) {
        free_lines(journal);
        close_connection(journal);
        free(journal);
    }
}

static enum status run_sql(struct fence_journal *j, const char *what, const char *sql,
                           const struct postgresql_value *values, size_t count,
                           struct postgresql_result *result, struct err *err)
{
    return postgresql_run(j->connection,
                          &(struct postgresql_statement){.what = what,
                                                         .sql = sql,
                                                         .values = values,
                                                         .count = count,
                                                         .limit_ms = j->params.limit_ms},
                          result, err);
}

/* Connects, unless it is connected. While a commit waits for a standby it locks the row; who
 * waits for that lock gives up in time, or the waiting sessions would fill the server. */
static enum status ensure_connection(struct fence_journal *j, struct err *err)
{
    if (j->connection && !postgresql_is_broken(j->connection)) {
        return STATUS_OK;
    }
    close_connection(j);
    const enum status status = postgresql_open(j->params.target, POSTGRESQL_WRITABLE,
                                               j->params.limit_ms, &j->connection, err);
    if (status != STATUS_OK) {
        j->connection = NULL;
        return status;
    }
    char limit[32];
    (void)snprintf(limit, sizeof limit, "%lld", (long long)j->params.limit_ms);
    const struct postgresql_value value = postgresql_text(limit);
    return run_sql(j, "set the time limit", "SELECT set_config('lock_timeout', $1, false)",
                   &value, 1, NULL, err);
}

/* The standbys that a commit waits for: "ANY 2 (a,b,c)" 2, "a,b" 1, "" none. */
static unsigned count_standbys(const char *names)
{
    const char *list = strchr(names, '(');
    if (!list) {
        return names[0] != '\0';
    }
    const char *digits = list;
    while (digits > names && strchr(" 0123456789", digits[-1])) {
        digits--;
    }
    return (unsigned)strtoul(digits, NULL, 10);
}

/* Fills *out from the first row of a result. False: there is none. */
static bool read_row(const struct fence_journal *j, const struct postgresql_result *result,
                     struct fence_result *out)
{
    if (result->rows == 0) {
        return false;
    }
    const char *released = postgresql_result_text(result, 0, ROW_RELEASED, NULL);
    const char *commit = postgresql_result_text(result, 0, ROW_COMMIT, NULL);
    const bool waits = strcmp(commit, "on") == 0 || strcmp(commit, "remote_apply") == 0;
    (void)snprintf(out->row.lease.text, sizeof out->row.lease.text, "%s",
                   postgresql_result_text(result, 0, ROW_LEASE, NULL));
    out->row.epoch = postgresql_result_number(result, 0, ROW_EPOCH);
    out->row.beat = postgresql_result_number(result, 0, ROW_BEAT);
    out->row.n = postgresql_result_number(result, 0, ROW_N);
    out->row.t_us = postgresql_result_number(result, 0, ROW_T);
    out->row.released = released[0] == 't';
    out->durable = waits && !result->warned &&
                   count_standbys(postgresql_result_text(result, 0, ROW_NAMES, NULL)) >=
                       j->params.require_sync;
    return true;
}

/* Runs a statement that returns the row, or no row. */
static void run_row(struct fence_journal *j, const char *what, const char *sql,
                    const struct postgresql_value *values, size_t count,
                    struct fence_result *out, struct err *err)
{
    struct postgresql_result result = {0};
    if (run_sql(j, what, sql, values, count, &result, err) == STATUS_OK) {
        out->answer = read_row(j, &result, out) ? FENCE_ROW : FENCE_NO_ROW;
    } else if (strcmp(result.sqlstate, "23514") == 0) {
        j->prepared_n = 0; /* the table of these lines is missing */
    }
    postgresql_result_free(&result);
}

/* Are the lines behind request->n those in doubt, and no others? */
static bool is_stored(struct fence_journal *j, const struct fence_request *request,
                      const struct postgresql_text *lines, struct fence_result *out,
                      struct err *err)
{
    const struct postgresql_value values[] = {postgresql_text(j->params.partition),
                                              postgresql_number(request->n),
                                              postgresql_number((int64_t)request->lines + 1)};
    struct postgresql_result result = {0};
    if (run_sql(j, "read the lines in doubt", lines_sql, values, COUNT(values), &result, err) !=
        STATUS_OK) {
        out->answer = FENCE_FAILED;
    }
    bool same = result.rows == request->lines;
    for (size_t i = 0; same && i < request->lines; i++) {
        size_t bytes;
        const char *line = postgresql_result_text(&result, i, 0, &bytes);
        same = bytes == lines[i].bytes && memcmp(line, lines[i].at, bytes) == 0;
    }
    postgresql_result_free(&result);
    return same;
}

static void run_ask(struct fence_journal *j, const struct fence_request *request,
                    const struct postgresql_text *lines, struct fence_result *out,
                    struct err *err)
{
    const struct postgresql_value values[] = {
        postgresql_text(j->params.partition), postgresql_text(request->next.text),
        postgresql_text(request->refill ? "refill" : "own"),
        postgresql_text(request->lease.text)};
    run_row(j, "ask for the lease", ask_sql, values, COUNT(values), out, err);
    if (out->answer == FENCE_ROW && out->row.n > request->n) {
        out->same = is_stored(j, request, lines, out, err);
    } else if (out->answer == FENCE_NO_ROW) {
        run_row(j, "read the fence", look_sql, values, 1, out, err);
        /* Not durable: this may be a server that was replaced, so nothing is known. */
        out->answer = out->answer == FENCE_ROW && out->durable ? FENCE_NO_ROW : FENCE_FAILED;
    }
}

static void run_follow(struct fence_journal *j, const struct fence_request *request,
                       struct fence_result *out, struct err *err)
{
    const struct postgresql_value values[] = {
        postgresql_text(j->params.partition), postgresql_number(request->n),
        postgresql_number(FENCE_LINES_MAX + 1), postgresql_number(FENCE_BYTES_MAX)};
    if (run_sql(j, "follow the journal", follow_sql, values, COUNT(values), &j->read, err) !=
        STATUS_OK) {
        return;
    }
    if (!read_row(j, &j->read, out)) {
        out->answer = FENCE_NO_ROW;
        return;
    }
    out->answer = FENCE_ROW;
    j->read_count = postgresql_result_text(&j->read, 0, LINE_N, NULL) ? j->read.rows : 0;
}

static void run_take(struct fence_journal *j, const struct fence_request *request,
                     struct fence_result *out, struct err *err)
{
    const struct postgresql_value values[] = {
        postgresql_text(j->params.partition),
        postgresql_text(request->next.text),
        postgresql_text(j->params.owner),
        postgresql_text(request->refill ? "refill" : "own"),
        postgresql_text(request->lease.text),
        postgresql_number(request->beat)};
    run_row(j, "take the partition", take_sql, values, COUNT(values), out, err);
}

static void run_write(struct fence_journal *j, const struct fence_request *request,
                      const struct postgresql_text *lines, struct fence_result *out,
                      struct err *err)
{
    const struct postgresql_value values[] = {
        postgresql_text(j->params.partition), postgresql_text(request->lease.text),
        postgresql_texts(lines, request->lines), postgresql_number(request->n),
        postgresql_number(request->t_us)};
    run_row(j, "write the journal", write_sql, values, COUNT(values), out, err);
}

static void run_yield(struct fence_journal *j, const struct fence_request *request,
                      struct fence_result *out, struct err *err)
{
    const struct postgresql_value values[] = {postgresql_text(j->params.partition),
                                              postgresql_text(request->lease.text)};
    run_row(j, "hand the partition over", yield_sql, values, COUNT(values), out, err);
}

/* Creates the table of line n, and the next one. */
static enum status extend_journal(struct fence_journal *j, int64_t n, struct err *err)
{
    const struct postgresql_value values[] = {postgresql_text(j->params.partition),
                                              postgresql_number(n)};
    const enum status status =
        run_sql(j, "create a table of the journal", "SELECT extend_journal($1, $2)", values,
                COUNT(values), NULL, err);
    if (status == STATUS_OK) {
        j->prepared_n = (n / TABLE_LINES + 2) * TABLE_LINES - 1;
    }
    return status;
}

enum status fence_journal_prepare(struct fence_journal *journal, struct err *err)
{
    const struct postgresql_value value = postgresql_text(journal->params.partition);
    enum status status = ensure_connection(journal, err);
    if (status == STATUS_OK) {
        status = extend_journal(journal, 0, err);
    }
    return status == STATUS_OK
               ? run_sql(journal, "create the fence",
                         "INSERT INTO part VALUES ($1, gen_random_uuid(), 0, '', 0, 0, "
                         "-9223372036854775808, 'epoch', 'released') ON CONFLICT DO NOTHING",
                         &value, 1, NULL, err)
               : status;
}

enum status fence_journal_identify(struct fence_journal *journal, int64_t *database,
                                   struct err *err)
{
    struct postgresql_result result = {0};
    enum status status = ensure_connection(journal, err);
    if (status == STATUS_OK) {
        status =
            run_sql(journal, "read the identifier",
                    "SELECT system_identifier FROM pg_control_system()", NULL, 0, &result, err);
    }
    if (status == STATUS_OK) {
        *database = postgresql_result_number(&result, 0, 0);
    }
    postgresql_result_free(&result);
    return status;
}

bool fence_journal_accepts(const char *line, size_t bytes)
{
    uint32_t code = 1;
    for (size_t at = 0, step; at < bytes; at += step) {
        step = utf8_next(line + at, bytes - at, &code);
        if (step == 0 || code == 0) {
            return false;
        }
    }
    return true;
}

void fence_journal_run(struct fence_journal *journal, const struct fence_request *request,
                       const struct postgresql_text *lines, struct fence_result *result,
                       struct err *err)
{
    *result = (struct fence_result){.answer = FENCE_FAILED};
    free_lines(journal);
    if (request->statement == FENCE_ASK) {
        close_connection(journal);
    }
    if (ensure_connection(journal, err) != STATUS_OK) {
        return;
    }
    switch (request->statement) {
    case FENCE_FOLLOW:
        run_follow(journal, request, result, err);
        return;
    case FENCE_TAKE:
        run_take(journal, request, result, err);
        break;
    case FENCE_ASK:
        run_ask(journal, request, lines, result, err);
        break;
    case FENCE_WRITE:
        run_write(journal, request, lines, result, err);
        break;
    case FENCE_YIELD:
        run_yield(journal, request, result, err);
        return;
    case FENCE_NONE:
    default:
        return;
    }
    /* The next lines need a table before they come. If that fails, the next write says so. */
    if (result->answer == FENCE_ROW && result->row.n + TABLE_LINES / 5 > journal->prepared_n) {
        (void)extend_journal(journal, result->row.n, NULL);
    }
}

void fence_journal_report(struct fence_journal *journal, int64_t n)
{
    const struct postgresql_value values[] = {postgresql_text(journal->params.partition),
                                              postgresql_text(journal->params.owner),
                                              postgresql_number(n)};
    if (ensure_connection(journal, NULL) == STATUS_OK) {
        (void)run_sql(
            journal, "report a follower",
            "UPDATE instance SET n = $3, seen = clock_timestamp() WHERE name = $2 AND p = $1",
            values, COUNT(values), NULL, NULL);
    }
}

int64_t fence_journal_follower(struct fence_journal *journal)
{
    const struct postgresql_value values[] = {postgresql_text(journal->params.partition),
                                              postgresql_text(journal->params.owner),
                                              postgresql_number(FENCE_REPORT_S)};
    struct postgresql_result result = {0};
    int64_t n = -1;
    if (ensure_connection(journal, NULL) == STATUS_OK &&
        run_sql(journal, "read the followers",
                "SELECT max(n) FROM instance WHERE p = $1 AND name <> $2 AND "
                "seen > clock_timestamp() - make_interval(secs => $3)",
                values, COUNT(values), &result, NULL) == STATUS_OK &&
        postgresql_result_text(&result, 0, 0, NULL)) {
        n = postgresql_result_number(&result, 0, 0);
    }
    postgresql_result_free(&result);
    return n;
}

size_t fence_journal_count(const struct fence_journal *journal)
{
    return journal->read_count;
}

struct postgresql_text fence_journal_line(const struct fence_journal *journal, size_t i,
                                          int64_t *n)
{
    struct postgresql_text line;
    line.at = postgresql_result_text(&journal->read, i, LINE_TEXT, &line.bytes);
    *n = postgresql_result_number(&journal->read, i, LINE_N);
    return line;
}
