#include "logger/storage/store_schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "TNDM": tells a store from other SQLite files. */
#define APPLICATION_ID "1414415437"
enum { APPLICATION_ID_NUMBER = 1414415437 };

/* steps[v] takes a store of version v to version v + 1. Once released a step never changes. */
static const char *const steps[STORE_SCHEMA_VERSION] = {
    "PRAGMA application_id = " APPLICATION_ID ";"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE entries(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, verdict TEXT NOT NULL, lag_s REAL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE TABLE alarms(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE INDEX entries_by_time ON entries(t_us, pair, n);"
    "CREATE INDEX alarms_by_time ON alarms(t_us, pair, n);",

    "CREATE INDEX entries_by_pair_verdict ON entries(pair, verdict, t_us, n);"
    "CREATE INDEX entries_by_verdict ON entries(verdict, t_us, pair, n);"
    "CREATE INDEX alarms_by_pair_type ON alarms(pair, type, t_us, n);"
    "CREATE INDEX alarms_by_type ON alarms(type, t_us, pair, n);"
    "CREATE TABLE counts(kind INTEGER NOT NULL, pair TEXT NOT NULL, type TEXT NOT NULL,"
    "  count INTEGER NOT NULL, PRIMARY KEY(kind, pair, type)) WITHOUT ROWID;"
    "INSERT INTO counts SELECT 0, pair, verdict, count(*) FROM entries GROUP BY 2, 3;"
    "INSERT INTO counts SELECT 1, pair, type, count(*) FROM alarms GROUP BY 2, 3;",

    "CREATE TABLE log(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE INDEX log_by_time ON log(t_us, pair, n);",

    "CREATE TABLE changes(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, action TEXT NOT NULL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE INDEX changes_by_time ON changes(t_us, pair, n);",

    /* All that a chart needs: the rows themselves, with their JSON, are not touched. */
    "CREATE INDEX entries_lags ON entries(pair, t_us, lag_s, verdict);",
};

static const struct {
    const char *table, *type_column;
} kinds[STORE_KIND_COUNT] = {
    [STORE_ENTRIES] = {"entries", "verdict"},
    [STORE_ALARMS] = {"alarms", "type"},
    [STORE_LOG] = {"log", "kind"},
    [STORE_CHANGES] = {"changes", "action"},
};

const char *store_schema_table(enum store_kind kind)
{
    return kinds[kind].table;
}

int store_schema_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

const char *store_schema_type_column(enum store_kind kind)
{
    return kinds[kind].type_column;
}

enum status store_schema_fail(sqlite3 *db, const char *path, int code, const char *what,
                              struct err *err)
{
    /* A failed open may leave no connection to ask. */
    const char *why = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_set(err, STATUS_E_PARSE, path, 0, 0,
                       "the store is damaged (%s): move it away and restart, the journal makes "
                       "it anew",
                       why);
    case SQLITE_NOMEM:
        return err_set(err, STATUS_E_NOMEM, path, 0, 0, "out of memory");
    default:
        return err_set(err, STATUS_E_IO, path, 0, 0, "cannot %s the store: %s", what, why);
    }
}

/* The first column of the first row as a number, or the fallback when there is none. */
static int query_number(sqlite3 *db, const char *sql, int64_t fallback, int64_t *out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        *out = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : fallback;
    }
    const int finished = sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK
                                                     : (code != SQLITE_OK ? code : finished);
}

enum status store_schema_version(sqlite3 *db, const char *path, int64_t *version,
                                 struct err *err)
{
    int64_t application = 0;
    int64_t tables = 0;
    int code = query_number(db, "PRAGMA application_id", 0, &application);
    if (code == SQLITE_OK) {
        code = query_number(db, "SELECT count(*) FROM sqlite_schema", 0, &tables);
    }
    if (code != SQLITE_OK) {
        return store_schema_fail(db, path, code, "read", err);
    }
    if (application == 0 && tables == 0) {
        *version = 0;
        return STATUS_OK;
    }
    int64_t found = 0;
    if (application == APPLICATION_ID_NUMBER) {
        code =
            query_number(db, "SELECT value FROM meta WHERE key = 'schema_version'", 0, &found);
        if (code != SQLITE_OK && (code & 0xff) != SQLITE_ERROR) {
            return store_schema_fail(db, path, code, "read", err);
        }
    }
    if (found < 1) {
        return err_set(err, STATUS_E_PARSE, path, 0, 0,
                       "is a database, but not of this program: give the store another path");
    }
    if (found > STORE_SCHEMA_VERSION) {
        return err_set(err, STATUS_E_STALE, path, 0, 0,
                       "the store has version %lld, this program knows up to %d: use the newer "
                       "program, or another path",
                       (long long)found, STORE_SCHEMA_VERSION);
    }
    *version = found;
    return STATUS_OK;
}

static int run_step(sqlite3 *db, int64_t version)
{
    char sql[128];
    (void)snprintf(sql, sizeof sql,
                   "INSERT OR REPLACE INTO meta VALUES('schema_version', %lld)",
                   (long long)version + 1);
    int code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(db, steps[version], NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    }
    return code;
}

enum status store_schema_update(sqlite3 *db, const char *path, struct err *err)
{
    int64_t version = 0;
    enum status status = store_schema_version(db, path, &version, err);
    for (; status == STATUS_OK && version < STORE_SCHEMA_VERSION; version++) {
        const int code = run_step(db, version);
        if (code != SQLITE_OK) {
            status = store_schema_fail(db, path, code, "bring up to date", err);
            /* Some failures have rolled back already; then this one fails, and may. */
            (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        }
    }
    return status;
}

enum status store_schema_check(sqlite3 *db, const char *path, struct err *err)
{
    int64_t version = 0;
    const enum status status = store_schema_version(db, path, &version, err);
    if (status == STATUS_OK && version != STORE_SCHEMA_VERSION) {
        return err_set(err, STATUS_E_STALE, path, 0, 0,
                       "the store has version %lld, this program reads %d: open it for writing "
                       "once",
                       (long long)version, STORE_SCHEMA_VERSION);
    }
    return status;
}

enum status store_schema_spool(sqlite3 *db, const char *path, struct err *err)
{
    int code = SQLITE_OK;
    for (int kind = 0; kind < STORE_KIND_COUNT && code == SQLITE_OK; kind++) {
        char sql[STORE_SQL_MAX];
        (void)snprintf(sql, sizeof sql,
                       "CREATE TABLE %s(seq INTEGER PRIMARY KEY, pair TEXT, n INTEGER,"
                       "  t_us INTEGER, id TEXT, %s TEXT, lag_s REAL, json TEXT)",
                       kinds[kind].table, kinds[kind].type_column);
        code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? STATUS_OK : store_schema_fail(db, path, code, "make", err);
}

void store_schema_query(const struct store_query *query, char sql[STORE_SQL_MAX])
{
    /* The key compares as a whole, so that the index alone finds the page; the other end of
     * the time range only stops it. */
    const char *key = query->pair ? "(t_us, n)" : "(t_us, pair, n)";
    const char *cursor = query->pair ? "(?3, ?5)" : "(?3, ?4, ?5)";
    const char *order = query->newest_first ? "DESC" : "ASC";
    (void)snprintf(
        sql, STORE_SQL_MAX,
        "SELECT pair, n, t_us, id, %s, %s, json FROM %s"
        " WHERE %s %s %s AND t_us %s ?2%s%s%s%s"
        " ORDER BY t_us %s%s%s, n %s LIMIT ?1",
        store_schema_type_column(query->kind), query->kind == STORE_ENTRIES ? "lag_s" : "NULL",
        store_schema_table(query->kind), key, query->newest_first ? "<" : ">", cursor,
        query->newest_first ? ">=" : "<", query->pair ? " AND pair = ?6" : "",
        query->type ? " AND " : "", query->type ? store_schema_type_column(query->kind) : "",
        query->type ? " = ?7" : "", order, query->pair ? "" : ", pair ",
        query->pair ? "" : order, order);
}

void store_schema_get_row(sqlite3_stmt *statement, enum store_kind kind, struct store_row *row)
{
    const char *text[3];
    static const int columns[3] = {0, 3, 4};
    for (size_t i = 0; i < 3; i++) {
        text[i] = (const char *)sqlite3_column_text(statement, columns[i]);
    }
    const char *json = (const char *)sqlite3_column_text(statement, 6);
    *row = (struct store_row){
        .kind = kind,
        .pair = text[0] ? text[0] : "",
        .n = (uint64_t)sqlite3_column_int64(statement, 1),
        .t_us = sqlite3_column_int64(statement, 2),
        .id = text[1] ? text[1] : "",
        .type = text[2] ? text[2] : "",
        .lag_s = sqlite3_column_type(statement, 5) == SQLITE_NULL
                     ? nan("")
                     : sqlite3_column_double(statement, 5),
        .json = json ? json : "",
        .json_bytes = json ? (size_t)sqlite3_column_bytes(statement, 6) : 0,
    };
}
