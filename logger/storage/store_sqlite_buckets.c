/* logger/storage/store_sqlite_buckets.c - where the sums of entries are in a SQLite store. */
#include "logger/storage/store_sqlite.h"

#include <math.h>
#include <stdio.h>

#define POINT "SELECT t_us, lag_s, verdict, inconsistent "
#define ENTRIES                                                                                \
    "FROM entries INDEXED BY entries_lags WHERE pair = ?1 AND t_us >= ?2 AND t_us < ?3 ORDER " \
    "BY t_us"

static int end_walk(sqlite3_stmt *statement, int code)
{
    (void)sqlite3_reset(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

/* --- reading -------------------------------------------------------------------------- */

static struct bucket_reader *reader_of(struct bucket_source *source)
{
    return (struct bucket_reader *)source;
}

static int walk_entries(struct bucket_source *source, const char *pair, int64_t since_us,
                        int64_t until_us, bool newest_first, store_bucket_fn *emit,
                        void *context)
{
    struct bucket_reader *r = reader_of(source);
    sqlite3_stmt **entries = &r->entries[newest_first];
    bool more = true;
    int code = store_prepare(r->c, entries, "%s",
                             newest_first ? POINT ENTRIES " DESC" : POINT ENTRIES);
    code = code == SQLITE_OK ? store_bind(*entries, "tii", pair, since_us, until_us) : code;
    while (code == SQLITE_OK && more && (code = sqlite3_step(*entries)) == SQLITE_ROW) {
        const struct store_bucket one =
            bucket_of_entry(sqlite3_column_int64(*entries, 0), store_lag_at(*entries, 1),
                            (const char *)sqlite3_column_text(*entries, 2),
                            sqlite3_column_int(*entries, 3) != 0);
        more = emit(context, &one);
        code = SQLITE_OK;
    }
    return end_walk(*entries, code == SQLITE_OK ? SQLITE_DONE : code);
}

static struct store_bucket read_stored(sqlite3_stmt *statement)
{
    struct store_bucket stored = {
        .first_us = sqlite3_column_int64(statement, 1),
        .count = (uint64_t)sqlite3_column_int64(statement, 2),
        .values = (uint64_t)sqlite3_column_int64(statement, 3),
        .min = sqlite3_column_double(statement, 4),
        .max = sqlite3_column_double(statement, 5),
        .sum = sqlite3_column_double(statement, 6),
        .inconsistent = (uint64_t)sqlite3_column_int64(statement, 7),
    };
    bucket_parse_verdicts((const char *)sqlite3_column_text(statement, 8), stored.verdicts);
    return stored;
}

static int walk_stored(struct bucket_source *source, int level, const char *pair,
                       int64_t since_us, int64_t until_us, bucket_at_fn *emit, void *context)
{
    struct bucket_reader *r = reader_of(source);
    const int64_t width_us = store_widths_us[level];
    sqlite3_stmt **stored = &r->stored[level];
    bool more = true;
    int code = store_prepare(
        r->c, stored,
        "SELECT t_us, first_us, count, valued, min_s, max_s, sum_s, inconsistent, verdicts"
        " FROM buckets WHERE pair = ?1 AND width_us = ?2 AND t_us >= ?3 AND t_us <= ?4"
        " ORDER BY t_us DESC");
    code = code == SQLITE_OK
               ? store_bind(*stored, "tiii", pair, width_us, since_us, until_us - width_us)
               : code;
    while (code == SQLITE_OK && more && (code = sqlite3_step(*stored)) == SQLITE_ROW) {
        const struct store_bucket bucket = read_stored(*stored);
        more = emit(context, sqlite3_column_int64(*stored, 0), &bucket);
        code = SQLITE_OK;
    }
    return end_walk(*stored, code == SQLITE_OK ? SQLITE_DONE : code);
}

void bucket_reader_init(struct bucket_reader *reader, const struct store_connection *c)
{
    *reader = (struct bucket_reader){.source = {walk_entries, walk_stored}, .c = c};
}

/* --- writing -------------------------------------------------------------------------- */

static struct bucket_writer *writer_of(struct bucket_target *target)
{
    return (struct bucket_writer *)target;
}

static int write_bucket(struct bucket_target *target, const char *pair, int64_t width_us,
                        int64_t t_us, const struct store_bucket *b)
{
    struct bucket_writer *w = writer_of(target);
    const double none = nan("");
    char verdicts[BUCKET_VERDICTS_MAX];
    bucket_format_verdicts(b->verdicts, verdicts);
    int code = store_prepare(w->reader.c, &w->insert_bucket,
                             "INSERT OR REPLACE INTO buckets(pair, width_us, t_us, first_us,"
                             " count, valued, min_s, max_s, sum_s, inconsistent, verdicts)"
                             " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
    code = code == SQLITE_OK ? store_bind(w->insert_bucket, "tiiiiirrrit", pair, width_us, t_us,
                                          b->first_us, (int64_t)b->count, (int64_t)b->values,
                                          b->values ? b->min : none, b->values ? b->max : none,
                                          b->sum, (int64_t)b->inconsistent, verdicts)
                             : code;
    return code == SQLITE_OK ? store_step_once(w->insert_bucket) : code;
}

static int read_folded(struct bucket_target *target, const char *pair, bool *any,
                       int64_t *folded_us)
{
    struct bucket_writer *w = writer_of(target);
    int code =
        store_prepare(w->reader.c, &w->folded, "SELECT until_us FROM folded WHERE pair = ?1");
    code = code == SQLITE_OK ? store_bind(w->folded, "t", pair) : code;
    code = code == SQLITE_OK ? sqlite3_step(w->folded) : code;
    *any = code == SQLITE_ROW && sqlite3_column_type(w->folded, 0) != SQLITE_NULL;
    *folded_us = *any ? sqlite3_column_int64(w->folded, 0) : INT64_MIN;
    return end_walk(w->folded, code);
}

static int write_folded(struct bucket_target *target, const char *pair, int64_t until_us,
                        bool due)
{
    struct bucket_writer *w = writer_of(target);
    int code = store_prepare(w->reader.c, &w->insert_folded,
                             "INSERT OR REPLACE INTO folded(pair, until_us, due)"
                             " VALUES(?1, ?2, ?3)");
    code = code == SQLITE_OK ? store_bind(w->insert_folded, "tii", pair, until_us, (int64_t)due)
                             : code;
    return code == SQLITE_OK ? store_step_once(w->insert_folded) : code;
}

static int find_ends(struct bucket_target *target, const char *pair, int64_t from_us, int limit,
                     int behind, struct bucket_ends *ends)
{
    struct bucket_writer *w = writer_of(target);
    int code = store_prepare(w->reader.c, &w->end,
                             "SELECT (SELECT t_us " ENTRIES " LIMIT 1),"
                             " (SELECT t_us " ENTRIES " LIMIT 1 OFFSET ?4),"
                             " (SELECT t_us " ENTRIES " DESC LIMIT 1 OFFSET ?5)");
    code = code == SQLITE_OK ? store_bind(w->end, "tiiii", pair, from_us, INT64_MAX,
                                          (int64_t)limit, (int64_t)behind)
                             : code;
    code = code == SQLITE_OK ? sqlite3_step(w->end) : code;
    ends->any = code == SQLITE_ROW && sqlite3_column_type(w->end, 2) != SQLITE_NULL;
    if (ends->any) {
        ends->oldest_us = sqlite3_column_int64(w->end, 0);
        ends->newest_us = sqlite3_column_int64(w->end, 2);
        ends->many = sqlite3_column_type(w->end, 1) != SQLITE_NULL;
        ends->slice_us = sqlite3_column_int64(w->end, 1);
    }
    return end_walk(w->end, code);
}

static int find_due(struct bucket_target *target, char pair[EVENT_PAIR_MAX])
{
    struct bucket_writer *w = writer_of(target);
    int code =
        store_prepare(w->reader.c, &w->due, "SELECT pair FROM folded WHERE due = 1 LIMIT 1");
    code = code == SQLITE_OK ? sqlite3_step(w->due) : code;
    if (code == SQLITE_ROW) {
        (void)snprintf(pair, EVENT_PAIR_MAX, "%s",
                       (const char *)sqlite3_column_text(w->due, 0));
    }
    return end_walk(w->due, code);
}

void bucket_writer_init(struct bucket_writer *writer, const struct store_connection *c)
{
    *writer =
        (struct bucket_writer){.target = {&writer->reader.source, write_bucket, read_folded,
                                          write_folded, find_ends, find_due}};
    bucket_reader_init(&writer->reader, c);
}

int remove_buckets(const struct store_connection *c)
{
    char *why = NULL;
    const int code =
        sqlite3_exec(c->db,
                     "DELETE FROM buckets WHERE t_us <= coalesce((SELECT min(t_us) FROM"
                     " entries), 9223372036854775807)",
                     NULL, NULL, &why);
    sqlite3_free(why);
    return code;
}
