/* logger/storage/store_reader.c - queries of the store: pages of rows, rows in the order of
 * storing, and series for charts. */
#include "logger/storage/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "logger/message/json_write.h"
#include "logger/storage/store_parts.h"
#include "logger/storage/store_schema.h"

enum {
    READER_BUSY_MS = 2000,
    QUERY_SHAPES =
        256, /* flags: newest first, pair, type, types, team, job, inconsistent, version */
    MEMBER_MAX = 8 * EVENT_VERSION_MAX /* a member of a record, with escapes */
};

/* A walk over the rows of a kind in the order of storing. */
struct walk {
    sqlite3_stmt *rows;
    bool goes;     /* it is at a row */
    int64_t found; /* seq that the last search found */
};

/* Statements are prepared at first use and stay prepared. */
struct store_reader {
    struct store_connection c;
    sqlite3_stmt *query[STORE_KIND_COUNT][QUERY_SHAPES];
    sqlite3_stmt *since[STORE_KIND_COUNT], *holds[STORE_KIND_COUNT], *span;
    struct walk walk[STORE_KIND_COUNT];
    struct bucket_reader buckets;
};

enum status store_reader_open(const char *path, struct store_reader **out, struct err *err)
{
    struct store_reader *r = calloc(1, sizeof *r);
    if (!r) {
        return err_no_memory(err, path, "out of memory");
    }
    int64_t version = 0;
    enum status status =
        store_connect(&r->c, path, SQLITE_OPEN_READONLY, NULL, READER_BUSY_MS, err);
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
        store_reader_close(r);
        return status;
    }
    r->buckets.c = &r->c;
    *out = r;
    return STATUS_OK;
}

bool store_reader_is_in_place(const struct store_reader *reader)
{
    return file_place_holds(&reader->c.place, reader->c.path);
}

void store_reader_close(struct store_reader *reader)
{
    if (reader) {
        store_disconnect(&reader->c);
        free(reader);
    }
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

/* The key of the last row passed on. */
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

static const char *type_of(const struct store_query *query)
{
    return query->types ? query->types : query->type;
}

/* Formats "t_us.n.check.pair". The check covers the query, so that a cursor of another list is
 * refused instead of giving a meaningless page. */
static void write_cursor(const struct store_query *query, const struct key *key,
                         char out[STORE_CURSOR_MAX])
{
    char all[STORE_SQL_MAX];
    const char *const *version = query->version;
    (void)snprintf(all, sizeof all, "%d %d %d %s %s %s %s %s %s %lld %lld %lld %lld %s",
                   (int)query->kind, query->newest_first, query->inconsistent,
                   query->pair ? query->pair : "", type_of(query) ? type_of(query) : "",
                   query->team ? query->team : "", query->job ? query->job : "",
                   version[SIDE_REAL] ? version[SIDE_REAL] : "",
                   version[SIDE_VIRTUAL] ? version[SIDE_VIRTUAL] : "",
                   (long long)(query->moving ? 0 : query->since_us),
                   (long long)(query->moving ? 0 : query->until_us), (long long)key->t_us,
                   (long long)key->n, key->pair);
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

/* One row more than requested shows whether there is a next page. */
static bool add_page_row(void *context, const struct store_row *row)
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

static bool has_version(const struct store_query *query)
{
    return query->version[SIDE_REAL] || query->version[SIDE_VIRTUAL];
}

/* Writes the member as records have it. No text within a record contains these bytes, because
 * its quotes are escaped. "": no version is asked for, and every record has it. */
static const char *write_version(enum side side, const char *version, char out[MEMBER_MAX])
{
    char object[MEMBER_MAX];
    const size_t bytes =
        JSON_FORMAT(object, sizeof object,
                    JSON(side == SIDE_REAL ? "real_version" : "virtual_version", version));
    out[0] = '\0';
    if (version && bytes > 2) {
        (void)snprintf(out, MEMBER_MAX, "%.*s", (int)bytes - 2, object + 1);
    }
    return out;
}

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
        has_version(query) ? " AND instr(json, ?9) > 0 AND instr(json, ?10) > 0" : "", order,
        query->pair ? "" : ", pair ", query->pair ? "" : order, order);
}

/* Returns the types of the bound values, up to the last one of the statement. */
static const char *bound_texts(const struct store_query *query)
{
    return has_version(query) ? "iiiitttttt"
           : query->job       ? "iiiitttt"
           : query->team      ? "iiiittt"
           : type_of(query)   ? "iiiitt"
                              : "iiiit";
}

enum status store_query(struct store_reader *reader, const struct store_query *query,
                        store_row_fn *row, void *context, char next_cursor[STORE_CURSOR_MAX],
                        struct err *err)
{
    if (query->limit < 1 || query->limit > STORE_PAGE_MAX) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "limit", "must be from 1 to %d",
                       STORE_PAGE_MAX);
    }
    /* No row has n < 0 or an empty pair, so this key lies before all rows of its t_us. Above it
     * is "from since_us on", below it is "before until_us". */
    struct key from = {.t_us = query->newest_first ? query->until_us : query->since_us,
                       .n = -1};
    if (query->cursor && query->cursor[0] != '\0' &&
        !read_cursor(query, query->cursor, &from)) {
        return err_set(err, STATUS_E_PARSE, FAULT_BAD_CURSOR, "cursor",
                       "is not a cursor of this list: use the one from the previous page");
    }
    char member[SIDE_COUNT][MEMBER_MAX];
    const size_t shape = (has_version(query) ? 128U : 0U) | (query->types ? 64U : 0U) |
                         (query->job ? 32U : 0U) | (query->team ? 16U : 0U) |
                         (query->inconsistent ? 8U : 0U) | (query->newest_first ? 4U : 0U) |
                         (query->pair ? 2U : 0U) | (query->type ? 1U : 0U);
    sqlite3_stmt **statement = &reader->query[query->kind][shape];
    struct page page = {.query = query, .row = row, .context = context};
    int code = SQLITE_OK;
    if (!*statement) {
        char sql[STORE_SQL_MAX];
        store_query_sql(query, sql);
        code = store_prepare(&reader->c, statement, "%s", sql);
    }
    if (code == SQLITE_OK) {
        code = store_bind(
            *statement, bound_texts(query), (int64_t)query->limit + 1,
            query->newest_first ? query->since_us : query->until_us, from.t_us, from.n,
            query->pair ? query->pair : from.pair, type_of(query), query->team, query->job,
            write_version(SIDE_REAL, query->version[SIDE_REAL], member[SIDE_REAL]),
            write_version(SIDE_VIRTUAL, query->version[SIDE_VIRTUAL], member[SIDE_VIRTUAL]));
    }
    if (code == SQLITE_OK) {
        next_cursor[0] = '\0';
        code = hand_out(*statement, query->kind, add_page_row, &page);
    }
    if (page.more) {
        write_cursor(query, &page.last, next_cursor);
    }
    return end_reading(&reader->c, code, *statement, err);
}

/* --- in the order of storing ---------------------------------------------------------- */

static bool is_held(const struct store_reader *r)
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
static void begin_walk(struct store_reader *r, enum store_kind kind, int64_t seq)
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

static int search_row(struct store_reader *r, const struct store_row *row, bool *found)
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
enum status store_holds(struct store_reader *reader, const struct store_row *row, bool *holds,
                        struct err *err)
{
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

void store_reader_hold(struct store_reader *reader, bool on)
{
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

enum status store_since(struct store_reader *reader, enum store_kind kind, uint64_t after,
                        int limit, store_row_fn *row, void *context, struct err *err)
{
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

enum status store_last_seq(struct store_reader *reader, enum store_kind kind, uint64_t *seq,
                           struct err *err)
{
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

enum status store_series(struct store_reader *reader, const char *pair, int64_t since_us,
                         int64_t until_us, int64_t width_us, store_bucket_fn *emit,
                         void *context, struct err *err)
{
    int level = STORE_WIDTHS - 1;
    while (level >= 0 && store_widths_us[level] > width_us) {
        level--;
    }
    /* All reads must see the same commit. */
    enum status status = store_run_sql(&reader->c, "read", err, "BEGIN");
    if (status == STATUS_OK) {
        const int code =
            bucket_read(&reader->buckets, level, pair, since_us, until_us, emit, context);
        status = code == SQLITE_OK ? STATUS_OK : store_fail(&reader->c, code, "read", err);
        const enum status ended = store_run_sql(&reader->c, "read", err, "COMMIT");
        status = status == STATUS_OK ? ended : status;
    }
    return status;
}

enum status store_span(struct store_reader *reader, const char *pair, int64_t since_us,
                       int64_t until_us, bool *any, int64_t *oldest_us, int64_t *newest_us,
                       struct err *err)
{
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
