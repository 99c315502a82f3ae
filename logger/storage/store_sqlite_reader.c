/* logger/storage/store_sqlite_reader.c - queries of a SQLite store: pages of rows, rows in the
 * order of storing, and series for charts. */
#include "logger/storage/store_sqlite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READER_BUSY_MS = 2000 };

/* A walk over the rows of a kind in the order of storing. */
struct walk {
    sqlite3_stmt *rows;
    bool goes;     /* it is at a row */
    int64_t found; /* seq that the last search found */
};

/* Statements are prepared at first use and stay prepared. */
struct sqlite_reader {
    struct store_reader base;
    struct store_connection c;
    sqlite3_stmt *query[STORE_KIND_COUNT][STORE_QUERY_SHAPES];
    sqlite3_stmt *since[STORE_KIND_COUNT], *holds[STORE_KIND_COUNT], *span;
    struct walk walk[STORE_KIND_COUNT];
    struct bucket_reader buckets;
};

static struct sqlite_reader *reader_of(struct store_reader *base)
{
    return (struct sqlite_reader *)base;
}

void store_sqlite_reader_close(struct store_reader *base)
{
    struct sqlite_reader *reader = reader_of(base);
    store_disconnect(&reader->c);
    free(reader);
}

enum status store_sqlite_reader_open(const struct store_params *params,
                                     struct store_reader **out, struct err *err)
{
    const char *path = params->path;
    struct sqlite_reader *r = calloc(1, sizeof *r);
    if (!r) {
        return err_no_memory(err, path, "out of memory");
    }
    int64_t version = 0;
    r->base.engine = &store_sqlite;
    enum status status =
        store_connect(&r->c, path, SQLITE_OPEN_READONLY, params->vfs, READER_BUSY_MS, err);
    if (status == STATUS_OK) {
        status = store_read_version(&r->c, &version, err);
    }
    if (status == STATUS_OK && version != STORE_SCHEMA_VERSION) {
        status = err_set(err, STATUS_E_STALE, FAULT_VERSION_MISMATCH, path,
                         "the store has version %lld, this program reads %d: open it for "
                         "writing once",
                         (long long)version, STORE_SCHEMA_VERSION);
    }
    if (status != STATUS_OK) {
        store_sqlite_reader_close(&r->base);
        return status;
    }
    bucket_reader_init(&r->buckets, &r->c);
    *out = &r->base;
    return STATUS_OK;
}

bool store_sqlite_reader_is_in_place(const struct store_reader *base)
{
    const struct sqlite_reader *reader = (const struct sqlite_reader *)base;
    return file_place_holds(&reader->c.place, reader->c.path);
}

/* --- passing rows on ------------------------------------------------------------------ */

/* Follows SELECT, with the type column, the own columns and the table of a kind. */
#define ROWS "pair, n, t_us, id, %s, %s, json, seq FROM %s"

static const char *text_at(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

double store_lag_at(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? nan("")
               : sqlite3_column_double(statement, column);
}

/* Passes on the rows of a statement over ROWS, until the end or until row() returns false. */
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
            .lag_s = store_lag_at(statement, 5),
            .inconsistent = sqlite3_column_int(statement, 6) != 0,
            .json = json,
            .json_bytes = (size_t)sqlite3_column_bytes(statement, 7),
            .seq = (uint64_t)sqlite3_column_int64(statement, 8),
        };
        more = row(context, &found);
    }
    return code;
}

/* Converts the result of a statement, ends its transaction and drops bound texts. NULL: it was
 * never prepared. */
static enum status end_reading(const struct store_connection *c, int code,
                               sqlite3_stmt *statement, struct err *err)
{
    const enum status status = code == SQLITE_DONE || code == SQLITE_ROW
                                   ? STATUS_OK
                                   : store_fail(c, code, "read", err);
    (void)sqlite3_reset(statement);
    if (statement) {
        (void)sqlite3_clear_bindings(statement);
    }
    return status;
}

/* --- pages ---------------------------------------------------------------------------- */

void store_query_sql(const struct store_query *query, char sql[STORE_SQL_MAX])
{
    /* The key is compared as a whole, so that the index alone finds the page. The other end of
     * the time range only stops it. Several types are picked on the way along the index. */
    const char *order = query->newest_first ? "DESC" : "ASC";
    const char *column = store_tables[query->kind].type_column;
    char type[128] = "";
    if (query->types) {
        (void)snprintf(type, sizeof type, " AND (instr(?6, ',' || %s || ',') > 0%s)", column,
                       query->inconsistent ? " OR inconsistent = 1" : "");
    } else if (query->type) {
        (void)snprintf(type, sizeof type, " AND %s = ?6", column);
    }
    (void)snprintf(
        sql, STORE_SQL_MAX,
        "SELECT " ROWS " WHERE %s %s %s AND t_us %s ?2%s%s%s%s%s%s"
        " ORDER BY t_us %s%s%s, n %s LIMIT ?1",
        column, store_tables[query->kind].own_columns, store_tables[query->kind].table,
        query->pair ? "(t_us, n)" : "(t_us, pair, n)", query->newest_first ? "<" : ">",
        query->pair ? "(?3, ?4)" : "(?3, ?5, ?4)", query->newest_first ? ">=" : "<",
        query->pair ? " AND pair = ?5" : "", type,
        query->inconsistent && !query->types ? " AND inconsistent = 1" : "",
        query->team ? " AND team = ?7" : "", query->job ? " AND job = ?8" : "",
        store_has_version(query) ? " AND instr(json, ?9) > 0 AND instr(json, ?10) > 0" : "",
        order, query->pair ? "" : ", pair ", query->pair ? "" : order, order);
}

/* Returns the types of the bound values, up to the last one of the statement. */
static const char *bound_texts(const struct store_query *query)
{
    return store_has_version(query)  ? "iiiitttttt"
           : query->job              ? "iiiitttt"
           : query->team             ? "iiiittt"
           : store_query_type(query) ? "iiiitt"
                                     : "iiiit";
}

enum status store_sqlite_query(struct store_reader *base, const struct store_query *query,
                               const struct store_key *from, store_row_fn *row, void *context,
                               struct err *err)
{
    struct sqlite_reader *reader = reader_of(base);
    char member[SIDE_COUNT][STORE_MEMBER_MAX];
    sqlite3_stmt **statement = &reader->query[query->kind][store_query_shape(query)];
    int code = SQLITE_OK;
    if (!*statement) {
        char sql[STORE_SQL_MAX];
        store_query_sql(query, sql);
        code = store_prepare(&reader->c, statement, "%s", sql);
    }
    if (code == SQLITE_OK) {
        code = store_bind(*statement, bound_texts(query), (int64_t)query->limit + 1,
                          query->newest_first ? query->since_us : query->until_us, from->t_us,
                          from->n, query->pair ? query->pair : from->pair,
                          store_query_type(query), query->team, query->job,
                          store_version_member(query, SIDE_REAL, member[SIDE_REAL]),
                          store_version_member(query, SIDE_VIRTUAL, member[SIDE_VIRTUAL]));
    }
    code = code == SQLITE_OK ? hand_out(*statement, query->kind, row, context) : code;
    return end_reading(&reader->c, code, *statement, err);
}

/* --- in the order of storing ---------------------------------------------------------- */

static bool is_held(const struct sqlite_reader *r)
{
    return sqlite3_get_autocommit(r->c.db) == 0;
}

/* Is the walk at this row? */
static bool is_at_row(const struct walk *walk, const struct store_row *row)
{
    return walk->goes && sqlite3_column_int64(walk->rows, 1) == row->t_us &&
           strcmp(text_at(walk->rows, 0), row->pair) == 0 &&
           strcmp(text_at(walk->rows, 2), row->id) == 0 &&
           (row->kind == STORE_ENTRIES || strcmp(text_at(walk->rows, 3), row->type) == 0);
}

/* A walk that fails ends. Rows are then searched for, and the search reports the error. */
static void walk_on(struct walk *walk)
{
    walk->goes = sqlite3_step(walk->rows) == SQLITE_ROW;
}

/* Begins a walk behind this row. */
static void begin_walk(struct sqlite_reader *r, enum store_kind kind, int64_t seq)
{
    struct walk *walk = &r->walk[kind];
    int code = store_prepare(&r->c, &walk->rows,
                             "SELECT pair, t_us, id, %s FROM %s WHERE seq > ?1 ORDER BY seq",
                             store_tables[kind].type_column, store_tables[kind].table);
    (void)sqlite3_reset(walk->rows);
    code = code == SQLITE_OK ? store_bind(walk->rows, "i", seq) : code;
    walk->goes = code == SQLITE_OK;
    if (walk->goes) {
        walk_on(walk);
    }
}

static int search_row(struct sqlite_reader *r, const struct store_row *row, bool *found)
{
    const struct store_table *t = &store_tables[row->kind];
    const bool typed = row->kind != STORE_ENTRIES;
    sqlite3_stmt **search = &r->holds[row->kind];
    int code = store_prepare(
        &r->c, search, "SELECT seq FROM %s WHERE pair = ?1 AND t_us = ?2 AND id = ?3%s%s%s",
        t->table, typed ? " AND " : "", typed ? t->type_column : "", typed ? " = ?4" : "");
    code = code == SQLITE_OK ? store_bind(*search, typed ? "titt" : "tit", row->pair, row->t_us,
                                          row->id, row->type)
                             : code;
    code = code == SQLITE_OK ? sqlite3_step(*search) : code;
    *found = code == SQLITE_ROW;
    return code;
}

/* A backfill looks up most rows in the order of storing. After two searches have found adjacent
 * rows, a walk from row to row replaces the search. This is done only in a held reader, because
 * there an open statement does not prolong the transaction. */
enum status store_sqlite_holds(struct store_reader *base, const struct store_row *row,
                               bool *holds, struct err *err)
{
    struct sqlite_reader *reader = reader_of(base);
    struct walk *walk = &reader->walk[row->kind];
    *holds = is_at_row(walk, row);
    if (*holds) {
        walk_on(walk);
        return STATUS_OK;
    }
    const int code = search_row(reader, row, holds);
    if (*holds) {
        const int64_t seq = sqlite3_column_int64(reader->holds[row->kind], 0);
        if (seq == walk->found + 1 && is_held(reader)) {
            begin_walk(reader, row->kind, seq);
        }
        walk->found = seq;
    }
    return end_reading(&reader->c, code, reader->holds[row->kind], err);
}

void store_sqlite_hold(struct store_reader *base, bool on)
{
    struct sqlite_reader *reader = reader_of(base);
    if (is_held(reader) == on) {
        return;
    }
    for (int kind = 0; kind < STORE_KIND_COUNT; kind++) {
        (void)sqlite3_reset(reader->walk[kind].rows);
        reader->walk[kind].goes = false;
    }
    const enum status status =
        store_run_sql(&reader->c, "read", NULL, "%s", on ? "BEGIN" : "COMMIT");
    (void)status;
}

enum status store_sqlite_since(struct store_reader *base, enum store_kind kind, uint64_t after,
                               int limit, store_row_fn *row, void *context, struct err *err)
{
    struct sqlite_reader *reader = reader_of(base);
    sqlite3_stmt **statement = &reader->since[kind];
    int code = store_prepare(&reader->c, statement,
                             "SELECT " ROWS " WHERE seq > ?1 ORDER BY seq LIMIT ?2",
                             store_tables[kind].type_column, store_tables[kind].own_columns,
                             store_tables[kind].table);
    code = code == SQLITE_OK
               ? store_bind(*statement, "ii", (int64_t)(after & INT64_MAX), (int64_t)limit)
               : code;
    code = code == SQLITE_OK ? hand_out(*statement, kind, row, context) : code;
    return end_reading(&reader->c, code, *statement, err);
}

enum status store_sqlite_last_seq(struct store_reader *base, enum store_kind kind,
                                  uint64_t *seq, struct err *err)
{
    const struct sqlite_reader *reader = reader_of(base);
    char sql[64];
    int64_t last = 0;
    (void)snprintf(sql, sizeof sql, "SELECT max(0, coalesce(max(seq), 0)) FROM %s",
                   store_tables[kind].table);
    const int code = store_query_number(&reader->c, sql, &last);
    if (code != SQLITE_OK) {
        return store_fail(&reader->c, code, "read", err);
    }
    *seq = (uint64_t)last;
    return STATUS_OK;
}

/* --- for charts ----------------------------------------------------------------------- */

#define POINTS                                                                                 \
    "FROM entries INDEXED BY entries_lags WHERE pair = ?1 AND t_us >= ?2 AND t_us < ?3 ORDER " \
    "BY t_us"

enum status store_sqlite_series(struct store_reader *base, int level, const char *pair,
                                int64_t since_us, int64_t until_us, store_bucket_fn *emit,
                                void *context, struct err *err)
{
    struct sqlite_reader *reader = reader_of(base);
    /* All reads must see the same commit. */
    enum status status = store_run_sql(&reader->c, "read", err, "BEGIN");
    if (status == STATUS_OK) {
        const int code = bucket_read(&reader->buckets.source, level, pair, since_us, until_us,
                                     emit, context);
        status = code == SQLITE_OK ? STATUS_OK : store_fail(&reader->c, code, "read", err);
        const enum status ended = store_run_sql(&reader->c, "read", err, "COMMIT");
        status = status == STATUS_OK ? ended : status;
    }
    return status;
}

enum status store_sqlite_span(struct store_reader *base, const char *pair, int64_t since_us,
                              int64_t until_us, bool *any, int64_t *oldest_us,
                              int64_t *newest_us, struct err *err)
{
    struct sqlite_reader *reader = reader_of(base);
    int code = store_prepare(&reader->c, &reader->span,
                             "SELECT (SELECT t_us " POINTS " LIMIT 1),"
                             " (SELECT t_us " POINTS " DESC LIMIT 1)");
    sqlite3_stmt *const statement = reader->span;
    code = code == SQLITE_OK ? store_bind(statement, "tii", pair, since_us, until_us) : code;
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
