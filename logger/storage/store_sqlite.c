/* logger/storage/store_sqlite.c - the store as a SQLite file: the connection that writes. */
#include "logger/storage/store_sqlite.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/text.h"
#include "logger/storage/journal_files.h"

enum {
    RUNS_MAX = 1000,              /* that the store remembers; older ones are forgotten */
    APPLICATION_ID = 1414415437,  /* "TNDM": distinguishes a store from other SQLite files */
    WAL_PAGES = 1000,             /* from this size on it is written back */
    CHECKED_BYTES_MAX = 64 << 20, /* larger files are not read through at the opening */
    SQL_MAX = 4096
};

/* --- connections ---------------------------------------------------------------------- */

enum status store_fail(const struct store_connection *c, int code, const char *what,
                       struct err *err)
{
    /* After a failed open there may be no connection to ask. */
    const char *why = c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_set(err, STATUS_E_PARSE, FAULT_FILE_DAMAGED, c->path,
                       "the store is damaged (%s): move it away and restart, it is rebuilt "
                       "from the journal",
                       why);
    case SQLITE_NOMEM:
        return err_no_memory(err, c->path, "out of memory");
    default:
        return err_set(err, STATUS_E_IO, FAULT_STORE_FAILED, c->path, "cannot %s the store: %s",
                       what, why);
    }
}

enum status store_connect(struct store_connection *c, const char *path, int flags,
                          const char *vfs, int busy_ms, struct err *err)
{
    c->path = strdup(path);
    if (!c->path) {
        return err_no_memory(err, path, "out of memory");
    }
    if (flags & SQLITE_OPEN_CREATE) {
        store_close_to_others(path);
    }
    const int code = sqlite3_open_v2(path, &c->db, flags | SQLITE_OPEN_NOMUTEX, vfs);
    if (code != SQLITE_OK) {
        return store_fail(c, code, "open", err);
    }
    c->place = file_place_at(path);
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
    TEXT_FORMAT(sql, sizeof sql, format);
    const int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK : store_fail(c, code, what, err);
}

int PRINTF_LIKE(3, 4) store_prepare(const struct store_connection *c, sqlite3_stmt **statement,
                                    const char *format, ...)
{
    char sql[SQL_MAX];
    if (*statement) {
        return SQLITE_OK;
    }
    TEXT_FORMAT(sql, sizeof sql, format);
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
            /* SQLite stores NaN as null. */
            code |= sqlite3_bind_double(statement, at, va_arg(values, double));
        }
    }
    va_end(values);
    return code == SQLITE_OK ? SQLITE_OK : SQLITE_NOMEM;
}

int store_step_once(sqlite3_stmt *statement)
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
    /* After some failures SQLite has already rolled back by itself. */
    if (c->db && !sqlite3_get_autocommit(c->db)) {
        (void)sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

static struct store_sqlite *sqlite_of(struct store *base)
{
    return (struct store_sqlite *)base;
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
        return err_set(err, STATUS_E_PARSE, FAULT_WRONG_FILE, c->path,
                       "is a database, but not of this program: give the store another path");
    }
    if (found > STORE_SCHEMA_VERSION) {
        return err_set(err, STATUS_E_STALE, FAULT_VERSION_MISMATCH, c->path,
                       "the store has version %lld, this program knows up to %d: use the newer "
                       "program, or another path",
                       (long long)found, STORE_SCHEMA_VERSION);
    }
    *version = found;
    return STATUS_OK;
}

/* Updates the tables to STORE_SCHEMA_VERSION, each step in a transaction. */
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

/* It is better to find damage now than at the first damaged row. A large file would delay the
 * start too long. */
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
                : err_set(err, STATUS_E_PARSE, FAULT_FILE_DAMAGED, c->path,
                          "the store is damaged: move it away and restart, it is rebuilt from "
                          "the journal");
}

static enum status set_up_file(const struct store_connection *c, uint64_t pages_max,
                               struct err *err)
{
    /* A foreign file must stay unchanged, so this check comes first. */
    int64_t version = 0;
    enum status status = store_read_version(c, &version, err);
    if (status == STATUS_OK) {
        /* FULL, because a checkpoint relies on rows that were committed before it. With batches
         * this is a sync now and then. */
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

/* Extracts a member of the record of a team's command. */
#define OF_TEAM(key) ", CASE WHEN json_valid(?10) THEN json_extract(?10, '$." key "') END"

static enum status prepare_adding(struct store_sqlite *s, struct err *err)
{
    int code = SQLITE_OK;
    for (int kind = 0; kind < STORE_KIND_COUNT && code == SQLITE_OK; kind++) {
        const bool own = kind == STORE_ENTRIES;
        code =
            store_prepare(&s->c, &s->add[kind],
                          "INSERT INTO %s(pair, n, t_us, id, %s, seq, json%s)"
                          " VALUES(?1, ?2, ?3, ?4, ?5, nullif(?6, 0), ?9%s)"
                          " ON CONFLICT(pair, t_us, n) DO NOTHING",
                          store_tables[kind].table, store_tables[kind].type_column,
                          own ? ", lag_s, inconsistent, team, job, task" : "",
                          own ? ", ?7, ?8" OF_TEAM("team") OF_TEAM("job") OF_TEAM("task") : "");
    }
    return code == SQLITE_OK ? STATUS_OK : store_fail(&s->c, code, "open", err);
}

/* Reads the identity of the store and its last writer. */
static enum status load_mark(struct store_sqlite *s, struct err *err)
{
    static const char *const questions[] = {
        "SELECT value FROM meta WHERE key = 'store'",
        "SELECT run FROM runs ORDER BY seq DESC LIMIT 1",
        "SELECT value FROM meta WHERE key = 'rows'",
    };
    int64_t answers[COUNT(questions)] = {0};
    for (size_t i = 0; i < COUNT(questions); i++) {
        const int code = store_query_number(&s->c, questions[i], &answers[i]);
        if (code != SQLITE_OK) {
            return store_fail(&s->c, code, "read", err);
        }
    }
    s->base.mark =
        (struct store_mark){(uint64_t)answers[0], (uint64_t)answers[1], (uint64_t)answers[2]};
    return STATUS_OK;
}

static void format_path(const char *path, const char *ending, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s%s", path, ending);
}

/* SQLite's files next to a removed or replaced store must be deleted, because SQLite would
 * apply them to the new store. gone: the "-wal" of the replaced store. */
static void remove_leftovers(const char *path, const struct file_place *gone)
{
    char wal[PATH_MAX];
    char shm[PATH_MAX];
    const bool missing = file_place_at(path).inode == 0;
    const bool replaced = gone->inode != 0;
    if (path[0] == '\0' || path[0] == ':') {
        return;
    }
    format_path(path, "-wal", wal);
    format_path(path, "-shm", shm);
    if (missing || (replaced && file_place_holds(gone, wal))) {
        (void)unlink(wal);
    }
    if (missing || replaced) {
        (void)unlink(shm);
    }
}

/* SQLite would do the same by itself, but it drops the result code. */
static int write_wal_back(void *context, sqlite3 *db, const char *name, int pages)
{
    struct store_sqlite *s = context;
    const int code =
        pages < WAL_PAGES
            ? SQLITE_OK
            : sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (code != SQLITE_OK && code != SQLITE_BUSY) {
        s->wal_code = code;
    }
    return SQLITE_OK; /* the rows are committed all the same */
}

static enum status check_wal(struct store *base, struct err *err)
{
    struct store_sqlite *store = sqlite_of(base);
    const int code = store->wal_code;
    store->wal_code = SQLITE_OK;
    return code == SQLITE_OK
               ? STATUS_OK
               : err_set(err, STATUS_E_IO, FAULT_STORE_FAILED, store->c.path,
                         "cannot write the store's WAL back: %s", sqlite3_errstr(code));
}

static enum status open_file(struct store_sqlite *s, const struct file_place *gone,
                             struct err *err)
{
    const struct store_params *p = &s->params;
    remove_leftovers(p->path, gone);
    enum status status =
        store_connect(&s->c, p->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, p->vfs,
                      p->busy_timeout_ms, err);
    if (status == STATUS_OK) {
        status = set_up_file(&s->c, p->pages_max, err);
    }
    if (status == STATUS_OK) {
        char wal[PATH_MAX];
        format_path(p->path, "-wal", wal);
        s->wal = file_place_at(wal);
        (void)sqlite3_wal_hook(s->c.db, write_wal_back, s);
        status = load_mark(s, err);
    }
    bucket_writer_init(&s->buckets, &s->c);
    s->base.due = true; /* unknown, so assume there is work */
    return status == STATUS_OK ? prepare_adding(s, err) : status;
}

/* Closes the file and all statements. */
static void close_file(struct store_sqlite *s)
{
    store_disconnect(&s->c);
    *s = (struct store_sqlite){
        .base.engine = s->base.engine, .params = s->params, .path = s->path};
}

static void close_store(struct store *base)
{
    struct store_sqlite *store = sqlite_of(base);
    close_file(store);
    free(store->path);
    free(store);
}

static enum status open_store(const struct store_params *params, struct store **out,
                              struct err *err)
{
    struct store_sqlite *s = calloc(1, sizeof *s);
    char *path = strdup(params->path);
    if (!s || !path) {
        free(s);
        free(path);
        return err_no_memory(err, params->path, "out of memory");
    }
    s->base.engine = &store_sqlite;
    s->params = *params;
    s->params.path = s->path = path;
    const enum status status = open_file(s, &(struct file_place){0}, err);
    if (status != STATUS_OK) {
        close_store(&s->base);
        return status;
    }
    *out = &s->base;
    return STATUS_OK;
}

static enum status reopen_store(struct store *base, struct err *err)
{
    struct store_sqlite *store = sqlite_of(base);
    const struct file_place gone = store->wal;
    close_file(store);
    if (!file_place_make_directory_of(store->params.path)) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, store->params.path,
                       "cannot make the store's directory: %s", journal_error_text(errno));
    }
    const enum status status = open_file(store, &gone, err);
    if (status != STATUS_OK) {
        close_file(store);
    }
    return status;
}

/* --- identity of the store -------------------------------------------------------------- */

static bool is_in_place(const struct store *base)
{
    const struct store_sqlite *store = (const struct store_sqlite *)base;
    return store->c.db && file_place_holds(&store->c.place, store->params.path);
}

static enum status check_mark(struct store *base, const struct store_mark *mark,
                              struct err *err)
{
    struct store_sqlite *store = sqlite_of(base);
    const char *path = store->params.path;
    char sql[320];
    int64_t held = 0;
    if (mark->store != base->mark.store) {
        return err_set(err, STATUS_E_STALE, FAULT_STORE_REPLACED, path,
                       "it was recreated, or is another lab's");
    }
    if (mark->rows > base->mark.rows) {
        return err_set(err, STATUS_E_STALE, FAULT_OUTDATED_COPY, path,
                       "it has %llu of %llu records: an older copy, or the file next to it "
                       "(-wal) was lost or damaged",
                       (unsigned long long)base->mark.rows, (unsigned long long)mark->rows);
    }
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*) FROM runs r WHERE r.run = %lld AND %llu <= coalesce("
                   "(SELECT min(l.rows) FROM runs l WHERE l.seq > r.seq),"
                   " (SELECT value FROM meta WHERE key = 'rows'))",
                   (long long)mark->run, (unsigned long long)mark->rows);
    const int code = mark->run == 0 ? SQLITE_OK : store_query_number(&store->c, sql, &held);
    if (code != SQLITE_OK) {
        return store_fail(&store->c, code, "read", err);
    }
    return held > 0 || mark->run == 0
               ? STATUS_OK
               : err_set(err, STATUS_E_STALE, FAULT_OUTDATED_COPY, path,
                         "it is an older copy that was written to since");
}

/* --- writing -------------------------------------------------------------------------- */

/* The first batch of a run records the run as the writer. */
static enum status begin_run(struct store_sqlite *s, struct err *err)
{
    struct store_mark *next = &s->base.next;
    sqlite3_randomness(sizeof next->run, &next->run);
    next->run |= 1;
    return store_run_sql(&s->c, "write", err,
                         "INSERT INTO runs(run, rows) VALUES(%lld, %llu);"
                         "DELETE FROM runs WHERE seq <= (SELECT max(seq) FROM runs) - %d",
                         (long long)next->run, (unsigned long long)s->base.mark.rows, RUNS_MAX);
}

static enum status begin_batch(struct store *base, struct err *err)
{
    struct store_sqlite *store = sqlite_of(base);
    const enum status status = store_run_sql(&store->c, "write", err, "BEGIN IMMEDIATE");
    return status == STATUS_OK && !store->began ? begin_run(store, err) : status;
}

static enum status commit_batch(struct store *base, struct err *err)
{
    struct store_sqlite *store = sqlite_of(base);
    enum status status = STATUS_OK;
    if (base->next.rows != base->mark.rows) {
        status = store_run_sql(&store->c, "write", err,
                               "UPDATE meta SET value = %llu WHERE key = 'rows'",
                               (unsigned long long)base->next.rows);
    }
    if (status == STATUS_OK) {
        status = store_run_sql(&store->c, "write", err, "COMMIT");
    }
    store->began = store->began || status == STATUS_OK;
    return status;
}

static void roll_back_batch(struct store *base)
{
    struct store_sqlite *store = sqlite_of(base);
    roll_back(&store->c);
    store->again = 0;
}

/* Finds the lowest places of the rows before this backfill attempt. */
static int begin_again(struct store_sqlite *s, uint32_t again)
{
    int code = SQLITE_OK;
    for (int kind = 0; kind < STORE_KIND_COUNT && code == SQLITE_OK; kind++) {
        char sql[64];
        (void)snprintf(sql, sizeof sql, "SELECT min(0, coalesce(min(seq), 0)) FROM %s",
                       store_tables[kind].table);
        code = store_query_number(&s->c, sql, &s->first[kind]);
        s->place[kind] = s->first[kind];
    }
    s->again = code == SQLITE_OK ? again : 0;
    return code;
}

/* Was this backfilled row in the store before the attempt? Its number may differ, because a
 * reader of a journal that lost its beginning counts differently. Events can only be identified
 * by their number. */
static int find_again(struct store_sqlite *s, const struct store_row *row, bool *found)
{
    static const char *const same[STORE_KIND_COUNT] = {
        [STORE_ENTRIES] = "id = ?4",
        [STORE_ALARMS] = "id = ?4 AND type = ?5",
        [STORE_LOG] = "n = ?6",
        [STORE_CHANGES] = "id = ?4 AND action = ?5",
        [STORE_FITS] = "id = ?4 AND model = ?5",
        [STORE_BARS] = "id = ?4 AND kind = ?5",
    };
    sqlite3_stmt **find = &s->find[row->kind];
    int code = s->again == row->again ? SQLITE_OK : begin_again(s, row->again);
    if (code == SQLITE_OK) {
        code = store_prepare(&s->c, find,
                             "SELECT 1 FROM %s WHERE pair = ?1 AND t_us = ?2 AND seq >= ?3"
                             " AND %s AND coalesce(?4, ?5, ?6) IS NOT NULL",
                             store_tables[row->kind].table, same[row->kind]);
    }
    if (code == SQLITE_OK) {
        code = store_bind(*find, "tiitti", row->pair, row->t_us, s->first[row->kind], row->id,
                          row->type, (int64_t)row->n);
    }
    code = code == SQLITE_OK ? sqlite3_step(*find) : code;
    *found = code == SQLITE_ROW;
    (void)sqlite3_reset(*find);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int insert_row(struct store_sqlite *store, const struct store_row *row, int64_t seq)
{
    sqlite3_stmt *add = store->add[row->kind];
    int code = store_bind(add, "tiittiri", row->pair, (int64_t)row->n, row->t_us, row->id,
                          row->type, seq, row->lag_s, (int64_t)row->inconsistent);
    code |= sqlite3_bind_text(add, 9, row->json, (int)row->json_bytes, SQLITE_STATIC);
    if (row->kind == STORE_ENTRIES) {
        code |= sqlite3_bind_text(add, 10, store_is_of_team(row) ? row->json : NULL,
                                  (int)row->json_bytes, SQLITE_STATIC);
    }
    return code == SQLITE_OK ? store_step_once(add) : SQLITE_NOMEM;
}

static enum status add_row(struct store *base, const struct store_row *row, bool *is_new,
                           struct err *err)
{
    struct store_sqlite *store = sqlite_of(base);
    int64_t seq = (int64_t)row->seq;
    bool found = false;
    int code = row->again ? find_again(store, row, &found) : SQLITE_OK;
    if (row->again) {
        seq = --store->place[row->kind];
    }
    code = code == SQLITE_OK && !found ? insert_row(store, row, seq) : code;
    const bool added = code == SQLITE_OK && !found && sqlite3_changes(store->c.db) == 1;
    if (added && row->kind == STORE_ENTRIES) {
        code = bucket_add(&store->buckets.target, row, &base->due);
    }
    if (code != SQLITE_OK) {
        return store_fail(&store->c, code, "write", err);
    }
    base->next.rows += added;
    base->adding.made_again += added && row->again != 0;
    if (is_new) {
        *is_new = added;
    }
    return STATUS_OK;
}

static enum status remove_rows(struct store *base, enum store_kind kind, int64_t before_us,
                               int limit, uint64_t *removed, struct err *err)
{
    struct store_sqlite *s = sqlite_of(base);
    sqlite3_stmt *statement = NULL;
    int code = store_prepare(&s->c, &statement,
                             "DELETE FROM %s WHERE seq IN"
                             " (SELECT seq FROM %s WHERE t_us < ?1 ORDER BY t_us LIMIT ?2)",
                             store_tables[kind].table, store_tables[kind].table);
    if (code == SQLITE_OK) {
        code = store_bind(statement, "ii", before_us, (int64_t)limit);
    }
    code = code == SQLITE_OK ? store_step_once(statement) : code;
    (void)sqlite3_finalize(statement);
    if (code == SQLITE_OK) {
        const uint64_t rows = (uint64_t)sqlite3_changes(s->c.db);
        *removed += rows;
        code = rows > 0 && kind == STORE_ENTRIES ? remove_buckets(&s->c) : SQLITE_OK;
    }
    return code == SQLITE_OK ? STATUS_OK : store_fail(&s->c, code, "shorten", err);
}

static enum status fold_entries(struct store *base, bool *more, struct err *err)
{
    struct store_sqlite *store = sqlite_of(base);
    bool due = false;
    enum status status = store_run_sql(&store->c, "write", err, "BEGIN IMMEDIATE");
    if (status == STATUS_OK) {
        const int code = bucket_fold(&store->buckets.target, &due);
        status = code == SQLITE_OK ? STATUS_OK : store_fail(&store->c, code, "write", err);
    }
    if (status == STATUS_OK) {
        status = store_run_sql(&store->c, "write", err, "COMMIT");
    }
    if (status != STATUS_OK) {
        roll_back(&store->c);
        return status;
    }
    *more = base->due = due;
    return STATUS_OK;
}

/* --- age ------------------------------------------------------------------------------ */

int64_t store_outdated_entries(const char *path)
{
    struct store_connection c = {0};
    int64_t version = 0;
    int64_t entries = 0;
    if (sqlite3_open_v2(path, &c.db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        store_query_number(&c, "SELECT value FROM meta WHERE key = 'schema_version'",
                           &version) == SQLITE_OK &&
        version > 0 && version < STORE_SCHEMA_REWRITTEN) {
        (void)store_query_number(&c, "SELECT max(seq) - min(seq) + 1 FROM entries", &entries);
    }
    store_disconnect(&c);
    return entries;
}

/* --- the engine ----------------------------------------------------------------------- */

const struct store_engine store_sqlite = {
    .open = open_store,
    .close = close_store,
    .reopen = reopen_store,
    .is_in_place = is_in_place,
    .check_mark = check_mark,
    .begin = begin_batch,
    .add = add_row,
    .commit = commit_batch,
    .rollback = roll_back_batch,
    .remove = remove_rows,
    .check_wal = check_wal,
    .fold = fold_entries,
    .reader_open = store_sqlite_reader_open,
    .reader_close = store_sqlite_reader_close,
    .reader_is_in_place = store_sqlite_reader_is_in_place,
    .query = store_sqlite_query,
    .holds = store_sqlite_holds,
    .hold = store_sqlite_hold,
    .since = store_sqlite_since,
    .last_seq = store_sqlite_last_seq,
    .series = store_sqlite_series,
    .span = store_sqlite_span,
};
