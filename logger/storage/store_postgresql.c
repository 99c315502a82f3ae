/* logger/storage/store_postgresql.c - the results of a daemon in PostgreSQL: the connection
 * that writes. */
#include "logger/storage/store_postgresql.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "logger/message/json_scan.h"

enum { SQL_MAX = 4096 };

/* Columns of rows that wait to be sent, as arrays. */
struct pending {
    size_t rows;
    enum store_kind kind;
    uint32_t again;
    bool numbered; /* the rows have a seq */
    struct postgresql_text pair[STORE_BATCH_ROWS], id[STORE_BATCH_ROWS], type[STORE_BATCH_ROWS],
        json[STORE_BATCH_ROWS];
    struct postgresql_text team[STORE_BATCH_ROWS], job[STORE_BATCH_ROWS],
        task[STORE_BATCH_ROWS];
    int64_t n[STORE_BATCH_ROWS], t_us[STORE_BATCH_ROWS], seq[STORE_BATCH_ROWS],
        inconsistent[STORE_BATCH_ROWS];
    double lag_s[STORE_BATCH_ROWS];
    size_t bytes;
    char texts[STORE_BATCH_BYTES];
};

struct store_postgresql {
    struct store base;
    struct store_database db;
    struct bucket_target target;
    int64_t epoch;  /* of the run that wrote last, as of the last commit */
    int64_t next;   /* the same in the open batch */
    bool began;     /* it is this run */
    bool open;      /* a batch is open */
    uint32_t again; /* the backfill attempt, */
    bool begun[STORE_KIND_COUNT];
    int64_t first[STORE_KIND_COUNT]; /* the lowest seq before it, */
    int64_t place[STORE_KIND_COUNT]; /* and the lowest seq now */
    struct pending pending;
};

static struct store_postgresql *store_of(struct store *base)
{
    return (struct store_postgresql *)base;
}

static struct postgresql_value partition_of(const struct store_postgresql *s)
{
    return postgresql_text(s->db.params.partition);
}

/* --- where buckets are written -------------------------------------------------------------
 */

static struct store_postgresql *store_of_target(struct bucket_target *target)
{
    return (void *)((char *)target - offsetof(struct store_postgresql, target));
}

static int write_bucket(struct bucket_target *target, const char *pair, int64_t width_us,
                        int64_t t_us, const struct store_bucket *b)
{
    struct store_postgresql *s = store_of_target(target);
    const double none = nan("");
    char verdicts[BUCKET_VERDICTS_MAX];
    bucket_format_verdicts(b->verdicts, verdicts);
    const struct postgresql_value values[] = {partition_of(s),
                                              postgresql_text(pair),
                                              postgresql_number(width_us),
                                              postgresql_number(t_us),
                                              postgresql_number(b->first_us),
                                              postgresql_number((int64_t)b->count),
                                              postgresql_number((int64_t)b->values),
                                              postgresql_real(b->values ? b->min : none),
                                              postgresql_real(b->values ? b->max : none),
                                              postgresql_real(b->sum),
                                              postgresql_number((int64_t)b->inconsistent),
                                              postgresql_text(verdicts)};
    return store_database_run(
        &s->db, "store sums",
        "INSERT INTO buckets(p, pair, width_us, t_us, first_us, count, valued, min_s, max_s,"
        " sum_s, inconsistent, verdicts) VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,"
        " $12) ON CONFLICT (pair, width_us, t_us) DO UPDATE SET first_us = excluded.first_us,"
        " count = excluded.count, valued = excluded.valued, min_s = excluded.min_s,"
        " max_s = excluded.max_s, sum_s = excluded.sum_s,"
        " inconsistent = excluded.inconsistent, verdicts = excluded.verdicts",
        values, COUNT(values), NULL);
}

static int read_folded(struct bucket_target *target, const char *pair, bool *any,
                       int64_t *folded_us)
{
    struct store_postgresql *s = store_of_target(target);
    const struct postgresql_value value = postgresql_text(pair);
    struct postgresql_result result;
    const int code = store_database_run(
        &s->db, "read sums", "SELECT until_us FROM folded WHERE pair = $1", &value, 1, &result);
    *any = result.rows > 0 && postgresql_result_text(&result, 0, 0, NULL);
    *folded_us = *any ? postgresql_result_number(&result, 0, 0) : INT64_MIN;
    postgresql_result_free(&result);
    return code;
}

static int write_folded(struct bucket_target *target, const char *pair, int64_t until_us,
                        bool due)
{
    struct store_postgresql *s = store_of_target(target);
    const struct postgresql_value values[] = {partition_of(s), postgresql_text(pair),
                                              postgresql_number(until_us),
                                              postgresql_number(due)};
    return store_database_run(
        &s->db, "store sums",
        "INSERT INTO folded(p, pair, until_us, due) VALUES($1, $2, $3, $4)"
        " ON CONFLICT (pair) DO UPDATE SET until_us = excluded.until_us, due = excluded.due",
        values, COUNT(values), NULL);
}

#define ENTRIES                                                                                \
    "FROM entries WHERE pair = $1 AND t_us >= $2" STORE_DATABASE_OF_OWNER(1) " ORDER BY t_us"

static int find_ends(struct bucket_target *target, const char *pair, int64_t from_us, int limit,
                     int behind, struct bucket_ends *ends)
{
    struct store_postgresql *s = store_of_target(target);
    const struct postgresql_value values[] = {postgresql_text(pair), postgresql_number(from_us),
                                              postgresql_number(limit),
                                              postgresql_number(behind)};
    struct postgresql_result result;
    const int code = store_database_run(&s->db, "read entries",
                                        "SELECT (SELECT t_us " ENTRIES " LIMIT 1),"
                                        " (SELECT t_us " ENTRIES " LIMIT 1 OFFSET $3),"
                                        " (SELECT t_us " ENTRIES " DESC LIMIT 1 OFFSET $4)",
                                        values, COUNT(values), &result);
    ends->any = result.rows > 0 && postgresql_result_text(&result, 0, 2, NULL);
    if (ends->any) {
        ends->oldest_us = postgresql_result_number(&result, 0, 0);
        ends->newest_us = postgresql_result_number(&result, 0, 2);
        ends->many = postgresql_result_text(&result, 0, 1, NULL) != NULL;
        ends->slice_us = postgresql_result_number(&result, 0, 1);
    }
    postgresql_result_free(&result);
    return code;
}

static int find_due(struct bucket_target *target, char pair[EVENT_PAIR_MAX])
{
    struct store_postgresql *s = store_of_target(target);
    const struct postgresql_value value = partition_of(s);
    struct postgresql_result result;
    const int code = store_database_run(
        &s->db, "read sums", "SELECT pair FROM folded WHERE p = $1 AND due = 1 LIMIT 1", &value,
        1, &result);
    if (result.rows > 0) {
        (void)snprintf(pair, EVENT_PAIR_MAX, "%s", postgresql_result_text(&result, 0, 0, NULL));
    }
    postgresql_result_free(&result);
    return code;
}

/* --- opening --------------------------------------------------------------------------------
 */

static uint64_t make_random(void)
{
    uint64_t number = 0;
    return getrandom(&number, sizeof number, 0) < 0 ? 1 : number | 1;
}

/* Registers the partition at its first use, and reads what it holds. */
static int load_mark(struct store_postgresql *s, struct store_mark *mark, int64_t *epoch)
{
    const struct postgresql_value values[] = {partition_of(s),
                                              postgresql_number((int64_t)make_random())};
    struct postgresql_result result;
    int code = store_database_run(&s->db, "register the partition",
                                  "INSERT INTO applied(p, epoch, n, store) VALUES($1, 0, 0, $2)"
                                  " ON CONFLICT (p) DO NOTHING",
                                  values, 2, NULL);
    if (code != 0) {
        return code;
    }
    code = store_database_run(&s->db, "read the partition",
                              "SELECT a.store, r.run, a.n, a.epoch FROM applied a LEFT JOIN"
                              " runs r ON r.p = a.p AND r.epoch = a.epoch WHERE a.p = $1",
                              values, 1, &result);
    if (result.rows > 0) {
        *mark = (struct store_mark){(uint64_t)postgresql_result_number(&result, 0, 0),
                                    (uint64_t)postgresql_result_number(&result, 0, 1),
                                    (uint64_t)postgresql_result_number(&result, 0, 2)};
        *epoch = postgresql_result_number(&result, 0, 3);
    }
    postgresql_result_free(&result);
    return code;
}

static int open_database(struct store_postgresql *s)
{
    struct store_mark mark = {0};
    int64_t epoch = 0;
    int code = store_database_open(&s->db, POSTGRESQL_WRITABLE);
    code = code == 0 ? load_mark(s, &mark, &epoch) : code;
    if (code == 0 && s->began && epoch > s->epoch) {
        (void)err_set(
            &s->db.err, STATUS_E_IO, FAULT_STORE_REPLACED, s->db.params.partition,
            "another daemon stores the results of a lab of this name since: end it, or "
            "give one of the labs another name, and restart this one");
        code = 1;
    }
    if (code != 0) {
        store_database_close(&s->db);
        return code;
    }
    s->began = s->began && epoch == s->epoch && mark.run == s->base.mark.run;
    s->base.mark = mark;
    s->epoch = epoch;
    s->base.due = true; /* unknown, so assume there is work */
    return 0;
}

static void close_store(struct store *base)
{
    store_database_close(&store_of(base)->db);
    free(base);
}

static enum status open_store(const struct store_params *params, struct store **out,
                              struct err *err)
{
    struct store_postgresql *s = calloc(1, sizeof *s);
    if (!s) {
        return err_no_memory(err, "engine.postgresql", "out of memory");
    }
    s->base.engine = &store_postgresql;
    s->db.params = *params;
    s->target = (struct bucket_target){&s->db.source, write_bucket, read_folded,
                                       write_folded,  find_ends,    find_due};
    const enum status status = store_database_status(&s->db, open_database(s), err);
    if (status != STATUS_OK) {
        close_store(&s->base);
        return status;
    }
    *out = &s->base;
    return STATUS_OK;
}

static enum status reopen_store(struct store *base, struct err *err)
{
    struct store_postgresql *s = store_of(base);
    store_database_close(&s->db);
    const enum status status = postgresql_target_refresh(s->db.params.target, err);
    return status == STATUS_OK ? store_database_status(&s->db, open_database(s), err) : status;
}

static bool is_in_place(const struct store *base)
{
    return store_database_is_open(&((const struct store_postgresql *)base)->db);
}

static enum status check_mark(struct store *base, const struct store_mark *mark,
                              struct err *err)
{
    struct store_postgresql *s = store_of(base);
    const char *where = s->db.params.partition;
    int64_t held = 1;
    if (mark->store != base->mark.store) {
        return err_set(err, STATUS_E_STALE, FAULT_STORE_REPLACED, where,
                       "the results are in another database than before, or were removed");
    }
    if (mark->rows > base->mark.rows) {
        return err_set(err, STATUS_E_STALE, FAULT_OUTDATED_COPY, where,
                       "the database has %" PRIu64 " of %" PRIu64
                       " records: it was set back to "
                       "an older state",
                       base->mark.rows, mark->rows);
    }
    const struct postgresql_value values[] = {partition_of(s),
                                              postgresql_number((int64_t)mark->run),
                                              postgresql_number((int64_t)mark->rows)};
    const int code =
        mark->run == 0
            ? 0
            : store_database_number(
                  &s->db, "read the partition",
                  "SELECT count(*) FROM runs r WHERE r.p = $1 AND r.run = $2 AND $3 <= "
                  "coalesce("
                  "(SELECT min(l.rows) FROM runs l WHERE l.p = $1 AND l.epoch > r.epoch),"
                  " (SELECT n FROM applied WHERE p = $1))",
                  values, COUNT(values), &held);
    if (code != 0) {
        return store_database_status(&s->db, code, err);
    }
    return held > 0
               ? STATUS_OK
               : err_set(err, STATUS_E_STALE, FAULT_OUTDATED_COPY, where,
                         "the database was set back to an older state and written to since");
}

/* --- batches --------------------------------------------------------------------------------
 */

static void drop_batch(struct store_postgresql *s)
{
    s->pending.rows = s->pending.bytes = 0;
    s->again = 0;
    s->open = false;
}

static void roll_back_batch(struct store *base)
{
    struct store_postgresql *s = store_of(base);
    if (s->open && store_database_is_open(&s->db) &&
        store_database_run(&s->db, "roll back", "ROLLBACK", NULL, 0, NULL) != 0) {
        store_database_close(&s->db);
    }
    drop_batch(s);
}

/* Each batch begins with the row that says who writes. Another writer's row refuses it; then
 * the connection is opened again, and what happened is found out. */
static int fence_batch(struct store_postgresql *s)
{
    const struct postgresql_value values[] = {partition_of(s), postgresql_number(s->epoch),
                                              postgresql_number((int64_t)s->base.mark.rows),
                                              postgresql_number(!s->began)};
    struct postgresql_result result;
    const int code = store_database_run(
        &s->db, "store results",
        "UPDATE applied SET epoch = epoch + $4 WHERE p = $1 AND epoch = $2 AND n = $3"
        " RETURNING epoch",
        values, COUNT(values), &result);
    const bool mine = result.rows == 1;
    s->next = mine ? postgresql_result_number(&result, 0, 0) : 0;
    postgresql_result_free(&result);
    if (code == 0 && !mine) {
        roll_back_batch(&s->base);
        store_database_close(&s->db);
        (void)err_set(&s->db.err, STATUS_E_IO, FAULT_STORE_REPLACED, s->db.params.partition,
                      "another daemon stored results under this name, or the database was set "
                      "back");
        return 1;
    }
    return code;
}

static int begin_run(struct store_postgresql *s)
{
    struct store_mark *next = &s->base.next;
    next->run = make_random();
    const struct postgresql_value values[] = {partition_of(s), postgresql_number(s->next),
                                              postgresql_number((int64_t)next->run),
                                              postgresql_number((int64_t)next->rows)};
    return store_database_run(&s->db, "store results",
                              "INSERT INTO runs(p, epoch, run, rows) VALUES($1, $2, $3, $4)",
                              values, COUNT(values), NULL);
}

static enum status begin_batch(struct store *base, struct err *err)
{
    struct store_postgresql *s = store_of(base);
    drop_batch(s);
    int code = store_database_run(&s->db, "store results", "BEGIN", NULL, 0, NULL);
    s->open = code == 0;
    code = code == 0 ? fence_batch(s) : code;
    code = code == 0 && !s->began ? begin_run(s) : code;
    return store_database_status(&s->db, code, err);
}

/* --- rows ------------------------------------------------------------------------------------
 */

/* Finds the place of rows without a seq: *a, and *b of backfilled rows. */
static int find_places(struct store_postgresql *s, int64_t *a, int64_t *b)
{
    const struct pending *p = &s->pending;
    const struct postgresql_value partition = partition_of(s);
    char sql[SQL_MAX];
    int code = 0;
    if (p->again && s->again != p->again) {
        memset(s->begun, 0, sizeof s->begun);
        s->again = p->again;
    }
    if (p->again && !s->begun[p->kind]) {
        (void)snprintf(sql, sizeof sql,
                       "SELECT least(0, coalesce(min(seq), 0)) FROM %s WHERE p = $1",
                       store_tables[p->kind].table);
        code =
            store_database_number(&s->db, "read rows", sql, &partition, 1, &s->first[p->kind]);
        s->place[p->kind] = s->first[p->kind];
        s->begun[p->kind] = code == 0;
    } else if (!p->again && !p->numbered) {
        (void)snprintf(sql, sizeof sql, "SELECT coalesce(max(seq), 0) FROM %s WHERE p = $1",
                       store_tables[p->kind].table);
        code = store_database_number(&s->db, "read rows", sql, &partition, 1, a);
    }
    if (p->again) {
        *a = s->first[p->kind];
        *b = s->place[p->kind];
    }
    return code;
}

/* The statement that adds rows. Parameters: 1 partition, 2 to 8 columns, 9 and 10 the numbers
 * of find_places(), 11 to 15 columns of entries. A row that it has is ignored; so is a
 * backfilled one that was stored before the attempt under any number, because a reader of a
 * journal that lost its beginning counts differently. Its first row has the count of new rows,
 * the others are entries older than the sums of their pair. */
static void format_insert(const struct pending *p, char sql[SQL_MAX])
{
    static const char *const same[STORE_KIND_COUNT] = {
        [STORE_ENTRIES] = "e.id = u.id",
        [STORE_ALARMS] = "e.id = u.id AND e.type = u.type",
        [STORE_LOG] = "e.n = u.n",
        [STORE_CHANGES] = "e.id = u.id AND e.action = u.type",
        [STORE_FITS] = "e.id = u.id AND e.model = u.type",
        [STORE_BARS] = "e.id = u.id AND e.kind = u.type",
    };
    const struct store_table *t = &store_tables[p->kind];
    const bool own = p->kind == STORE_ENTRIES;
    const char *columns = own ? ", lag_s, inconsistent, team, job, task" : "";
    char places[1024];
    if (p->again) {
        (void)snprintf(
            places, sizeof places,
            "SELECT u.*, $10 - i AS place FROM u WHERE NOT EXISTS (SELECT 1 FROM %s e"
            " WHERE e.p = $1 AND e.pair = u.pair AND e.t_us = u.t_us AND e.seq >= $9"
            " AND %s)",
            t->table, same[p->kind]);
    } else if (p->numbered) {
        (void)snprintf(places, sizeof places, "SELECT u.*, u.seq AS place FROM u");
    } else {
        (void)snprintf(places, sizeof places,
                       "SELECT x.*, $9 + row_number() OVER (ORDER BY i) AS place FROM"
                       " (SELECT u.*, row_number() OVER (PARTITION BY pair, t_us, n ORDER BY i)"
                       " AS k FROM u) x WHERE k = 1 AND NOT EXISTS (SELECT 1 FROM %s e"
                       " WHERE e.p = $1 AND e.pair = x.pair AND e.t_us = x.t_us AND e.n = x.n)",
                       t->table);
    }
    (void)snprintf(
        sql, SQL_MAX,
        "WITH u AS (SELECT * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[],"
        " $6::text[], $7::bigint[], $8::text[]%s) WITH ORDINALITY"
        " AS u(pair, n, t_us, id, type, seq, json%s, i)), v AS (%s),"
        " w AS (INSERT INTO %s(p, seq, pair, n, t_us, id, %s, json%s)"
        " SELECT $1, place, pair, n, t_us, id, type, json%s FROM v ORDER BY i"
        " ON CONFLICT (pair, t_us, n, p) DO NOTHING RETURNING pair, t_us)"
        " SELECT NULL, 0, 0, count(*) FROM w%s",
        own ? ", $11::float8[], $12::bigint[], $13::text[], $14::text[], $15::text[]" : "",
        columns, places, t->table, t->type_column, columns, columns,
        own ? " UNION ALL SELECT w.pair, w.t_us, f.until_us, 0 FROM w JOIN folded f"
              " ON f.pair = w.pair WHERE w.t_us < f.until_us"
            : "");
}

/* Recomputes the sums of entries that came late. */
static int add_late(struct store_postgresql *s, const struct postgresql_result *result)
{
    int code = 0;
    for (size_t i = 0; i < result->rows && code == 0; i++) {
        const char *pair = postgresql_result_text(result, i, 0, NULL);
        if (pair) {
            code = bucket_add_late(&s->target, pair, postgresql_result_number(result, i, 1),
                                   postgresql_result_number(result, i, 2));
        }
    }
    return code;
}

/* Counts rows with another json: two daemons, or two versions of one, disagree. */
static int count_differing(struct store_postgresql *s, const struct postgresql_value *values)
{
    char sql[SQL_MAX];
    int64_t differing = 0;
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*) FROM unnest($1::text[], $2::bigint[], $3::bigint[],"
                   " $4::text[]) AS u(pair, n, t_us, json) JOIN %s e USING (pair, t_us, n)"
                   " WHERE e.p = $5 AND e.json <> u.json",
                   store_tables[s->pending.kind].table);
    const struct postgresql_value texts[] = {values[1], values[2], values[3], values[7],
                                             values[0]};
    const int code =
        store_database_number(&s->db, "compare rows", sql, texts, COUNT(texts), &differing);
    s->base.adding.differing += (uint64_t)differing;
    return code;
}

/* Sends some of the waiting rows in one statement. */
static int insert_rows(struct store_postgresql *s, size_t from, size_t rows)
{
    struct pending *p = &s->pending;
    int64_t a = 0;
    int64_t b = 0;
    int code = find_places(s, &a, &b);
    const struct postgresql_value values[STORE_DATABASE_MAX_ITEMS] = {
        partition_of(s),
        postgresql_texts(p->pair + from, rows),
        postgresql_numbers(p->n + from, rows),
        postgresql_numbers(p->t_us + from, rows),
        postgresql_texts(p->id + from, rows),
        postgresql_texts(p->type + from, rows),
        postgresql_numbers(p->seq + from, rows),
        postgresql_texts(p->json + from, rows),
        postgresql_number(a),
        postgresql_number(b),
        postgresql_reals(p->lag_s + from, rows),
        postgresql_numbers(p->inconsistent + from, rows),
        postgresql_texts(p->team + from, rows),
        postgresql_texts(p->job + from, rows),
        postgresql_texts(p->task + from, rows),
    };
    char sql[SQL_MAX];
    struct postgresql_result result = {0};
    format_insert(p, sql);
    if (code == 0) {
        code = store_database_run(&s->db, "store results", sql, values,
                                  p->kind == STORE_ENTRIES ? COUNT(values) : 10, &result);
    }
    int64_t added = 0;
    for (size_t i = 0; i < result.rows; i++) {
        added += postgresql_result_number(&result, i, 3);
    }
    code = code == 0 ? add_late(s, &result) : code;
    postgresql_result_free(&result);
    if (code == 0 && (size_t)added < rows && !p->again) {
        code = count_differing(s, values);
    }
    if (code == 0) {
        s->base.next.rows += (uint64_t)added;
        s->base.adding.made_again += p->again ? (uint64_t)added : 0;
        s->place[p->kind] -= p->again ? (int64_t)rows : 0;
    }
    return code;
}

static int run_plain(struct store_postgresql *s, const char *sql)
{
    return store_database_run(&s->db, "store results", sql, NULL, 0, NULL);
}

/* Sends some of the waiting rows. A row whose values the server refuses, such as a text that is
 * no UTF-8, would be refused for ever: halves find it, and it is left out and counted. */
static int send_rows(struct store_postgresql *s, size_t from, size_t rows)
{
    int code = run_plain(s, "SAVEPOINT rows");
    code = code == 0 ? insert_rows(s, from, rows) : code;
    if (code == 0) {
        return run_plain(s, "RELEASE SAVEPOINT rows");
    }
    if (!store_database_is_data_error(&s->db)) {
        return code;
    }
    const struct err refused = s->db.err;
    code = run_plain(s, "ROLLBACK TO SAVEPOINT rows");
    code = code == 0 ? run_plain(s, "RELEASE SAVEPOINT rows") : code;
    if (code == 0 && rows == 1) {
        s->base.adding.refused++;
        s->base.adding.refusal = refused;
        return 0;
    }
    code = code == 0 ? send_rows(s, from, rows / 2) : code;
    return code == 0 ? send_rows(s, from + rows / 2, rows - rows / 2) : code;
}

static int flush_rows(struct store_postgresql *s)
{
    const size_t rows = s->pending.rows;
    const int code = rows > 0 ? send_rows(s, 0, rows) : 0;
    s->pending.rows = s->pending.bytes = 0;
    return code;
}

static struct postgresql_text copy_text(struct pending *p, const char *text, size_t bytes)
{
    char *at = p->texts + p->bytes;
    memcpy(at, text, bytes);
    p->bytes += bytes;
    return (struct postgresql_text){at, bytes};
}

/* Copies a member's value as text, as json_extract() of SQLite returns it. */
static struct postgresql_text copy_member(struct pending *p, struct json_scan *scan)
{
    const enum json_kind kind = json_scan_peek(scan);
    const size_t room = STORE_BATCH_BYTES - p->bytes;
    char *at = p->texts + p->bytes;
    struct json_text text = {0};
    const char *from = NULL;
    size_t bytes = 0;
    if (kind == JSON_KIND_TEXT && json_scan_text(scan, &text)) {
        bytes = json_text_copy(&text, at, room, false);
        if (bytes < room && !memchr(at, '\0', bytes)) {
            p->bytes += bytes;
            return (struct postgresql_text){at, bytes};
        }
    } else if (json_scan_skip(scan, &from, &bytes) && kind != JSON_KIND_NULL && bytes < room) {
        return copy_text(p, from, bytes);
    }
    return (struct postgresql_text){0};
}

/* Extracts team, job and task of a team's command. Of members of one name the first counts. */
static void copy_task(struct pending *p, const struct store_row *row)
{
    static const char *const names[] = {"team", "job", "task"};
    struct postgresql_text *const to[] = {&p->team[p->rows], &p->job[p->rows],
                                          &p->task[p->rows]};
    bool seen[COUNT(names)] = {false};
    struct json_scan scan;
    struct json_text key;
    *to[0] = *to[1] = *to[2] = (struct postgresql_text){0};
    if (!store_is_of_team(row)) {
        return;
    }
    json_scan_start(&scan, row->json, row->json_bytes, JSON_SCAN_DEPTH_MAX);
    const bool entered = json_scan_enter(&scan, JSON_KIND_OBJECT);
    while (entered && json_scan_next_member(&scan, &key)) {
        size_t i = 0;
        while (i < COUNT(names) && !json_text_is(&key, names[i])) {
            i++;
        }
        if (i < COUNT(names) && !seen[i]) {
            seen[i] = true;
            *to[i] = copy_member(p, &scan);
        } else if (!json_scan_skip(&scan, NULL, NULL)) {
            break;
        }
    }
    if (!entered || !json_scan_finish(&scan)) {
        *to[0] = *to[1] = *to[2] = (struct postgresql_text){0};
    }
}

/* The texts of a row take these bytes at most: its json once more for team, job and task. */
static size_t count_bytes(const struct store_row *row)
{
    return strlen(row->pair) + strlen(row->id) + strlen(row->type) + 2 * row->json_bytes;
}

static void append_row(struct pending *p, const struct store_row *row)
{
    const size_t i = p->rows;
    p->kind = row->kind;
    p->again = row->again;
    p->numbered = row->seq != 0;
    p->pair[i] = copy_text(p, row->pair, strlen(row->pair));
    p->id[i] = copy_text(p, row->id, strlen(row->id));
    p->type[i] = copy_text(p, row->type, strlen(row->type));
    p->json[i] = copy_text(p, row->json, row->json_bytes);
    p->n[i] = (int64_t)row->n;
    p->t_us[i] = row->t_us;
    p->seq[i] = (int64_t)row->seq;
    p->lag_s[i] = row->lag_s;
    p->inconsistent[i] = row->inconsistent;
    if (row->kind == STORE_ENTRIES) {
        copy_task(p, row);
    }
    p->rows++;
}

static bool goes_with(const struct pending *p, const struct store_row *row)
{
    return p->rows < STORE_BATCH_ROWS && p->kind == row->kind && p->again == row->again &&
           p->numbered == (row->seq != 0) && p->bytes + count_bytes(row) < STORE_BATCH_BYTES;
}

/* Adds the entry up with others of its pair, if it is new and not older than the sums. */
static int fold_at(struct store_postgresql *s, const struct store_row *row)
{
    int64_t folded_us = INT64_MIN;
    bool any = false;
    bool more = false;
    int code = read_folded(&s->target, row->pair, &any, &folded_us);
    if (code == 0 && !(any && row->t_us < folded_us)) {
        code = bucket_fold_pair(&s->target, row->pair, &more);
        s->base.due = s->base.due || more;
    }
    return code;
}

/* SQLite folds at the same entries, so the sums are the same to the last bit. */
static enum status add_row(struct store *base, const struct store_row *row, bool *is_new,
                           struct err *err)
{
    struct store_postgresql *s = store_of(base);
    const bool folds = row->kind == STORE_ENTRIES && row->n % STORE_FOLD_EVERY == 0;
    int code = folds || is_new || !goes_with(&s->pending, row) ? flush_rows(s) : 0;
    if (code == 0) {
        append_row(&s->pending, row);
    }
    if (code == 0 && (folds || is_new)) {
        const uint64_t before = base->next.rows;
        code = flush_rows(s);
        const bool added = base->next.rows > before;
        code = code == 0 && folds && added ? fold_at(s, row) : code;
        if (is_new) {
            *is_new = added;
        }
    }
    return store_database_status(&s->db, code, err);
}

static enum status commit_batch(struct store *base, struct err *err)
{
    struct store_postgresql *s = store_of(base);
    int code = flush_rows(s);
    if (code == 0 && base->next.rows != base->mark.rows) {
        const struct postgresql_value values[] = {partition_of(s),
                                                  postgresql_number((int64_t)base->next.rows)};
        code = store_database_run(&s->db, "store results",
                                  "UPDATE applied SET n = $2 WHERE p = $1", values,
                                  COUNT(values), NULL);
    }
    /* A warning that the commit may be on this server only is no fault here. Rows that are lost
     * with the server are missed when the connection is opened again, and are made again. */
    code = code == 0 ? run_plain(s, "COMMIT") : code;
    if (code == 0) {
        s->epoch = s->next;
        s->began = true;
        s->open = false;
    }
    return store_database_status(&s->db, code, err);
}

/* --- upkeep ---------------------------------------------------------------------------------
 */

/* The daemon's user may remove old rows by this function only. */
static enum status remove_rows(struct store *base, enum store_kind kind, int64_t before_us,
                               int limit, uint64_t *removed, struct err *err)
{
    struct store_postgresql *s = store_of(base);
    const struct postgresql_value values[] = {
        partition_of(s), postgresql_text(store_tables[kind].table),
        postgresql_number(before_us), postgresql_number(limit)};
    int64_t rows = 0;
    int code = store_database_number(&s->db, "remove old results",
                                     "SELECT remove_results($2, $1, $3, $4::integer)", values,
                                     COUNT(values), &rows);
    if (code == 0 && rows > 0 && kind == STORE_ENTRIES) {
        code = store_database_run(
            &s->db, "remove old sums",
            "DELETE FROM buckets WHERE p = $1 AND t_us <= coalesce((SELECT min(t_us) FROM"
            " entries WHERE p = $1), 9223372036854775807)",
            values, 1, NULL);
    }
    *removed += (uint64_t)rows;
    return store_database_status(&s->db, code, err);
}

static enum status fold_entries(struct store *base, bool *more, struct err *err)
{
    struct store_postgresql *s = store_of(base);
    enum status status = store_begin(base, err);
    if (status == STATUS_OK) {
        status = store_database_status(&s->db, bucket_fold(&s->target, more), err);
    }
    if (status == STATUS_OK) {
        status = store_commit(base, err);
    }
    if (status != STATUS_OK) {
        store_rollback(base);
        return status;
    }
    base->due = *more;
    return STATUS_OK;
}

/* --- the engine -----------------------------------------------------------------------------
 */

const struct store_engine store_postgresql = {
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
    .fold = fold_entries,
    .reader_open = store_postgresql_reader_open,
    .reader_close = store_postgresql_reader_close,
    .reader_is_in_place = store_postgresql_reader_is_in_place,
    .query = store_postgresql_query,
    .holds = store_postgresql_holds,
    .hold = store_postgresql_hold,
    .since = store_postgresql_since,
    .last_seq = store_postgresql_last_seq,
    .series = store_postgresql_series,
    .span = store_postgresql_span,
};
