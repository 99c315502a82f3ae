/* logger/storage/store_postgresql_reader.c - queries of the results in PostgreSQL: pages of
 * rows, rows in the order of storing, series for charts. */
#include "logger/storage/store_postgresql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WALK_ROWS = 1000,   /* rows that are looked up in advance */
    ENTRY_ROWS = 8192,  /* entries of a chart that are read at once */
    BUCKET_ROWS = 16384 /* buckets, the same */
};

/* --- the connection --------------------------------------------------------------------- */

bool store_database_is_open(const struct store_database *db)
{
    return db->connection && !postgresql_is_broken(db->connection);
}

void store_database_close(struct store_database *db)
{
    postgresql_close(db->connection);
    db->connection = NULL;
}

int store_database_run(struct store_database *db, const char *what, const char *sql,
                       const struct postgresql_value *values, size_t count,
                       struct postgresql_result *result)
{
    struct postgresql_result own = {0};
    struct postgresql_result *out = result ? result : &own;
    *out = (struct postgresql_result){0};
    db->err = (struct err){0};
    db->sqlstate[0] = '\0';
    if (!db->connection) {
        (void)err_set(&db->err, STATUS_E_IO, FAULT_DATABASE_UNREACHABLE, "engine.postgresql",
                      "not connected");
        return 1;
    }
    const struct postgresql_statement statement = {.what = what,
                                                   .sql = sql,
                                                   .values = values,
                                                   .count = count,
                                                   .limit_ms = db->params.busy_timeout_ms};
    const enum status status = postgresql_run(db->connection, &statement, out, &db->err);
    memcpy(db->sqlstate, out->sqlstate, sizeof db->sqlstate);
    postgresql_result_free(&own);
    return status != STATUS_OK;
}

enum status store_database_status(const struct store_database *db, int code, struct err *err)
{
    if (code != 0 && err) {
        *err = db->err;
    }
    return code == 0 ? STATUS_OK : STATUS_E_IO;
}

int store_database_number(struct store_database *db, const char *what, const char *sql,
                          const struct postgresql_value *values, size_t count, int64_t *out)
{
    struct postgresql_result result;
    const int code = store_database_run(db, what, sql, values, count, &result);
    *out = code == 0 && result.rows > 0 ? postgresql_result_number(&result, 0, 0) : 0;
    postgresql_result_free(&result);
    return code;
}

bool store_database_is_data_error(const struct store_database *db)
{
    /* Data exception, constraint, a value beyond a limit of the server. */
    static const char *const classes[] = {"22", "23", "54"};
    for (size_t i = 0; i < COUNT(classes); i++) {
        if (strncmp(db->sqlstate, classes[i], 2) == 0) {
            return true;
        }
    }
    return false;
}

double store_database_real(const struct postgresql_result *result, size_t row, size_t column)
{
    const char *text = postgresql_result_text(result, row, column, NULL);
    return text ? strtod(text, NULL) : nan("");
}

static const char *text_at(const struct postgresql_result *result, size_t row, size_t column)
{
    const char *text = postgresql_result_text(result, row, column, NULL);
    return text ? text : "";
}

/* --- buckets ---------------------------------------------------------------------------- */

static struct store_database *database_of(struct bucket_source *source)
{
    return (void *)((char *)source - offsetof(struct store_database, source));
}

/* Passes on one part of the entries; *rows counts them. Nulls come first, as in SQLite. */
static int pass_entries(struct store_database *db, const struct postgresql_value values[5],
                        bool newest_first, store_bucket_fn *emit, void *context, size_t *rows)
{
    static const char *const sql[] = {
        "SELECT t_us, lag_s, verdict, inconsistent FROM entries"
        " WHERE pair = $1 AND t_us >= $2 AND t_us < $3" STORE_DATABASE_OF_OWNER(
            1) " ORDER BY t_us, lag_s NULLS FIRST, verdict, inconsistent LIMIT $4 OFFSET $5",
        "SELECT t_us, lag_s, verdict, inconsistent FROM entries"
        " WHERE pair = $1 AND t_us >= $2 AND t_us < $3" STORE_DATABASE_OF_OWNER(
            1) " ORDER BY t_us DESC, lag_s DESC NULLS LAST, verdict DESC, inconsistent DESC"
               " LIMIT $4 OFFSET $5"};
    struct postgresql_result result;
    const int code =
        store_database_run(db, "read entries", sql[newest_first], values, 5, &result);
    bool more = true;
    for (size_t i = 0; i < result.rows && more; i++) {
        const struct store_bucket one = bucket_of_entry(
            postgresql_result_number(&result, i, 0), store_database_real(&result, i, 1),
            text_at(&result, i, 2), postgresql_result_number(&result, i, 3) != 0);
        more = emit(context, &one);
    }
    *rows = more ? result.rows : 0;
    postgresql_result_free(&result);
    return code;
}

static int read_entries(struct bucket_source *source, const char *pair, int64_t since_us,
                        int64_t until_us, bool newest_first, store_bucket_fn *emit,
                        void *context)
{
    size_t rows = ENTRY_ROWS;
    int code = 0;
    for (int64_t offset = 0; rows == ENTRY_ROWS && code == 0; offset += ENTRY_ROWS) {
        const struct postgresql_value values[] = {
            postgresql_text(pair), postgresql_number(since_us), postgresql_number(until_us),
            postgresql_number(ENTRY_ROWS), postgresql_number(offset)};
        code = pass_entries(database_of(source), values, newest_first, emit, context, &rows);
    }
    return code;
}

static struct store_bucket read_bucket(const struct postgresql_result *result, size_t row)
{
    struct store_bucket stored = {
        .first_us = postgresql_result_number(result, row, 1),
        .count = (uint64_t)postgresql_result_number(result, row, 2),
        .values = (uint64_t)postgresql_result_number(result, row, 3),
        .inconsistent = (uint64_t)postgresql_result_number(result, row, 7),
    };
    if (stored.values > 0) {
        stored.min = store_database_real(result, row, 4);
        stored.max = store_database_real(result, row, 5);
    }
    stored.sum = store_database_real(result, row, 6);
    bucket_parse_verdicts(text_at(result, row, 8), stored.verdicts);
    return stored;
}

static int read_stored(struct bucket_source *source, int level, const char *pair,
                       int64_t since_us, int64_t until_us, bucket_at_fn *emit, void *context)
{
    struct store_database *db = database_of(source);
    const int64_t width_us = store_widths_us[level];
    int64_t last_us = until_us - width_us;
    size_t rows = BUCKET_ROWS;
    int code = 0;
    while (rows == BUCKET_ROWS && code == 0) {
        const struct postgresql_value values[] = {
            postgresql_text(pair), postgresql_number(width_us), postgresql_number(since_us),
            postgresql_number(last_us), postgresql_number(BUCKET_ROWS)};
        struct postgresql_result result;
        bool more = true;
        code = store_database_run(
            db, "read sums",
            "SELECT t_us, first_us, count, valued, min_s, max_s, sum_s, inconsistent, verdicts"
            " FROM buckets WHERE pair = $1 AND width_us = $2 AND t_us >= $3 AND t_us <= $4"
            " ORDER BY t_us DESC LIMIT $5",
            values, COUNT(values), &result);
        rows = result.rows;
        for (size_t i = 0; i < rows && more; i++) {
            const struct store_bucket bucket = read_bucket(&result, i);
            last_us = postgresql_result_number(&result, i, 0) - 1;
            more = emit(context, last_us + 1, &bucket);
        }
        rows = more ? rows : 0;
        postgresql_result_free(&result);
    }
    return code;
}

int store_database_open(struct store_database *db, enum postgresql_wanted wanted)
{
    db->err = (struct err){0};
    db->source = (struct bucket_source){read_entries, read_stored};
    return postgresql_open(db->params.target, wanted, db->params.busy_timeout_ms,
                           &db->connection, &db->err) != STATUS_OK;
}

/* --- readers ---------------------------------------------------------------------------- */

/* Rows that were looked up in advance, in the order of storing. */
struct walk {
    struct postgresql_result rows;
    size_t at;
    int64_t found; /* seq that the last search found */
};

struct postgresql_reader {
    struct store_reader base;
    struct store_database db;
    bool held;
    struct walk walk[STORE_KIND_COUNT];
};

static struct postgresql_reader *reader_of(struct store_reader *base)
{
    return (struct postgresql_reader *)base;
}

enum status store_postgresql_reader_open(const struct store_params *params,
                                         struct store_reader **out, struct err *err)
{
    struct postgresql_reader *r = calloc(1, sizeof *r);
    if (!r) {
        return err_no_memory(err, "engine.postgresql", "out of memory");
    }
    r->base.engine = &store_postgresql;
    r->db.params = *params;
    const int code =
        store_database_open(&r->db, params->all ? POSTGRESQL_ANY : POSTGRESQL_WRITABLE);
    if (code != 0) {
        const enum status status = store_database_status(&r->db, code, err);
        store_postgresql_reader_close(&r->base);
        return status;
    }
    *out = &r->base;
    return STATUS_OK;
}

void store_postgresql_reader_close(struct store_reader *base)
{
    struct postgresql_reader *reader = reader_of(base);
    for (int kind = 0; kind < STORE_KIND_COUNT; kind++) {
        postgresql_result_free(&reader->walk[kind].rows);
    }
    store_database_close(&reader->db);
    free(reader);
}

bool store_postgresql_reader_is_in_place(const struct store_reader *base)
{
    return store_database_is_open(&((const struct postgresql_reader *)base)->db);
}

#define OF_OWNERS                                                                              \
    " AND NOT EXISTS (SELECT FROM pairs o WHERE o.pair = r.pair AND o.p NOT IN (r.p, ''))"

/* Columns of a row; then the type column, the own columns and the table of a kind. */
#define ROWS "pair, n, t_us, id, %s, %s, json, seq FROM %s r"

static void pass_rows(const struct postgresql_result *result, enum store_kind kind,
                      store_row_fn *row, void *context)
{
    bool more = true;
    for (size_t i = 0; i < result->rows && more; i++) {
        size_t bytes = 0;
        const char *json = postgresql_result_text(result, i, 7, &bytes);
        const struct store_row found = {
            .kind = kind,
            .pair = text_at(result, i, 0),
            .n = (uint64_t)postgresql_result_number(result, i, 1),
            .t_us = postgresql_result_number(result, i, 2),
            .id = text_at(result, i, 3),
            .type = text_at(result, i, 4),
            .lag_s = store_database_real(result, i, 5),
            .inconsistent = postgresql_result_number(result, i, 6) != 0,
            .json = json ? json : "",
            .json_bytes = bytes,
            .seq = (uint64_t)postgresql_result_number(result, i, 8),
        };
        more = row(context, &found);
    }
}

/* Parameters: 1 limit, 2 the other end of the time range, 3 t_us, 4 n, 5 pair of the cursor or
 * of the query, 6 type, 7 team, 8 job, 9 and 10 versions, 11 partition. */
static void format_query(const struct store_query *query, bool all, char sql[STORE_SQL_MAX])
{
    const struct store_table *t = &store_tables[query->kind];
    const char *order = query->newest_first ? "DESC" : "ASC";
    char type[160] = "";
    if (query->types) {
        (void)snprintf(type, sizeof type, " AND (strpos($6, ',' || %s || ',') > 0%s)",
                       t->type_column, query->inconsistent ? " OR inconsistent = 1" : "");
    } else if (query->type) {
        (void)snprintf(type, sizeof type, " AND %s = $6", t->type_column);
    }
    (void)snprintf(
        sql, STORE_SQL_MAX,
        "SELECT " ROWS " WHERE %s %s %s AND t_us %s $2%s%s%s%s%s%s%s%s"
        " ORDER BY t_us %s%s%s, n %s LIMIT $1",
        t->type_column, t->own_columns, t->table, query->pair ? "(t_us, n)" : "(t_us, pair, n)",
        query->newest_first ? "<" : ">", query->pair ? "($3, $4)" : "($3, $5, $4)",
        query->newest_first ? ">=" : "<", query->pair ? " AND pair = $5" : "", type,
        query->inconsistent && !query->types ? " AND inconsistent = 1" : "",
        query->team ? " AND team = $7" : "", query->job ? " AND job = $8" : "",
        store_has_version(query) ? " AND strpos(json, $9) > 0 AND strpos(json, $10) > 0" : "",
        !all          ? " AND p = $11"
        : query->pair ? STORE_DATABASE_OF_OWNER(5)
                      : OF_OWNERS,
        all && query->kind == STORE_ALARMS ? " AND (pair <> '$lab' OR p = $11)" : "", order,
        query->pair ? "" : ", pair ", query->pair ? "" : order, order);
}

/* A value that is no UTF-8 equals no stored text. */
static int end_query(struct postgresql_reader *r, int code)
{
    return code != 0 && strcmp(r->db.sqlstate, "22021") == 0 ? 0 : code;
}

enum status store_postgresql_query(struct store_reader *base, const struct store_query *query,
                                   const struct store_key *from, store_row_fn *row,
                                   void *context, struct err *err)
{
    struct postgresql_reader *r = reader_of(base);
    char member[SIDE_COUNT][STORE_MEMBER_MAX];
    char sql[STORE_SQL_MAX];
    struct postgresql_result result;
    const char *type = store_query_type(query);
    format_query(query, r->db.params.all, sql);
    /* A parameter that the statement does not use needs a type, so it is no null. */
    const struct postgresql_value values[] = {
        postgresql_number((int64_t)query->limit + 1),
        postgresql_number(query->newest_first ? query->since_us : query->until_us),
        postgresql_number(from->t_us),
        postgresql_number(from->n),
        postgresql_text(query->pair ? query->pair : from->pair),
        postgresql_text(type ? type : ""),
        postgresql_text(query->team ? query->team : ""),
        postgresql_text(query->job ? query->job : ""),
        postgresql_text(store_version_member(query, SIDE_REAL, member[SIDE_REAL])),
        postgresql_text(store_version_member(query, SIDE_VIRTUAL, member[SIDE_VIRTUAL])),
        postgresql_text(r->db.params.partition)};
    const int code =
        store_database_run(&r->db, "read a list", sql, values, COUNT(values), &result);
    pass_rows(&result, query->kind, row, context);
    postgresql_result_free(&result);
    return store_database_status(&r->db, end_query(r, code), err);
}

/* --- in the order of storing ---------------------------------------------------------------
 */

/* Is the walk at this row? */
static bool is_at_row(const struct walk *walk, const struct store_row *row)
{
    return walk->at < walk->rows.rows &&
           postgresql_result_number(&walk->rows, walk->at, 1) == row->t_us &&
           strcmp(text_at(&walk->rows, walk->at, 0), row->pair) == 0 &&
           strcmp(text_at(&walk->rows, walk->at, 2), row->id) == 0 &&
           (row->kind == STORE_ENTRIES ||
            strcmp(text_at(&walk->rows, walk->at, 3), row->type) == 0);
}

/* Reads the rows behind this one. Rows are searched for if that fails. */
static void begin_walk(struct postgresql_reader *r, enum store_kind kind, int64_t seq)
{
    struct walk *walk = &r->walk[kind];
    const struct postgresql_value values[] = {postgresql_text(r->db.params.partition),
                                              postgresql_number(seq),
                                              postgresql_number(WALK_ROWS)};
    char sql[STORE_SQL_MAX];
    (void)snprintf(sql, sizeof sql,
                   "SELECT pair, t_us, id, %s, seq FROM %s WHERE p = $1 AND seq > $2"
                   " ORDER BY seq LIMIT $3",
                   store_tables[kind].type_column, store_tables[kind].table);
    postgresql_result_free(&walk->rows);
    walk->at = 0;
    const int code =
        store_database_run(&r->db, "read rows", sql, values, COUNT(values), &walk->rows);
    (void)code;
}

static int search_row(struct postgresql_reader *r, const struct store_row *row, int64_t *seq,
                      bool *found)
{
    const bool typed = row->kind != STORE_ENTRIES;
    const struct postgresql_value values[] = {
        postgresql_text(r->db.params.partition), postgresql_text(row->pair),
        postgresql_number(row->t_us), postgresql_text(row->id), postgresql_text(row->type)};
    char sql[STORE_SQL_MAX];
    struct postgresql_result result;
    (void)snprintf(sql, sizeof sql,
                   "SELECT seq FROM %s WHERE p = $1 AND pair = $2 AND t_us = $3 AND id = $4"
                   "%s%s%s LIMIT 1",
                   store_tables[row->kind].table, typed ? " AND " : "",
                   typed ? store_tables[row->kind].type_column : "", typed ? " = $5" : "");
    const int code =
        store_database_run(&r->db, "look a row up", sql, values, COUNT(values), &result);
    *found = result.rows > 0;
    *seq = *found ? postgresql_result_number(&result, 0, 0) : 0;
    postgresql_result_free(&result);
    return end_query(r, code);
}

/* A backfill looks up most rows in the order of storing, so after two adjacent ones the next
 * are read at once. */
enum status store_postgresql_holds(struct store_reader *base, const struct store_row *row,
                                   bool *holds, struct err *err)
{
    struct postgresql_reader *r = reader_of(base);
    struct walk *walk = &r->walk[row->kind];
    int64_t seq = 0;
    *holds = is_at_row(walk, row);
    if (*holds) {
        walk->found = postgresql_result_number(&walk->rows, walk->at, 4);
        walk->at++;
        if (walk->at == walk->rows.rows && walk->rows.rows == WALK_ROWS) {
            begin_walk(r, row->kind, walk->found);
        }
        return STATUS_OK;
    }
    const int code = search_row(r, row, &seq, holds);
    if (*holds) {
        if (seq == walk->found + 1) {
            begin_walk(r, row->kind, seq);
        }
        walk->found = seq;
    }
    return store_database_status(&r->db, code, err);
}

/* A snapshot of hours would keep the server from reusing space. Only lists of one answer need
 * one moment; the rows that a backfill looks up were stored before it. */
void store_postgresql_hold(struct store_reader *base, bool on)
{
    struct postgresql_reader *r = reader_of(base);
    if (!r->db.params.all || r->held == on) {
        return;
    }
    const int code = store_database_run(
        &r->db, "read", on ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "COMMIT", NULL,
        0, NULL);
    r->held = on && code == 0;
}

enum status store_postgresql_since(struct store_reader *base, enum store_kind kind,
                                   uint64_t after, int limit, store_row_fn *row, void *context,
                                   struct err *err)
{
    struct postgresql_reader *r = reader_of(base);
    const struct postgresql_value values[] = {postgresql_text(r->db.params.partition),
                                              postgresql_number((int64_t)(after & INT64_MAX)),
                                              postgresql_number(limit)};
    char sql[STORE_SQL_MAX];
    struct postgresql_result result;
    (void)snprintf(sql, sizeof sql,
                   "SELECT " ROWS " WHERE p = $1 AND seq > $2 ORDER BY seq LIMIT $3",
                   store_tables[kind].type_column, store_tables[kind].own_columns,
                   store_tables[kind].table);
    const int code =
        store_database_run(&r->db, "read rows", sql, values, COUNT(values), &result);
    pass_rows(&result, kind, row, context);
    postgresql_result_free(&result);
    return store_database_status(&r->db, code, err);
}

enum status store_postgresql_last_seq(struct store_reader *base, enum store_kind kind,
                                      uint64_t *seq, struct err *err)
{
    struct postgresql_reader *r = reader_of(base);
    const struct postgresql_value partition = postgresql_text(r->db.params.partition);
    char sql[STORE_SQL_MAX];
    int64_t last = 0;
    (void)snprintf(sql, sizeof sql,
                   "SELECT greatest(0, coalesce(max(seq), 0)) FROM %s WHERE p = $1",
                   store_tables[kind].table);
    const int code =
        store_database_number(&r->db, "read the last row", sql, &partition, 1, &last);
    if (code == 0) {
        *seq = (uint64_t)last;
    }
    return store_database_status(&r->db, code, err);
}

/* --- for charts -----------------------------------------------------------------------------
 */

enum status store_postgresql_series(struct store_reader *base, int level, const char *pair,
                                    int64_t since_us, int64_t until_us, store_bucket_fn *emit,
                                    void *context, struct err *err)
{
    struct postgresql_reader *r = reader_of(base);
    const bool alone = !r->held;
    int code = alone ? store_database_run(&r->db, "read a chart",
                                          "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                                          NULL, 0, NULL)
                     : 0;
    if (code == 0) {
        code = end_query(
            r, bucket_read(&r->db.source, level, pair, since_us, until_us, emit, context));
        const struct store_database failed = r->db;
        const int ended =
            alone ? store_database_run(&r->db, "read a chart", "COMMIT", NULL, 0, NULL) : 0;
        if (code != 0) {
            r->db.err = failed.err;
        }
        code = code != 0 ? code : ended;
    }
    return store_database_status(&r->db, code, err);
}

enum status store_postgresql_span(struct store_reader *base, const char *pair, int64_t since_us,
                                  int64_t until_us, bool *any, int64_t *oldest_us,
                                  int64_t *newest_us, struct err *err)
{
    struct postgresql_reader *r = reader_of(base);
    const struct postgresql_value values[] = {
        postgresql_text(pair), postgresql_number(since_us), postgresql_number(until_us)};
    struct postgresql_result result;
    const int code = store_database_run(
        &r->db, "read a time range",
        "SELECT min(t_us), max(t_us) FROM entries"
        " WHERE pair = $1 AND t_us >= $2 AND t_us < $3" STORE_DATABASE_OF_OWNER(1),
        values, COUNT(values), &result);
    *any = result.rows > 0 && postgresql_result_text(&result, 0, 0, NULL);
    if (*any) {
        *oldest_us = postgresql_result_number(&result, 0, 0);
        *newest_us = postgresql_result_number(&result, 0, 1);
    }
    postgresql_result_free(&result);
    return store_database_status(&r->db, end_query(r, code), err);
}
