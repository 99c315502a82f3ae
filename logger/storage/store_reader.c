#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "logger/storage/store.h"
#include "logger/storage/store_schema.h"

enum { QUERY_SHAPES = 8 }; /* newest first or not, of a pair or not, of a type or not */

/* Statements are prepared when they are first needed, and kept. */
struct store_reader {
    sqlite3 *db;
    char *path;
    sqlite3_stmt *query[STORE_KIND_COUNT][QUERY_SHAPES];
    sqlite3_stmt *since[STORE_KIND_COUNT], *last[STORE_KIND_COUNT];
    sqlite3_stmt *points, *span, *counts[2]; /* of all pairs, of one */
};

enum { BUSY_TIMEOUT_MS = 2000 };

static enum status open_in(struct store_reader *r, struct err *err)
{
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    const int code = sqlite3_open_v2(r->path, &r->db, flags, NULL);
    if (code != SQLITE_OK) {
        return store_schema_fail(r->db, r->path, code, "open", err);
    }
    (void)sqlite3_busy_timeout(r->db, BUSY_TIMEOUT_MS);
    return store_schema_check(r->db, r->path, err);
}

enum status store_reader_open(const char *path, struct store_reader **out, struct err *err)
{
    struct store_reader *r = calloc(1, sizeof *r);
    if (r) {
        r->path = strdup(path);
    }
    if (!r || !r->path) {
        free(r);
        return err_set(err, STATUS_E_NOMEM, path, 0, 0, "out of memory");
    }
    const enum status status = open_in(r, err);
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
        for (int kind = 0; kind < STORE_KIND_COUNT; kind++) {
            for (size_t shape = 0; shape < QUERY_SHAPES; shape++) {
                (void)sqlite3_finalize(reader->query[kind][shape]);
            }
            (void)sqlite3_finalize(reader->since[kind]);
            (void)sqlite3_finalize(reader->last[kind]);
        }
        (void)sqlite3_finalize(reader->points);
        (void)sqlite3_finalize(reader->span);
        (void)sqlite3_finalize(reader->counts[0]);
        (void)sqlite3_finalize(reader->counts[1]);
        (void)sqlite3_close(reader->db);
        free(reader->path);
        free(reader);
    }
}

static int prepare_once(const struct store_reader *r, const char *sql, sqlite3_stmt **statement)
{
    return *statement
               ? SQLITE_OK
               : sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

/* What became of a statement. Ends its transaction and forgets texts that were bound; NULL: it
 * was never prepared. */
static enum status end_reading(const struct store_reader *r, int code, sqlite3_stmt *statement,
                               struct err *err)
{
    const enum status status = code == SQLITE_DONE || code == SQLITE_ROW
                                   ? STATUS_OK
                                   : store_schema_fail(r->db, r->path, code, "read", err);
    (void)sqlite3_reset(statement);
    if (statement) {
        (void)sqlite3_clear_bindings(statement);
    }
    return status;
}

/* --- cursors -------------------------------------------------------------------------- */

/* The key of the last row handed out. */
struct cursor {
    int64_t t_us;
    int64_t n;
    char pair[EVENT_PAIR_MAX];
};

/* Written in hexadecimal digits: t_us, n, check, pair. The check covers the query too, so that
 * a cursor of another list is refused instead of giving a page that means nothing. */
enum { NUMBER_DIGITS = 16, NUMBERS_DIGITS = 3 * NUMBER_DIGITS };

static uint64_t check_of(const struct store_query *query, const struct cursor *cursor)
{
    const unsigned char shape[] = {(unsigned char)query->kind, query->newest_first ? 1 : 0,
                                   query->pair ? 1 : 0, query->type ? 1 : 0};
    uint64_t hash = hash_bytes(HASH_START, shape, sizeof shape);
    hash = hash_bytes(hash, &query->since_us, sizeof query->since_us);
    hash = hash_bytes(hash, &query->until_us, sizeof query->until_us);
    hash = hash_bytes(hash, &cursor->t_us, sizeof cursor->t_us);
    hash = hash_bytes(hash, &cursor->n, sizeof cursor->n);
    hash = hash_bytes(hash, cursor->pair, strlen(cursor->pair) + 1);
    if (query->pair) {
        hash = hash_bytes(hash, query->pair, strlen(query->pair) + 1);
    }
    return query->type ? hash_bytes(hash, query->type, strlen(query->type) + 1) : hash;
}

static void write_cursor(const struct store_query *query, const struct cursor *cursor,
                         char out[STORE_CURSOR_MAX])
{
    int at = snprintf(out, STORE_CURSOR_MAX, "%016llx%016llx%016llx",
                      (unsigned long long)cursor->t_us, (unsigned long long)cursor->n,
                      (unsigned long long)check_of(query, cursor));
    for (const char *c = cursor->pair; *c; c++, at += 2) {
        (void)snprintf(out + at, STORE_CURSOR_MAX - (size_t)at, "%02x", (unsigned char)*c);
    }
}

static bool read_hex(const char *text, size_t digits, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        static const char hex[] = "0123456789abcdef";
        const char *found = text[i] ? strchr(hex, text[i]) : NULL;
        if (!found) {
            return false;
        }
        value = value << 4 | (uint64_t)(found - hex);
    }
    *out = value;
    return true;
}

static bool read_cursor(const struct store_query *query, const char *text, struct cursor *out)
{
    const size_t digits = strnlen(text, STORE_CURSOR_MAX);
    if (digits < NUMBERS_DIGITS || digits % 2 != 0 ||
        (digits - NUMBERS_DIGITS) / 2 >= sizeof out->pair) {
        return false;
    }
    uint64_t number[3];
    for (size_t i = 0; i < 3; i++) {
        if (!read_hex(text + i * NUMBER_DIGITS, NUMBER_DIGITS, &number[i])) {
            return false;
        }
    }
    struct cursor cursor = {.t_us = (int64_t)number[0], .n = (int64_t)number[1]};
    for (size_t i = NUMBERS_DIGITS; i < digits; i += 2) {
        uint64_t byte = 0;
        if (!read_hex(text + i, 2, &byte) || byte == 0) {
            return false;
        }
        cursor.pair[(i - NUMBERS_DIGITS) / 2] = (char)byte;
    }
    *out = cursor;
    return number[2] == check_of(query, &cursor);
}

/* --- pages ---------------------------------------------------------------------------- */

/* No row has n < 0 or an empty pair, so this key lies before all rows of its t_us: above it is
 * "from since_us on", below it "before until_us". */
static struct cursor first_key(const struct store_query *query)
{
    return (struct cursor){.t_us = query->newest_first ? query->until_us : query->since_us,
                           .n = -1};
}

static int bind_query(sqlite3_stmt *statement, const struct store_query *query,
                      const struct cursor *from)
{
    /* One row more than asked for tells whether there is a next page. */
    int code = sqlite3_bind_int(statement, 1, query->limit + 1);
    code |= sqlite3_bind_int64(statement, 2,
                               query->newest_first ? query->since_us : query->until_us);
    code |= sqlite3_bind_int64(statement, 3, from->t_us);
    code |= sqlite3_bind_int64(statement, 5, from->n);
    if (query->pair) {
        code |= store_schema_bind_text(statement, 6, query->pair);
    } else {
        code |= store_schema_bind_text(statement, 4, from->pair);
    }
    if (query->type) {
        code |= store_schema_bind_text(statement, 7, query->type);
    }
    return code == SQLITE_OK ? SQLITE_OK : SQLITE_NOMEM;
}

/* Cut to size; faster than snprintf(), which is felt for each row. */
static void copy_text(const char *text, char *out, size_t size)
{
    const size_t n = strnlen(text, size - 1);
    memcpy(out, text, n);
    out[n] = '\0';
}

static size_t shape_of(const struct store_query *query)
{
    return (query->newest_first ? 4U : 0U) | (query->pair ? 2U : 0U) | (query->type ? 1U : 0U);
}

static int hand_out(sqlite3_stmt *statement, const struct store_query *query, store_row_fn *row,
                    void *context, char next_cursor[STORE_CURSOR_MAX])
{
    struct cursor last = {0};
    next_cursor[0] = '\0';
    for (int i = 0;; i++) {
        const int code = sqlite3_step(statement);
        if (code != SQLITE_ROW) {
            return code;
        }
        if (i == query->limit) {
            write_cursor(query, &last, next_cursor);
            return SQLITE_DONE;
        }
        struct store_row found;
        store_schema_get_row(statement, query->kind, &found);
        last.t_us = found.t_us;
        last.n = (int64_t)found.n;
        copy_text(found.pair, last.pair, sizeof last.pair);
        if (!row(context, &found)) {
            write_cursor(query, &last, next_cursor);
            return SQLITE_DONE;
        }
    }
}

enum status store_query(struct store_reader *reader, const struct store_query *query,
                        store_row_fn *row, void *context, char next_cursor[STORE_CURSOR_MAX],
                        struct err *err)
{
    if (query->limit < 1 || query->limit > STORE_PAGE_MAX) {
        return err_set(err, STATUS_E_RANGE, "limit", 0, 0, "must be from 1 to %d",
                       STORE_PAGE_MAX);
    }
    struct cursor from = first_key(query);
    if (query->cursor && query->cursor[0] != '\0' &&
        !read_cursor(query, query->cursor, &from)) {
        return err_set(err, STATUS_E_PARSE, "cursor", 0, 0,
                       "is not one that this list has given: take it from the page before");
    }
    sqlite3_stmt **statement = &reader->query[query->kind][shape_of(query)];
    int code = SQLITE_OK;
    if (!*statement) {
        char sql[STORE_SQL_MAX];
        store_schema_query(query, sql);
        code = prepare_once(reader, sql, statement);
    }
    if (code == SQLITE_OK) {
        code = bind_query(*statement, query, &from);
    }
    if (code == SQLITE_OK) {
        code = hand_out(*statement, query, row, context, next_cursor);
    }
    return end_reading(reader, code, *statement, err);
}

/* --- in the order of storing ---------------------------------------------------------- */

static int hand_out_since(sqlite3_stmt *statement, enum store_kind kind, store_row_fn *row,
                          void *context)
{
    for (;;) {
        const int code = sqlite3_step(statement);
        struct store_row found;
        if (code != SQLITE_ROW) {
            return code;
        }
        store_schema_get_row(statement, kind, &found);
        found.seq = (uint64_t)sqlite3_column_int64(statement, 7);
        if (!row(context, &found)) {
            return SQLITE_DONE;
        }
    }
}

enum status store_since(struct store_reader *reader, enum store_kind kind, uint64_t after,
                        int limit, store_row_fn *row, void *context, struct err *err)
{
    char sql[STORE_SQL_MAX];
    sqlite3_stmt **statement = &reader->since[kind];
    (void)snprintf(sql, sizeof sql,
                   "SELECT pair, n, t_us, id, %s, NULL, json, seq FROM %s WHERE seq > ?1"
                   " ORDER BY seq LIMIT ?2",
                   store_schema_type_column(kind), store_schema_table(kind));
    int code = prepare_once(reader, sql, statement);
    if (code == SQLITE_OK) {
        code = sqlite3_bind_int64(*statement, 1, (sqlite3_int64)(after & INT64_MAX)) |
               sqlite3_bind_int(*statement, 2, limit);
    }
    if (code == SQLITE_OK) {
        code = hand_out_since(*statement, kind, row, context);
    }
    return end_reading(reader, code, *statement, err);
}

enum status store_last_seq(struct store_reader *reader, enum store_kind kind, uint64_t *seq,
                           struct err *err)
{
    char sql[STORE_SQL_MAX];
    sqlite3_stmt **statement = &reader->last[kind];
    (void)snprintf(sql, sizeof sql, "SELECT ifnull(max(seq), 0) FROM %s",
                   store_schema_table(kind));
    int code = prepare_once(reader, sql, statement);
    if (code == SQLITE_OK) {
        code = sqlite3_step(*statement);
    }
    if (code == SQLITE_ROW) {
        *seq = (uint64_t)sqlite3_column_int64(*statement, 0);
    }
    return end_reading(reader, code, *statement, err);
}

/* --- for charts ----------------------------------------------------------------------- */

#define POINTS                                                                                 \
    "FROM entries INDEXED BY entries_lags WHERE pair = ?1 AND t_us >= ?2 AND t_us < ?3 ORDER " \
    "BY t_us"

static int begin_points(struct store_reader *reader, const char *sql, const char *pair,
                        int64_t since_us, int64_t until_us, sqlite3_stmt **statement)
{
    int code = prepare_once(reader, sql, statement);
    if (code == SQLITE_OK) {
        code = store_schema_bind_text(*statement, 1, pair) |
               sqlite3_bind_int64(*statement, 2, since_us) |
               sqlite3_bind_int64(*statement, 3, until_us);
    }
    return code;
}

enum status store_points(struct store_reader *reader, const char *pair, int64_t since_us,
                         int64_t until_us, store_point_fn *point, void *context,
                         struct err *err)
{
    bool more = true;
    int code = begin_points(reader, "SELECT t_us, lag_s, verdict " POINTS " DESC", pair,
                            since_us, until_us, &reader->points);
    sqlite3_stmt *const statement = reader->points;
    code = code == SQLITE_OK ? SQLITE_ROW : code;
    while (more && code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW) {
            const struct store_point found = {
                .t_us = sqlite3_column_int64(statement, 0),
                .lag_s = sqlite3_column_type(statement, 1) == SQLITE_NULL
                             ? nan("")
                             : sqlite3_column_double(statement, 1),
                .verdict = (const char *)sqlite3_column_text(statement, 2)};
            more = point(context, &found);
        }
    }
    return end_reading(reader, code, statement, err);
}

enum status store_span(struct store_reader *reader, const char *pair, int64_t since_us,
                       int64_t until_us, bool *any, int64_t *oldest_us, int64_t *newest_us,
                       struct err *err)
{
    static const char sql[] =
        "SELECT (SELECT t_us " POINTS " LIMIT 1), (SELECT t_us " POINTS " DESC LIMIT 1)";
    int code = begin_points(reader, sql, pair, since_us, until_us, &reader->span);
    sqlite3_stmt *const statement = reader->span;
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
    }
    if (code == SQLITE_ROW) {
        *any = sqlite3_column_type(statement, 0) != SQLITE_NULL;
    }
    if (code == SQLITE_ROW && *any) {
        *oldest_us = sqlite3_column_int64(statement, 0);
        *newest_us = sqlite3_column_int64(statement, 1);
    }
    return end_reading(reader, code, statement, err);
}

enum status store_counts(struct store_reader *reader, enum store_kind kind, const char *pair,
                         store_count_fn *count, void *context, struct err *err)
{
    sqlite3_stmt **statement = &reader->counts[pair ? 1 : 0];
    int code =
        prepare_once(reader,
                     pair ? "SELECT type, count FROM counts WHERE kind = ?1 AND pair = ?2"
                            " ORDER BY type"
                          : "SELECT type, sum(count) FROM counts WHERE kind = ?1"
                            " GROUP BY type ORDER BY type",
                     statement);
    if (code == SQLITE_OK) {
        code = sqlite3_bind_int(*statement, 1, (int)kind);
    }
    if (code == SQLITE_OK && pair) {
        code = store_schema_bind_text(*statement, 2, pair);
    }
    bool more = code == SQLITE_OK;
    while (more) {
        code = sqlite3_step(*statement);
        more = code == SQLITE_ROW &&
               count(context, (const char *)sqlite3_column_text(*statement, 0),
                     (uint64_t)sqlite3_column_int64(*statement, 1));
    }
    return end_reading(reader, code, *statement, err);
}
