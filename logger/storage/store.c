#include "logger/storage/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/store_parts.h"
#include "logger/storage/store_schema.h"

enum {
    APPLICATION_ID = 1414415437,  /* "TNDM": tells a store from other SQLite files */
    CHECKED_BYTES_MAX = 64 << 20, /* larger files are not read through at the opening */
    SQL_MAX = 4096
};

const struct store_table store_tables[STORE_KIND_COUNT] = {
    [STORE_ENTRIES] = {"entries", "verdict", "lag_s, inconsistent"},
    [STORE_ALARMS] = {"alarms", "type", "NULL, 0"},
    [STORE_LOG] = {"log", "kind", "NULL, 0"},
    [STORE_CHANGES] = {"changes", "action", "NULL, 0"},
};
/* Among counts, beside the verdicts: every entry that is not consistent is one of them, too. */
static const char COUNTED_INCONSISTENT[] = "INCONSISTENT";

/* --- connections ---------------------------------------------------------------------- */

enum status store_fail(const struct store_connection *c, int code, const char *what,
                       struct err *err)
{
    /* A failed open may leave no connection to ask. */
    const char *why = c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_set(err, STATUS_E_PARSE, c->path, 0, 0,
                       "the store is damaged (%s): move it away and restart, the journal makes "
                       "it anew",
                       why);
    case SQLITE_NOMEM:
        return err_set(err, STATUS_E_NOMEM, c->path, 0, 0, "out of memory");
    default:
        return err_set(err, STATUS_E_IO, c->path, 0, 0, "cannot %s the store: %s", what, why);
    }
}

enum status store_connect(struct store_connection *c, const char *path, int flags,
                          const char *vfs, int busy_ms, struct err *err)
{
    c->path = strdup(path);
    if (!c->path) {
        return err_set(err, STATUS_E_NOMEM, path, 0, 0, "out of memory");
    }
    if (flags & SQLITE_OPEN_CREATE) {
        store_close_to_others(path);
    }
    const int code = sqlite3_open_v2(path, &c->db, flags | SQLITE_OPEN_NOMUTEX, vfs);
    if (code != SQLITE_OK) {
        return store_fail(c, code, "open", err);
    }
    (void)sqlite3_busy_timeout(c->db, busy_ms);
    return STATUS_OK;
}

void store_disconnect(struct store_connection *c)
{
    sqlite3_stmt *statement = NULL;
    while (c->db && (statement = sqlite3_next_stmt(c->db, NULL)) != NULL) {
        (void)sqlite3_finalize(statement);
    }
    (void)sqlite3_close(c->db);
    free(c->path);
}

enum status PRINTF_LIKE(4, 5) store_run_sql(const struct store_connection *c, const char *what,
                                            struct err *err, const char *format, ...)
{
    char sql[SQL_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    const int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK : store_fail(c, code, what, err);
}

int PRINTF_LIKE(3, 4) store_prepare(const struct store_connection *c, sqlite3_stmt **statement,
                                    const char *format, ...)
{
    char sql[SQL_MAX];
    va_list arguments;
    if (*statement) {
        return SQLITE_OK;
    }
    va_start(arguments, format);
    (void)vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    return sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

int store_bind(sqlite3_stmt *statement, const char *types, ...)
{
    va_list values;
    int code = SQLITE_OK;
    va_start(values, types);
    for (int at = 1; types[at - 1]; at++) {
        if (types[at - 1] == 'i') {
            code |= sqlite3_bind_int64(statement, at, va_arg(values, int64_t));
        } else if (types[at - 1] == 't') {
            code |= sqlite3_bind_text(statement, at, va_arg(values, const char *), -1,
                                      SQLITE_STATIC);
        } else {
            /* SQLite takes NaN for null. */
            code |= sqlite3_bind_double(statement, at, va_arg(values, double));
        }
    }
    va_end(values);
    return code == SQLITE_OK ? SQLITE_OK : SQLITE_NOMEM;
}

static int step_once(sqlite3_stmt *statement)
{
    const int code = sqlite3_step(statement);
    const int reset = sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : (reset != SQLITE_OK ? reset : code);
}

int store_query_number(const struct store_connection *c, const char *sql, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(c->db, sql, -1, &statement, NULL);
    *out = 0;
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
    }
    if (code == SQLITE_ROW) {
        *out = sqlite3_column_int64(statement, 0);
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static void roll_back(const struct store_connection *c)
{
    /* After some failures SQLite has done it by itself. */
    if (!sqlite3_get_autocommit(c->db)) {
        (void)sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

/* --- the tables and their versions ---------------------------------------------------- */

enum status store_read_version(const struct store_connection *c, int64_t *version,
                               struct err *err)
{
    int64_t application = 0;
    int64_t tables = 0;
    int64_t found = 0;
    int code = store_query_number(c, "PRAGMA application_id", &application);
    if (code == SQLITE_OK) {
        code = store_query_number(c, "SELECT count(*) FROM sqlite_schema", &tables);
    }
    if (code == SQLITE_OK && application == APPLICATION_ID) {
        code = store_query_number(c, "SELECT value FROM meta WHERE key = 'schema_version'",
                                  &found);
        code = (code & 0xff) == SQLITE_ERROR ? SQLITE_OK : code;
    }
    if (code != SQLITE_OK) {
        return store_fail(c, code, "read", err);
    }
    if (found < 1 && (application != 0 || tables != 0)) {
        return err_set(err, STATUS_E_PARSE, c->path, 0, 0,
                       "is a database, but not of this program: give the store another path");
    }
    if (found > STORE_SCHEMA_VERSION) {
        return err_set(err, STATUS_E_STALE, c->path, 0, 0,
                       "the store has version %lld, this program knows up to %d: use the newer "
                       "program, or another path",
                       (long long)found, STORE_SCHEMA_VERSION);
    }
    *version = found;
    return STATUS_OK;
}

/* Bring the tables up to STORE_SCHEMA_VERSION, each step in a transaction. */
static enum status update_tables(const struct store_connection *c, int64_t version,
                                 struct err *err)
{
    enum status status = STATUS_OK;
    for (; status == STATUS_OK && version < STORE_SCHEMA_VERSION; version++) {
        status =
            store_run_sql(c, "bring up to date", err,
                          "BEGIN IMMEDIATE; %s"
                          "INSERT OR REPLACE INTO meta VALUES('schema_version', %d); COMMIT",
                          store_schema_steps[version], (int)version + 1);
    }
    if (status != STATUS_OK) {
        roll_back(c);
    }
    return status;
}

/* --- opening -------------------------------------------------------------------------- */

/* A damaged file is better noticed now than by the first row that meets the damage. Reading
 * through a large one would delay the start too long. */
static enum status check_pages(const struct store_connection *c, struct err *err)
{
    int64_t bytes = 0;
    int64_t good = 1;
    int code = store_query_number(
        c, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
        &bytes);
    if (code == SQLITE_OK && bytes <= CHECKED_BYTES_MAX) {
        code = store_query_number(
            c, "SELECT count(*) FROM pragma_quick_check(1) WHERE quick_check = 'ok'", &good);
    }
    if (code != SQLITE_OK) {
        return store_fail(c, code, "read", err);
    }
    return good ? STATUS_OK
                : err_set(err, STATUS_E_PARSE, c->path, 0, 0,
                          "the store is damaged: move it away and restart, the journal makes "
                          "it anew");
}

static enum status set_up_file(const struct store_connection *c, uint64_t pages_max,
                               struct err *err)
{
    /* A file that is not ours stays untouched, so this question comes first. */
    int64_t version = 0;
    enum status status = store_read_version(c, &version, err);
    if (status == STATUS_OK) {
        /* FULL, for a checkpoint relies on rows that were committed before it; with batches
         * that is one sync now and then. */
        status =
            store_run_sql(c, "open", err,
                          "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                          "PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192");
    }
    if (status == STATUS_OK) {
        status = check_pages(c, err);
    }
    if (status == STATUS_OK && pages_max > 0) {
        status = store_run_sql(c, "limit", err, "PRAGMA max_page_count = %llu",
                               (unsigned long long)pages_max);
    }
    return status == STATUS_OK ? update_tables(c, version, err) : status;
}

static enum status set_up_spool(const struct store_connection *c, struct err *err)
{
    enum status status = store_run_sql(c, "open", err,
                                       "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                       "PRAGMA cache_size = -8192; PRAGMA temp_store = FILE");
    for (int kind = 0; kind < STORE_KIND_COUNT && status == STATUS_OK; kind++) {
        status =
            store_run_sql(c, "make", err,
                          "CREATE TABLE %s(seq INTEGER PRIMARY KEY, pair TEXT, n INTEGER,"
                          "  t_us INTEGER, id TEXT, %s TEXT, lag_s REAL, inconsistent INTEGER,"
                          "  json TEXT)",
                          store_tables[kind].table, store_tables[kind].type_column);
    }
    return status;
}

static enum status prepare_adding(struct store *s, struct err *err)
{
    int code = SQLITE_OK;
    for (int kind = 0; kind < STORE_KIND_COUNT && code == SQLITE_OK; kind++) {
        const bool own = kind == STORE_ENTRIES;
        code = store_prepare(&s->c, &s->add[kind],
                             "INSERT INTO %s(pair, n, t_us, id, %s, seq, json%s)"
                             " VALUES(?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?9%s)%s",
                             store_tables[kind].table, store_tables[kind].type_column,
                             own ? ", lag_s, inconsistent" : "", own ? ", ?7, ?8" : "",
                             s->spool ? "" : " ON CONFLICT(pair, t_us, n) DO NOTHING");
    }
    if (code == SQLITE_OK && !s->spool) {
        code = store_prepare(&s->c, &s->count,
                             "INSERT INTO counts VALUES(?1, ?2, ?3, 1)"
                             " ON CONFLICT DO UPDATE SET count = count + 1");
    }
    return code == SQLITE_OK ? STATUS_OK : store_fail(&s->c, code, "open", err);
}

enum status store_open(const struct store_params *params, struct store **out, struct err *err)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s) {
        return err_set(err, STATUS_E_NOMEM, params->path, 0, 0, "out of memory");
    }
    s->spool = params->spool;
    enum status status =
        store_connect(&s->c, params->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                      params->vfs, params->busy_timeout_ms, err);
    if (status == STATUS_OK) {
        status =
            s->spool ? set_up_spool(&s->c, err) : set_up_file(&s->c, params->pages_max, err);
    }
    if (status == STATUS_OK) {
        status = prepare_adding(s, err);
    }
    if (status != STATUS_OK) {
        store_close(s);
        return status;
    }
    *out = s;
    return STATUS_OK;
}

void store_close(struct store *store)
{
    if (store) {
        store_disconnect(&store->c);
        free(store);
    }
}

/* --- writing -------------------------------------------------------------------------- */

enum status store_begin(struct store *store, struct err *err)
{
    return store_run_sql(&store->c, "write", err, "BEGIN IMMEDIATE");
}

enum status store_commit(struct store *store, struct err *err)
{
    return store_run_sql(&store->c, "write", err, "COMMIT");
}

void store_rollback(struct store *store)
{
    roll_back(&store->c);
}

static bool text_fits(const char *text, size_t least, size_t capacity)
{
    const size_t bytes = text ? strnlen(text, capacity) : capacity;
    return bytes >= least && bytes < capacity;
}

bool store_row_is_valid(const struct store_row *row)
{
    return (unsigned)row->kind < STORE_KIND_COUNT && text_fits(row->pair, 1, EVENT_PAIR_MAX) &&
           text_fits(row->id, 0, EVENT_ID_MAX) && text_fits(row->type, 1, STORE_TYPE_MAX) &&
           row->n <= INT64_MAX && row->seq <= INT64_MAX && row->json &&
           row->json_bytes <= STORE_JSON_MAX;
}

static int count_one(struct store *store, const struct store_row *row, const char *type)
{
    const int code = store_bind(store->count, "itt", (int64_t)row->kind, row->pair, type);
    return code == SQLITE_OK ? step_once(store->count) : code;
}

enum status store_add(struct store *store, const struct store_row *row, bool *is_new,
                      struct err *err)
{
    if (!store_row_is_valid(row)) {
        return err_set(err, STATUS_E_ARG, store->c.path, 0, 0, "a row beyond its limits");
    }
    sqlite3_stmt *add = store->add[row->kind];
    int code = store_bind(add, "tiittiri", row->pair, (int64_t)row->n, row->t_us, row->id,
                          row->type, (int64_t)row->seq, row->lag_s, (int64_t)row->inconsistent);
    code |= sqlite3_bind_text(add, 9, row->json, (int)row->json_bytes, SQLITE_STATIC);
    code = code == SQLITE_OK ? step_once(add) : SQLITE_NOMEM;
    const bool added = code == SQLITE_OK && sqlite3_changes(store->c.db) == 1;
    if (added && store->count) {
        code = count_one(store, row, row->type);
    }
    if (added && store->count && row->inconsistent && code == SQLITE_OK) {
        code = count_one(store, row, COUNTED_INCONSISTENT);
    }
    if (code != SQLITE_OK) {
        return store_fail(&store->c, code, "write", err);
    }
    if (is_new) {
        *is_new = added;
    }
    return STATUS_OK;
}

static enum status remove_some(struct store *s, enum store_kind kind, int64_t before_us,
                               int limit, uint64_t *removed, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int code = store_prepare(&s->c, &statement,
                             "DELETE FROM %s WHERE seq IN"
                             " (SELECT seq FROM %s WHERE t_us < ?1 ORDER BY t_us LIMIT ?2)",
                             store_tables[kind].table, store_tables[kind].table);
    if (code == SQLITE_OK) {
        code = store_bind(statement, "ii", before_us, (int64_t)limit);
    }
    code = code == SQLITE_OK ? step_once(statement) : code;
    (void)sqlite3_finalize(statement);
    if (code != SQLITE_OK) {
        return store_fail(&s->c, code, "shorten", err);
    }
    *removed += (uint64_t)sqlite3_changes(s->c.db);
    return STATUS_OK;
}

enum status store_remove_before(struct store *store, int64_t before_us, int limit,
                                uint64_t *removed, struct err *err)
{
    uint64_t sum = 0;
    enum status status = store_begin(store, err);
    for (int kind = 0; kind < STORE_KIND_COUNT && status == STATUS_OK; kind++) {
        status = remove_some(store, (enum store_kind)kind, before_us, limit, &sum, err);
    }
    if (status == STATUS_OK) {
        status = store_commit(store, err);
    }
    if (status != STATUS_OK) {
        store_rollback(store);
        return status;
    }
    *removed = sum;
    return STATUS_OK;
}
