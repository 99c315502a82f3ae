#include "logger/storage/store.h"

#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "logger/storage/store_schema.h"

enum {
    APPLICATION_ID = 1414415437,  /* "TNDM": tells a store from other SQLite files */
    CHECKED_BYTES_MAX = 64 << 20, /* larger files are not read through at the opening */
    READER_BUSY_MS = 2000,
    QUERY_SHAPES = 16, /* newest first, of a pair, of a type, inconsistent: each or not */
    SQL_MAX = 4096
};

static const struct {
    const char *table, *type_column, *own_columns; /* those that entries alone have */
} kinds[STORE_KIND_COUNT] = {
    [STORE_ENTRIES] = {"entries", "verdict", "lag_s, inconsistent"},
    [STORE_ALARMS] = {"alarms", "type", "NULL, 0"},
    [STORE_LOG] = {"log", "kind", "NULL, 0"},
    [STORE_CHANGES] = {"changes", "action", "NULL, 0"},
};
/* Among counts, beside the verdicts: every entry that is not consistent is one of them, too. */
static const char COUNTED_INCONSISTENT[] = "INCONSISTENT";

struct connection {
    sqlite3 *db;
    char *path;
};

struct store {
    struct connection c;
    bool spool;
    sqlite3_stmt *add[STORE_KIND_COUNT];
    sqlite3_stmt *count; /* NULL in a spool */
};

/* Statements are prepared when they are first needed, and kept. */
struct store_reader {
    struct connection c;
    sqlite3_stmt *query[STORE_KIND_COUNT][QUERY_SHAPES];
    sqlite3_stmt *since[STORE_KIND_COUNT], *points, *span, *version;
};

/* --- connections ---------------------------------------------------------------------- */

/* Turn a SQLite result into a status and *err. */
static enum status fail_sql(const struct connection *c, int code, const char *what,
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

static enum status open_connection(struct connection *c, const char *path, int flags,
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
        return fail_sql(c, code, "open", err);
    }
    (void)sqlite3_busy_timeout(c->db, busy_ms);
    return STATUS_OK;
}

/* With all its statements. */
static void close_connection(struct connection *c)
{
    sqlite3_stmt *statement = NULL;
    while (c->db && (statement = sqlite3_next_stmt(c->db, NULL)) != NULL) {
        (void)sqlite3_finalize(statement);
    }
    (void)sqlite3_close(c->db);
    free(c->path);
}

static enum status PRINTF_LIKE(4, 5) run_sql(const struct connection *c, const char *what,
                                             struct err *err, const char *format, ...)
{
    char sql[SQL_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    const int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK : fail_sql(c, code, what, err);
}

/* Unless it is prepared already. */
static int PRINTF_LIKE(3, 4)
    prepare_sql(const struct connection *c, sqlite3_stmt **statement, const char *format, ...)
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

/* Bind values from the first parameter on: 'i' int64_t, 't' const char * (NULL: null),
 * borrowed, 'r' double (NaN: null). */
static int bind_values(sqlite3_stmt *statement, const char *types, ...)
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

/* The first column of the first row as a number, 0 when there is none. */
static int query_number(const struct connection *c, const char *sql, int64_t *out)
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

static void roll_back(const struct connection *c)
{
    /* After some failures SQLite has done it by itself. */
    if (!sqlite3_get_autocommit(c->db)) {
        (void)sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

/* --- the tables and their versions ---------------------------------------------------- */

/* 0 for an empty file; changes nothing. */
static enum status read_version(const struct connection *c, int64_t *version, struct err *err)
{
    int64_t application = 0;
    int64_t tables = 0;
    int64_t found = 0;
    int code = query_number(c, "PRAGMA application_id", &application);
    if (code == SQLITE_OK) {
        code = query_number(c, "SELECT count(*) FROM sqlite_schema", &tables);
    }
    if (code == SQLITE_OK && application == APPLICATION_ID) {
        code = query_number(c, "SELECT value FROM meta WHERE key = 'schema_version'", &found);
        code = (code & 0xff) == SQLITE_ERROR ? SQLITE_OK : code;
    }
    if (code != SQLITE_OK) {
        return fail_sql(c, code, "read", err);
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
static enum status update_tables(const struct connection *c, int64_t version, struct err *err)
{
    enum status status = STATUS_OK;
    for (; status == STATUS_OK && version < STORE_SCHEMA_VERSION; version++) {
        status = run_sql(c, "bring up to date", err,
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
static enum status check_pages(const struct connection *c, struct err *err)
{
    int64_t bytes = 0;
    int64_t good = 1;
    int code = query_number(
        c, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
        &bytes);
    if (code == SQLITE_OK && bytes <= CHECKED_BYTES_MAX) {
        code = query_number(
            c, "SELECT count(*) FROM pragma_quick_check(1) WHERE quick_check = 'ok'", &good);
    }
    if (code != SQLITE_OK) {
        return fail_sql(c, code, "read", err);
    }
    return good ? STATUS_OK
                : err_set(err, STATUS_E_PARSE, c->path, 0, 0,
                          "the store is damaged: move it away and restart, the journal makes "
                          "it anew");
}

static enum status set_up_file(const struct connection *c, uint64_t pages_max, struct err *err)
{
    /* A file that is not ours stays untouched, so this question comes first. */
    int64_t version = 0;
    enum status status = read_version(c, &version, err);
    if (status == STATUS_OK) {
        /* FULL, for a checkpoint relies on rows that were committed before it; with batches
         * that is one sync now and then. */
        status = run_sql(c, "open", err,
                         "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                         "PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192");
    }
    if (status == STATUS_OK) {
        status = check_pages(c, err);
    }
    if (status == STATUS_OK && pages_max > 0) {
        status = run_sql(c, "limit", err, "PRAGMA max_page_count = %llu",
                         (unsigned long long)pages_max);
    }
    return status == STATUS_OK ? update_tables(c, version, err) : status;
}

static enum status set_up_spool(const struct connection *c, struct err *err)
{
    enum status status = run_sql(c, "open", err,
                                 "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                 "PRAGMA cache_size = -8192; PRAGMA temp_store = FILE");
    for (int kind = 0; kind < STORE_KIND_COUNT && status == STATUS_OK; kind++) {
        status = run_sql(c, "make", err,
                         "CREATE TABLE %s(seq INTEGER PRIMARY KEY, pair TEXT, n INTEGER,"
                         "  t_us INTEGER, id TEXT, %s TEXT, lag_s REAL, inconsistent INTEGER,"
                         "  json TEXT)",
                         kinds[kind].table, kinds[kind].type_column);
    }
    return status;
}

static enum status prepare_adding(struct store *s, struct err *err)
{
    int code = SQLITE_OK;
    for (int kind = 0; kind < STORE_KIND_COUNT && code == SQLITE_OK; kind++) {
        const bool own = kind == STORE_ENTRIES;
        code = prepare_sql(&s->c, &s->add[kind],
                           "INSERT INTO %s(pair, n, t_us, id, %s, seq, json%s)"
                           " VALUES(?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?9%s)%s",
                           kinds[kind].table, kinds[kind].type_column,
                           own ? ", lag_s, inconsistent" : "", own ? ", ?7, ?8" : "",
                           s->spool ? "" : " ON CONFLICT(pair, t_us, n) DO NOTHING");
    }
    if (code == SQLITE_OK && !s->spool) {
        code = prepare_sql(&s->c, &s->count,
                           "INSERT INTO counts VALUES(?1, ?2, ?3, 1)"
                           " ON CONFLICT DO UPDATE SET count = count + 1");
    }
    return code == SQLITE_OK ? STATUS_OK : fail_sql(&s->c, code, "open", err);
}

enum status store_open(const struct store_params *params, struct store **out, struct err *err)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s) {
        return err_set(err, STATUS_E_NOMEM, params->path, 0, 0, "out of memory");
    }
    s->spool = params->spool;
    enum status status =
        open_connection(&s->c, params->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
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
        close_connection(&store->c);
        free(store);
    }
}

enum status store_reader_open(const char *path, struct store_reader **out, struct err *err)
{
    struct store_reader *r = calloc(1, sizeof *r);
    if (!r) {
        return err_set(err, STATUS_E_NOMEM, path, 0, 0, "out of memory");
    }
    int64_t version = 0;
    enum status status =
        open_connection(&r->c, path, SQLITE_OPEN_READONLY, NULL, READER_BUSY_MS, err);
    if (status == STATUS_OK) {
        status = read_version(&r->c, &version, err);
    }
    if (status == STATUS_OK && version != STORE_SCHEMA_VERSION) {
        status = err_set(err, STATUS_E_STALE, path, 0, 0,
                         "the store has version %lld, this program reads %d: open it for "
                         "writing once",
                         (long long)version, STORE_SCHEMA_VERSION);
    }
    if (status != STATUS_OK) {
        store_reader_close(r);
        return status;
    }
    *out = r;
    return STATUS_OK;
}

void store_reader_close(struct store_reader *reader)
{
    if (reader) {
        close_connection(&reader->c);
        free(reader);
    }
}

/* --- writing -------------------------------------------------------------------------- */

enum status store_begin(struct store *store, struct err *err)
{
    return run_sql(&store->c, "write", err, "BEGIN IMMEDIATE");
}

enum status store_commit(struct store *store, struct err *err)
{
    return run_sql(&store->c, "write", err, "COMMIT");
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
    const int code = bind_values(store->count, "itt", (int64_t)row->kind, row->pair, type);
    return code == SQLITE_OK ? step_once(store->count) : code;
}

enum status store_add(struct store *store, const struct store_row *row, bool *is_new,
                      struct err *err)
{
    if (!store_row_is_valid(row)) {
        return err_set(err, STATUS_E_ARG, store->c.path, 0, 0, "a row beyond its limits");
    }
    sqlite3_stmt *add = store->add[row->kind];
    int code =
        bind_values(add, "tiittiri", row->pair, (int64_t)row->n, row->t_us, row->id, row->type,
                    (int64_t)row->seq, row->lag_s, (int64_t)row->inconsistent);
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
        return fail_sql(&store->c, code, "write", err);
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
    int code = prepare_sql(&s->c, &statement,
                           "DELETE FROM %s WHERE seq IN"
                           " (SELECT seq FROM %s WHERE t_us < ?1 ORDER BY t_us LIMIT ?2)",
                           kinds[kind].table, kinds[kind].table);
    if (code == SQLITE_OK) {
        code = bind_values(statement, "ii", before_us, (int64_t)limit);
    }
    code = code == SQLITE_OK ? step_once(statement) : code;
    (void)sqlite3_finalize(statement);
    if (code != SQLITE_OK) {
        return fail_sql(&s->c, code, "shorten", err);
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

/* --- rows out ------------------------------------------------------------------------- */

/* Behind SELECT, with the type column, the own columns and the table of a kind. */
#define ROWS "pair, n, t_us, id, %s, %s, json, seq FROM %s"

static const char *text_at(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

static double lag_at(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? nan("")
               : sqlite3_column_double(statement, column);
}

/* Rows of a statement over ROWS until there is none, or row() says no. */
static int hand_out(sqlite3_stmt *statement, enum store_kind kind, store_row_fn *row,
                    void *context)
{
    int code = SQLITE_DONE;
    bool more = true;
    while (more && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *json = text_at(statement, 7);
        const struct store_row found = {
            .kind = kind,
            .pair = text_at(statement, 0),
            .n = (uint64_t)sqlite3_column_int64(statement, 1),
            .t_us = sqlite3_column_int64(statement, 2),
            .id = text_at(statement, 3),
            .type = text_at(statement, 4),
            .lag_s = lag_at(statement, 5),
            .inconsistent = sqlite3_column_int(statement, 6) != 0,
            .json = json,
            .json_bytes = (size_t)sqlite3_column_bytes(statement, 7),
            .seq = (uint64_t)sqlite3_column_int64(statement, 8),
        };
        more = row(context, &found);
    }
    return code;
}

/* What became of a statement. Ends its transaction and forgets texts that were bound; NULL: it
 * was never prepared. */
static enum status end_reading(const struct connection *c, int code, sqlite3_stmt *statement,
                               struct err *err)
{
    const enum status status =
        code == SQLITE_DONE || code == SQLITE_ROW ? STATUS_OK : fail_sql(c, code, "read", err);
    (void)sqlite3_reset(statement);
    if (statement) {
        (void)sqlite3_clear_bindings(statement);
    }
    return status;
}

enum status store_each(struct store *store, enum store_kind kind, const char *pair,
                       size_t newest, store_row_fn *row, void *context, struct err *err)
{
    const char *const table = kinds[kind].table;
    const char *const of_pair = pair ? "pair = ?1" : "?1 IS NULL";
    sqlite3_stmt *statement = NULL;
    char last[128] = "";
    if (newest > 0) {
        (void)snprintf(last, sizeof last,
                       " LIMIT -1 OFFSET max(0, (SELECT count(*) FROM %s WHERE %s) - ?2)",
                       table, of_pair);
    }
    /* Made when the first pair is asked for: filling goes faster without, and one list of all
     * pairs is sorted faster than it is looked up row by row. */
    if (pair) {
        const enum status made =
            run_sql(&store->c, "read", err,
                    "CREATE INDEX IF NOT EXISTS %s_each ON %s(pair, n, t_us)", table, table);
        if (made != STATUS_OK) {
            return made;
        }
    }
    int code =
        prepare_sql(&store->c, &statement, "SELECT " ROWS " WHERE %s ORDER BY pair, n, t_us%s",
                    kinds[kind].type_column, kinds[kind].own_columns, table, of_pair, last);
    code = code == SQLITE_OK
               ? bind_values(statement, newest > 0 ? "ti" : "t", pair, (int64_t)newest)
               : code;
    code = code == SQLITE_OK ? hand_out(statement, kind, row, context) : code;
    const enum status status = end_reading(&store->c, code, statement, err);
    (void)sqlite3_finalize(statement);
    return status;
}

/* --- pages ---------------------------------------------------------------------------- */

/* The key of the last row handed out. */
struct key {
    int64_t t_us;
    int64_t n;
    char pair[EVENT_PAIR_MAX];
};

struct page {
    const struct store_query *query;
    store_row_fn *row;
    void *context;
    struct key last;
    int rows;
    bool more;
};

static void copy_pair(const char *pair, char out[EVENT_PAIR_MAX])
{
    const size_t n = strnlen(pair, EVENT_PAIR_MAX - 1);
    memcpy(out, pair, n);
    out[n] = '\0';
}

/* "t_us.n.check.pair". The check covers the query too, so that a cursor of another list is
 * refused instead of giving a page that means nothing. */
static void write_cursor(const struct store_query *query, const struct key *key,
                         char out[STORE_CURSOR_MAX])
{
    char all[STORE_CURSOR_MAX];
    (void)snprintf(all, sizeof all, "%d %d %d %s %s %lld %lld %lld %lld %s", (int)query->kind,
                   query->newest_first, query->inconsistent, query->pair ? query->pair : "",
                   query->type ? query->type : "", (long long)query->since_us,
                   (long long)query->until_us, (long long)key->t_us, (long long)key->n,
                   key->pair);
    (void)snprintf(out, STORE_CURSOR_MAX, "%lld.%lld.%llx.%s", (long long)key->t_us,
                   (long long)key->n, (unsigned long long)hash_text(all), key->pair);
}

static bool read_cursor(const struct store_query *query, const char *text, struct key *key)
{
    char again[STORE_CURSOR_MAX];
    char *end = NULL;
    const char *pair = strrchr(text, '.');
    key->t_us = strtoll(text, &end, 10);
    key->n = strtoll(*end ? end + 1 : end, NULL, 10);
    copy_pair(pair ? pair + 1 : "", key->pair);
    write_cursor(query, key, again);
    return strcmp(text, again) == 0;
}

/* One row more than asked for tells whether there is a next page. */
static bool take_row(void *context, const struct store_row *row)
{
    struct page *page = context;
    page->more = page->rows == page->query->limit;
    if (page->more) {
        return false;
    }
    page->rows++;
    page->last.t_us = row->t_us;
    page->last.n = (int64_t)row->n;
    copy_pair(row->pair, page->last.pair);
    page->more = !page->row(page->context, row);
    return !page->more;
}

void store_query_sql(const struct store_query *query, char sql[STORE_SQL_MAX])
{
    /* The key compares as a whole, so that the index alone finds the page; the other end of
     * the time range only stops it. */
    const char *order = query->newest_first ? "DESC" : "ASC";
    (void)snprintf(
        sql, STORE_SQL_MAX,
        "SELECT " ROWS " WHERE %s %s %s AND t_us %s ?2%s%s%s%s%s"
        " ORDER BY t_us %s%s%s, n %s LIMIT ?1",
        kinds[query->kind].type_column, kinds[query->kind].own_columns,
        kinds[query->kind].table, query->pair ? "(t_us, n)" : "(t_us, pair, n)",
        query->newest_first ? "<" : ">", query->pair ? "(?3, ?4)" : "(?3, ?5, ?4)",
        query->newest_first ? ">=" : "<", query->pair ? " AND pair = ?5" : "",
        query->type ? " AND " : "", query->type ? kinds[query->kind].type_column : "",
        query->type ? " = ?6" : "", query->inconsistent ? " AND inconsistent = 1" : "", order,
        query->pair ? "" : ", pair ", query->pair ? "" : order, order);
}

enum status store_query(struct store_reader *reader, const struct store_query *query,
                        store_row_fn *row, void *context, char next_cursor[STORE_CURSOR_MAX],
                        struct err *err)
{
    if (query->limit < 1 || query->limit > STORE_PAGE_MAX) {
        return err_set(err, STATUS_E_RANGE, "limit", 0, 0, "must be from 1 to %d",
                       STORE_PAGE_MAX);
    }
    /* No row has n < 0 or an empty pair, so this key lies before all rows of its t_us: above it
     * is "from since_us on", below it "before until_us". */
    struct key from = {.t_us = query->newest_first ? query->until_us : query->since_us,
                       .n = -1};
    if (query->cursor && query->cursor[0] != '\0' &&
        !read_cursor(query, query->cursor, &from)) {
        return err_set(err, STATUS_E_PARSE, "cursor", 0, 0,
                       "is not one that this list has given: take it from the page before");
    }
    const size_t shape = (query->inconsistent ? 8U : 0U) | (query->newest_first ? 4U : 0U) |
                         (query->pair ? 2U : 0U) | (query->type ? 1U : 0U);
    sqlite3_stmt **statement = &reader->query[query->kind][shape];
    struct page page = {.query = query, .row = row, .context = context};
    int code = SQLITE_OK;
    if (!*statement) {
        char sql[STORE_SQL_MAX];
        store_query_sql(query, sql);
        code = prepare_sql(&reader->c, statement, "%s", sql);
    }
    if (code == SQLITE_OK) {
        code =
            bind_values(*statement, query->type ? "iiiitt" : "iiiit", (int64_t)query->limit + 1,
                        query->newest_first ? query->since_us : query->until_us, from.t_us,
                        from.n, query->pair ? query->pair : from.pair, query->type);
    }
    if (code == SQLITE_OK) {
        next_cursor[0] = '\0';
        code = hand_out(*statement, query->kind, take_row, &page);
    }
    if (page.more) {
        write_cursor(query, &page.last, next_cursor);
    }
    return end_reading(&reader->c, code, *statement, err);
}

/* --- in the order of storing ---------------------------------------------------------- */

enum status store_since(struct store_reader *reader, enum store_kind kind, uint64_t after,
                        int limit, store_row_fn *row, void *context, struct err *err)
{
    sqlite3_stmt **statement = &reader->since[kind];
    int code = prepare_sql(&reader->c, statement,
                           "SELECT " ROWS " WHERE seq > ?1 ORDER BY seq LIMIT ?2",
                           kinds[kind].type_column, kinds[kind].own_columns, kinds[kind].table);
    code = code == SQLITE_OK
               ? bind_values(*statement, "ii", (int64_t)(after & INT64_MAX), (int64_t)limit)
               : code;
    code = code == SQLITE_OK ? hand_out(*statement, kind, row, context) : code;
    return end_reading(&reader->c, code, *statement, err);
}

enum status store_last_seq(struct store_reader *reader, enum store_kind kind, uint64_t *seq,
                           struct err *err)
{
    char sql[64];
    int64_t last = 0;
    (void)snprintf(sql, sizeof sql, "SELECT max(seq) FROM %s", kinds[kind].table);
    const int code = query_number(&reader->c, sql, &last);
    if (code != SQLITE_OK) {
        return fail_sql(&reader->c, code, "read", err);
    }
    *seq = (uint64_t)last;
    return STATUS_OK;
}

enum status store_version(struct store_reader *reader, int64_t *version, struct err *err)
{
    int code = prepare_sql(&reader->c, &reader->version, "PRAGMA data_version");
    code = code == SQLITE_OK ? sqlite3_step(reader->version) : code;
    if (code == SQLITE_ROW) {
        *version = sqlite3_column_int64(reader->version, 0);
    }
    return end_reading(&reader->c, code, reader->version, err);
}

/* --- for charts ----------------------------------------------------------------------- */

#define POINTS                                                                                 \
    "FROM entries INDEXED BY entries_lags WHERE pair = ?1 AND t_us >= ?2 AND t_us < ?3 ORDER " \
    "BY t_us"

enum status store_points(struct store_reader *reader, const char *pair, int64_t since_us,
                         int64_t until_us, store_point_fn *point, void *context,
                         struct err *err)
{
    int code = prepare_sql(&reader->c, &reader->points,
                           "SELECT t_us, lag_s, verdict, inconsistent " POINTS " DESC");
    sqlite3_stmt *const statement = reader->points;
    if (code == SQLITE_OK) {
        code = bind_values(statement, "tii", pair, since_us, until_us);
    }
    bool more = code == SQLITE_OK;
    while (more && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const struct store_point found = {.t_us = sqlite3_column_int64(statement, 0),
                                          .lag_s = lag_at(statement, 1),
                                          .verdict = text_at(statement, 2),
                                          .inconsistent =
                                              sqlite3_column_int(statement, 3) != 0};
        more = point(context, &found);
    }
    return end_reading(&reader->c, code, statement, err);
}

enum status store_span(struct store_reader *reader, const char *pair, int64_t since_us,
                       int64_t until_us, bool *any, int64_t *oldest_us, int64_t *newest_us,
                       struct err *err)
{
    int code = prepare_sql(&reader->c, &reader->span,
                           "SELECT (SELECT t_us " POINTS " LIMIT 1),"
                           " (SELECT t_us " POINTS " DESC LIMIT 1)");
    sqlite3_stmt *const statement = reader->span;
    code = code == SQLITE_OK ? bind_values(statement, "tii", pair, since_us, until_us) : code;
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    if (code == SQLITE_ROW) {
        *any = sqlite3_column_type(statement, 0) != SQLITE_NULL;
    }
    if (code == SQLITE_ROW && *any) {
        *oldest_us = sqlite3_column_int64(statement, 0);
        *newest_us = sqlite3_column_int64(statement, 1);
    }
    return end_reading(&reader->c, code, statement, err);
}
