#include "logger/storage/store.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/store_schema.h"

enum { CHECKED_BYTES_MAX = 64 << 20 }; /* larger files are not read through at the opening */

struct store {
    sqlite3 *db;
    char *path;
    bool spool;
    sqlite3_stmt *add[STORE_KIND_COUNT];
    sqlite3_stmt *count; /* NULL in a spool */
};

static enum status fail_store(const struct store *s, int code, const char *what,
                              struct err *err)
{
    return store_schema_fail(s->db, s->path, code, what, err);
}

static enum status run_sql(const struct store *s, const char *sql, const char *what,
                           struct err *err)
{
    const int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK : fail_store(s, code, what, err);
}

/* --- opening -------------------------------------------------------------------------- */

static int first_text_is_ok(void *context, int n, char **values, char **names)
{
    (void)names;
    bool *ok = context;
    *ok = n == 1 && values[0] && strcmp(values[0], "ok") == 0;
    return 0;
}

/* A damaged file is better noticed now than by the first row that meets the damage. Reading
 * through a large one would delay the start too long. */
static enum status check_pages(const struct store *s, struct err *err)
{
    bool ok = true;
    sqlite3_int64 bytes = 0;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(
        s->db, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()", -1,
        &statement, NULL);
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        bytes = sqlite3_column_int64(statement, 0);
    }
    code = sqlite3_finalize(statement);
    if (code == SQLITE_OK && bytes <= CHECKED_BYTES_MAX) {
        code = sqlite3_exec(s->db, "PRAGMA quick_check(1)", first_text_is_ok, &ok, NULL);
    }
    if (code != SQLITE_OK) {
        return fail_store(s, code, "read", err);
    }
    return ok ? STATUS_OK
              : err_set(err, STATUS_E_PARSE, s->path, 0, 0,
                        "the store is damaged: move it away and restart, the journal makes it "
                        "anew");
}

static enum status set_up_file(const struct store *s, const struct store_params *params,
                               struct err *err)
{
    char sql[128];
    (void)snprintf(sql, sizeof sql, "PRAGMA max_page_count = %llu",
                   (unsigned long long)params->pages_max);
    /* A file that is not ours stays untouched, so this question comes first. */
    int64_t version = 0;
    enum status status = store_schema_version(s->db, s->path, &version, err);
    if (status == STATUS_OK) {
        /* FULL, for a checkpoint relies on rows that were committed before it; with batches
         * that is one sync now and then. */
        status = run_sql(s,
                         "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                         "PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192",
                         "open", err);
    }
    if (status == STATUS_OK) {
        status = check_pages(s, err);
    }
    if (status == STATUS_OK && params->pages_max > 0) {
        status = run_sql(s, sql, "limit", err);
    }
    return status == STATUS_OK ? store_schema_update(s->db, s->path, err) : status;
}

static enum status prepare_adding(struct store *s, struct err *err)
{
    static const char count[] = "INSERT INTO counts VALUES(?1, ?2, ?3, 1)"
                                " ON CONFLICT DO UPDATE SET count = count + 1";
    int code = SQLITE_OK;
    for (int kind = 0; kind < STORE_KIND_COUNT && code == SQLITE_OK; kind++) {
        const bool lag = kind == STORE_ENTRIES;
        char sql[256];
        (void)snprintf(sql, sizeof sql,
                       "INSERT INTO %s(pair, n, t_us, id, %s, json, seq%s)"
                       " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7%s)%s",
                       store_schema_table((enum store_kind)kind),
                       store_schema_type_column((enum store_kind)kind), lag ? ", lag_s" : "",
                       lag ? ", ?8" : "",
                       s->spool ? "" : " ON CONFLICT(pair, t_us, n) DO NOTHING");
        code =
            sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->add[kind], NULL);
    }
    if (code == SQLITE_OK && !s->spool) {
        code = sqlite3_prepare_v3(s->db, count, -1, SQLITE_PREPARE_PERSISTENT, &s->count, NULL);
    }
    return code == SQLITE_OK ? STATUS_OK : fail_store(s, code, "open", err);
}

static enum status open_in(struct store *s, const struct store_params *params, struct err *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    const int code = sqlite3_open_v2(params->path, &s->db, flags, params->vfs);
    if (code != SQLITE_OK) {
        return fail_store(s, code, "open", err);
    }
    (void)sqlite3_busy_timeout(s->db, params->busy_timeout_ms);
    enum status status = STATUS_OK;
    if (s->spool) {
        status = run_sql(s,
                         "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                         "PRAGMA cache_size = -8192; PRAGMA temp_store = FILE",
                         "open", err);
        status = status == STATUS_OK ? store_schema_spool(s->db, s->path, err) : status;
    } else {
        status = set_up_file(s, params, err);
    }
    return status == STATUS_OK ? prepare_adding(s, err) : status;
}

enum status store_open(const struct store_params *params, struct store **out, struct err *err)
{
    struct store *s = calloc(1, sizeof *s);
    if (s) {
        s->path = strdup(params->path);
        s->spool = params->spool;
    }
    if (!s || !s->path) {
        free(s);
        return err_set(err, STATUS_E_NOMEM, params->path, 0, 0, "out of memory");
    }
    const enum status status = open_in(s, params, err);
    if (status != STATUS_OK) {
        store_close(s);
        return status;
    }
    *out = s;
    return STATUS_OK;
}

void store_close(struct store *store)
{
    if (!store) {
        return;
    }
    for (int kind = 0; kind < STORE_KIND_COUNT; kind++) {
        (void)sqlite3_finalize(store->add[kind]);
    }
    (void)sqlite3_finalize(store->count);
    (void)sqlite3_close(store->db);
    free(store->path);
    free(store);
}

/* --- writing -------------------------------------------------------------------------- */

enum status store_begin(struct store *store, struct err *err)
{
    return run_sql(store, "BEGIN IMMEDIATE", "write", err);
}

enum status store_commit(struct store *store, struct err *err)
{
    return run_sql(store, "COMMIT", "write", err);
}

void store_rollback(struct store *store)
{
    /* After some failures SQLite has done it by itself. */
    if (!sqlite3_get_autocommit(store->db)) {
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

static bool text_fits(const char *text, size_t least, size_t capacity)
{
    if (!text) {
        return false;
    }
    const size_t bytes = strnlen(text, capacity);
    return bytes >= least && bytes < capacity;
}

bool store_row_is_valid(const struct store_row *row)
{
    return (unsigned)row->kind < STORE_KIND_COUNT && text_fits(row->pair, 1, EVENT_PAIR_MAX) &&
           text_fits(row->id, 0, EVENT_ID_MAX) && text_fits(row->type, 1, STORE_TYPE_MAX) &&
           row->n <= INT64_MAX && row->seq <= INT64_MAX && row->json &&
           row->json_bytes <= STORE_JSON_MAX;
}

static int bind_row(sqlite3_stmt *statement, const struct store_row *row)
{
    int code = store_schema_bind_text(statement, 1, row->pair);
    code |= sqlite3_bind_int64(statement, 2, (sqlite3_int64)row->n);
    code |= sqlite3_bind_int64(statement, 3, row->t_us);
    code |= store_schema_bind_text(statement, 4, row->id);
    code |= store_schema_bind_text(statement, 5, row->type);
    code |= sqlite3_bind_text(statement, 6, row->json, (int)row->json_bytes, SQLITE_STATIC);
    code |= row->seq > 0 ? sqlite3_bind_int64(statement, 7, (sqlite3_int64)row->seq)
                         : sqlite3_bind_null(statement, 7);
    if (row->kind == STORE_ENTRIES) {
        code |= isfinite(row->lag_s) ? sqlite3_bind_double(statement, 8, row->lag_s)
                                     : sqlite3_bind_null(statement, 8);
    }
    return code == SQLITE_OK ? SQLITE_OK : SQLITE_NOMEM;
}

static int step_once(sqlite3_stmt *statement)
{
    const int code = sqlite3_step(statement);
    const int reset = sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : (reset != SQLITE_OK ? reset : code);
}

static int count_row(struct store *s, const struct store_row *row)
{
    int code = sqlite3_bind_int(s->count, 1, (int)row->kind);
    code |= store_schema_bind_text(s->count, 2, row->pair);
    code |= store_schema_bind_text(s->count, 3, row->type);
    return code == SQLITE_OK ? step_once(s->count) : SQLITE_NOMEM;
}

enum status store_add(struct store *store, const struct store_row *row, bool *is_new,
                      struct err *err)
{
    if (!store_row_is_valid(row)) {
        return err_set(err, STATUS_E_ARG, store->path, 0, 0, "a row beyond its limits");
    }
    sqlite3_stmt *add = store->add[row->kind];
    int code = bind_row(add, row);
    if (code == SQLITE_OK) {
        code = step_once(add);
    }
    const bool added = code == SQLITE_OK && sqlite3_changes(store->db) == 1;
    if (added && store->count) {
        code = count_row(store, row);
    }
    if (code != SQLITE_OK) {
        return fail_store(store, code, "write", err);
    }
    if (is_new) {
        *is_new = added;
    }
    return STATUS_OK;
}

static enum status remove_some(struct store *s, enum store_kind kind, int64_t before_us,
                               int limit, uint64_t *removed, struct err *err)
{
    char sql[256];
    (void)snprintf(sql, sizeof sql,
                   "DELETE FROM %s WHERE seq IN"
                   " (SELECT seq FROM %s WHERE t_us < ?1 ORDER BY t_us LIMIT ?2)",
                   store_schema_table(kind), store_schema_table(kind));
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        (void)sqlite3_bind_int64(statement, 1, before_us);
        (void)sqlite3_bind_int(statement, 2, limit);
        code = step_once(statement);
    }
    (void)sqlite3_finalize(statement);
    if (code != SQLITE_OK) {
        return fail_store(s, code, "shorten", err);
    }
    *removed = (uint64_t)sqlite3_changes(s->db);
    return STATUS_OK;
}

enum status store_remove_before(struct store *store, int64_t before_us, int limit,
                                uint64_t *removed, struct err *err)
{
    uint64_t sum = 0;
    enum status status = store_begin(store, err);
    for (int kind = 0; kind < STORE_KIND_COUNT && status == STATUS_OK; kind++) {
        uint64_t gone = 0;
        status = remove_some(store, (enum store_kind)kind, before_us, limit, &gone, err);
        sum += gone;
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

/* --- reading back --------------------------------------------------------------------- */

enum status store_each(struct store *store, enum store_kind kind, const char *pair,
                       store_row_fn *row, void *context, struct err *err)
{
    char sql[256];
    (void)snprintf(sql, sizeof sql,
                   "SELECT pair, n, t_us, id, %s, %s, json FROM %s%s ORDER BY pair, n, t_us",
                   store_schema_type_column(kind), kind == STORE_ENTRIES ? "lag_s" : "NULL",
                   store_schema_table(kind), pair ? " WHERE pair = ?1" : "");
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK && pair) {
        code = store_schema_bind_text(statement, 1, pair);
    }
    bool more = code == SQLITE_OK;
    while (more) {
        struct store_row found;
        code = sqlite3_step(statement);
        more = code == SQLITE_ROW;
        if (more) {
            store_schema_get_row(statement, kind, &found);
            more = row(context, &found);
        }
    }
    const enum status status = code == SQLITE_ROW || code == SQLITE_DONE
                                   ? STATUS_OK
                                   : fail_store(store, code, "read", err);
    (void)sqlite3_finalize(statement);
    return status;
}
