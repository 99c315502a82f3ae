/* logger/storage/store_buckets.c - sums of entries by time (buckets), so that a chart of any
 * range is cheap to draw. */
#include "logger/storage/store_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FOLD_EVERY = 512,    /* entries of a pair per fold */
    FOLD_ENTRIES = 4096, /* at once: a few milliseconds */
    FOLD_PAIRS = 64,     /* pairs at once */
    FOLD_BEHIND = 32     /* newest entries that wait: order is by reply */
};

#define S(s) ((s)*INT64_C(1000000))
#define H(h) S((h)*3600)

const int64_t store_widths_us[STORE_WIDTHS] = {
    50000, 200000, S(1),  S(4),  S(20),     S(60),      S(240),     S(1200),
    H(1),  H(3),   H(12), H(48), H(4 * 48), H(16 * 48), H(64 * 48), H(256 * 48)};

int64_t store_width_below(int64_t width_us)
{
    int64_t found = 1;
    for (int level = 0; level < STORE_WIDTHS && store_widths_us[level] <= width_us; level++) {
        found = store_widths_us[level];
    }
    return found;
}

int64_t bucket_start(int64_t t_us, int64_t width_us)
{
    const int64_t beyond_us = t_us % width_us;
    return t_us - (beyond_us < 0 ? beyond_us + width_us : beyond_us);
}

void store_bucket_add(struct store_bucket *to, const struct store_bucket *from)
{
    to->first_us =
        to->count == 0 || from->first_us < to->first_us ? from->first_us : to->first_us;
    if (from->values > 0) {
        to->min = to->values == 0 || from->min < to->min ? from->min : to->min;
        to->max = to->values == 0 || from->max > to->max ? from->max : to->max;
    }
    to->count += from->count;
    to->values += from->values;
    to->sum += from->sum;
    to->inconsistent += from->inconsistent;
    for (int v = 0; v < VERDICT_COUNT; v++) {
        to->verdicts[v] += from->verdicts[v];
    }
}

/* --- reading -------------------------------------------------------------------------- */

#define POINT "SELECT t_us, lag_s, verdict, inconsistent "
#define ENTRIES                                                                                \
    "FROM entries INDEXED BY entries_lags WHERE pair = ?1 AND t_us >= ?2 AND t_us < ?3 ORDER " \
    "BY t_us"

static struct store_bucket read_entry(sqlite3_stmt *statement)
{
    const double lag_s = store_lag_at(statement, 1);
    const char *verdict = (const char *)sqlite3_column_text(statement, 2);
    struct store_bucket one = {.first_us = sqlite3_column_int64(statement, 0),
                               .count = 1,
                               .inconsistent = sqlite3_column_int(statement, 3) != 0};
    const size_t v = verdict ? names_value(&verdict_names, verdict) : VERDICT_COUNT;
    if (v < VERDICT_COUNT) {
        one.verdicts[v] = 1;
    }
    if (isfinite(lag_s)) {
        one.values = 1;
        one.min = one.max = one.sum = lag_s;
    }
    return one;
}

/* Parses "[3,0,1]": the counts of the first verdicts. */
static void read_verdicts(const char *text, uint64_t verdicts[VERDICT_COUNT])
{
    for (int v = 0; v < VERDICT_COUNT && text && (*text == '[' || *text == ','); v++) {
        char *end = NULL;
        verdicts[v] = strtoull(text + 1, &end, 10);
        text = end;
    }
}

static void write_verdicts(const uint64_t verdicts[VERDICT_COUNT], char out[256])
{
    int used = 0;
    for (int v = 0; v < VERDICT_COUNT; v++) {
        used += snprintf(out + used, 256 - (size_t)used, "%c%llu", v == 0 ? '[' : ',',
                         (unsigned long long)verdicts[v]);
    }
    (void)snprintf(out + used, 256 - (size_t)used, "]");
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
    read_verdicts((const char *)sqlite3_column_text(statement, 8), stored.verdicts);
    return stored;
}

/* State of a reading. */
struct walk {
    struct bucket_reader *reader;
    const char *pair;
    store_bucket_fn *emit;
    void *context;
    bool stopped;
};

static int end_walk(sqlite3_stmt *statement, int code)
{
    (void)sqlite3_reset(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int walk_entries(struct walk *w, int64_t since_us, int64_t until_us)
{
    sqlite3_stmt **entries = &w->reader->entries;
    int code = store_prepare(w->reader->c, entries, POINT ENTRIES " DESC");
    code = code == SQLITE_OK ? store_bind(*entries, "tii", w->pair, since_us, until_us) : code;
    while (code == SQLITE_OK && !w->stopped) {
        code = sqlite3_step(*entries);
        if (code == SQLITE_ROW) {
            const struct store_bucket one = read_entry(*entries);
            w->stopped = !w->emit(w->context, &one);
            code = SQLITE_OK;
        }
    }
    return end_walk(*entries, code == SQLITE_OK ? SQLITE_DONE : code);
}

static int begin_level(struct walk *w, int level, int64_t since_us, int64_t until_us)
{
    const int64_t width_us = store_widths_us[level];
    sqlite3_stmt **stored = &w->reader->stored[level];
    const int code = store_prepare(
        w->reader->c, stored,
        "SELECT t_us, first_us, count, valued, min_s, max_s, sum_s, inconsistent, verdicts"
        " FROM buckets WHERE pair = ?1 AND width_us = ?2 AND t_us >= ?3 AND t_us <= ?4"
        " ORDER BY t_us DESC");
    return code == SQLITE_OK
               ? store_bind(*stored, "tiii", w->pair, width_us, since_us, until_us - width_us)
               : code;
}

/* Reads one level. Gaps between stored buckets hold only buckets with few entries; before the
 * first and behind the last one there may be narrower buckets. */
static int walk_level(struct walk *w, int level, int64_t since_us, int64_t until_us)
{
    int code = SQLITE_OK;
    bool first = true;
    if (since_us >= until_us || w->stopped) {
        return SQLITE_OK;
    }
    if (level < 0) {
        return walk_entries(w, since_us, until_us);
    }
    const int64_t width_us = store_widths_us[level];
    code = begin_level(w, level, since_us, until_us);
    sqlite3_stmt *const stored = w->reader->stored[level];
    while (code == SQLITE_OK && !w->stopped && (code = sqlite3_step(stored)) == SQLITE_ROW) {
        const int64_t t_us = sqlite3_column_int64(stored, 0);
        code = walk_level(w, first ? level - 1 : -1, t_us + width_us, until_us);
        if (code == SQLITE_OK && !w->stopped) {
            const struct store_bucket bucket = read_stored(stored);
            w->stopped = !w->emit(w->context, &bucket);
        }
        until_us = t_us;
        first = false;
    }
    code = end_walk(stored, code == SQLITE_OK ? SQLITE_DONE : code);
    return code == SQLITE_OK ? walk_level(w, level - 1, since_us, until_us) : code;
}

int bucket_read(struct bucket_reader *reader, int level, const char *pair, int64_t since_us,
                int64_t until_us, store_bucket_fn *emit, void *context)
{
    struct walk walk = {.reader = reader, .pair = pair, .emit = emit, .context = context};
    return walk_level(&walk, level, since_us, until_us);
}

/* --- folding -------------------------------------------------------------------------- */

static bool add_up(void *context, const struct store_bucket *bucket)
{
    store_bucket_add(context, bucket);
    return true;
}

/* Stores a bucket, unless it has few entries. */
static int write_bucket(struct bucket_writer *w, const char *pair, int64_t width_us,
                        int64_t t_us, const struct store_bucket *b)
{
    char verdicts[256];
    if (b->count < STORE_BUCKET_ENTRIES) {
        return SQLITE_OK;
    }
    write_verdicts(b->verdicts, verdicts);
    const double none = nan("");
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

/* Reads the time before which the pair's entries are folded; *any false: none yet. */
static int read_folded(struct bucket_writer *w, const char *pair, bool *any, int64_t *folded_us)
{
    int code =
        store_prepare(w->reader.c, &w->folded, "SELECT until_us FROM folded WHERE pair = ?1");
    code = code == SQLITE_OK ? store_bind(w->folded, "t", pair) : code;
    code = code == SQLITE_OK ? sqlite3_step(w->folded) : code;
    *any = code == SQLITE_ROW && sqlite3_column_type(w->folded, 0) != SQLITE_NULL;
    *folded_us = *any ? sqlite3_column_int64(w->folded, 0) : INT64_MIN;
    return end_walk(w->folded, code);
}

/* The open buckets of all widths at one time, filled with the entries before it. */
struct fold {
    struct bucket_writer *writer;
    const char *pair;
    int64_t t_us[STORE_WIDTHS];
    struct store_bucket open[STORE_WIDTHS];
};

static int begin_fold(struct fold *f, int64_t from_us)
{
    int64_t until_us = from_us;
    int code = SQLITE_OK;
    for (int level = 0; level < STORE_WIDTHS && code == SQLITE_OK; level++) {
        struct store_bucket *open = &f->open[level];
        f->t_us[level] = bucket_start(from_us, store_widths_us[level]);
        *open = level > 0 ? f->open[level - 1] : (struct store_bucket){0};
        code = bucket_read(&f->writer->reader, level - 1, f->pair, f->t_us[level], until_us,
                           add_up, open);
        until_us = f->t_us[level];
    }
    return code;
}

/* Stores the buckets that have ended by then. */
static int close_buckets(struct fold *f, int64_t now_us)
{
    int code = SQLITE_OK;
    for (int level = 0; level < STORE_WIDTHS && code == SQLITE_OK; level++) {
        const int64_t width_us = store_widths_us[level];
        if (now_us < f->t_us[level] + width_us) {
            break; /* wider ones have not ended either */
        }
        code = write_bucket(f->writer, f->pair, width_us, f->t_us[level], &f->open[level]);
        f->t_us[level] = bucket_start(now_us, width_us);
        f->open[level] = (struct store_bucket){0};
    }
    return code;
}

static int fold_entries(struct fold *f, int64_t from_us, int64_t until_us)
{
    sqlite3_stmt **rows = &f->writer->rows;
    int code = store_prepare(f->writer->reader.c, rows, POINT ENTRIES);
    code = code == SQLITE_OK ? store_bind(*rows, "tii", f->pair, from_us, until_us) : code;
    while (code == SQLITE_OK && (code = sqlite3_step(*rows)) == SQLITE_ROW) {
        const struct store_bucket one = read_entry(*rows);
        code = close_buckets(f, one.first_us);
        for (int level = 0; level < STORE_WIDTHS; level++) {
            store_bucket_add(&f->open[level], &one);
        }
    }
    code = end_walk(*rows, code);
    return code == SQLITE_OK ? close_buckets(f, until_us) : code;
}

/* Finds the range to fold: up to FOLD_ENTRIES, without the newest entries. *from_us equals
 * *until_us if there is nothing to do. */
static int find_ends(struct bucket_writer *w, const char *pair, int64_t *from_us,
                     int64_t *until_us, bool *more)
{
    int code = store_prepare(w->reader.c, &w->end,
                             "SELECT (SELECT t_us " ENTRIES " LIMIT 1),"
                             " (SELECT t_us " ENTRIES " LIMIT 1 OFFSET ?4),"
                             " (SELECT t_us " ENTRIES " DESC LIMIT 1 OFFSET ?5)");
    code = code == SQLITE_OK ? store_bind(w->end, "tiiii", pair, *from_us, INT64_MAX,
                                          (int64_t)FOLD_ENTRIES, (int64_t)FOLD_BEHIND)
                             : code;
    code = code == SQLITE_OK ? sqlite3_step(w->end) : code;
    const bool any = code == SQLITE_ROW && sqlite3_column_type(w->end, 2) != SQLITE_NULL;
    const int64_t oldest_us = any ? sqlite3_column_int64(w->end, 0) : *from_us;
    const int64_t newest_us = any ? sqlite3_column_int64(w->end, 2) : *from_us;
    const bool many = any && sqlite3_column_type(w->end, 1) != SQLITE_NULL;
    const int64_t slice_us = many ? sqlite3_column_int64(w->end, 1) : newest_us;
    *from_us = *from_us == INT64_MIN ? oldest_us : *from_us;
    /* Also correct if that many entries have the same time. */
    *until_us = slice_us > *from_us || slice_us == newest_us ? slice_us : *from_us + 1;
    *more = *until_us < newest_us;
    return end_walk(w->end, code);
}

static int write_folded(struct bucket_writer *w, const char *pair, int64_t until_us, bool due)
{
    int code = store_prepare(w->reader.c, &w->insert_folded,
                             "INSERT OR REPLACE INTO folded(pair, until_us, due)"
                             " VALUES(?1, ?2, ?3)");
    code = code == SQLITE_OK ? store_bind(w->insert_folded, "tii", pair, until_us, (int64_t)due)
                             : code;
    return code == SQLITE_OK ? store_step_once(w->insert_folded) : code;
}

static int fold_pair(struct bucket_writer *w, const char *pair, bool *more)
{
    struct fold fold = {.writer = w, .pair = pair};
    int64_t from_us = INT64_MIN;
    int64_t until_us = INT64_MIN;
    bool any = false;
    int code = read_folded(w, pair, &any, &from_us);
    code = code == SQLITE_OK ? find_ends(w, pair, &from_us, &until_us, more) : code;
    if (code == SQLITE_OK && from_us < until_us) {
        code = begin_fold(&fold, from_us);
        code = code == SQLITE_OK ? fold_entries(&fold, from_us, until_us) : code;
    }
    return code == SQLITE_OK ? write_folded(w, pair, until_us, *more) : code;
}

/* Adds an entry older than the folded time: recomputes its buckets, narrow ones first. */
static int add_late(struct bucket_writer *w, const struct store_row *row, int64_t folded_us)
{
    int code = SQLITE_OK;
    for (int level = 0; level < STORE_WIDTHS && code == SQLITE_OK; level++) {
        const int64_t width_us = store_widths_us[level];
        const int64_t t_us = bucket_start(row->t_us, width_us);
        struct store_bucket bucket = {0};
        if (t_us + width_us > folded_us) {
            break; /* wider ones are not stored either */
        }
        code = bucket_read(&w->reader, level - 1, row->pair, t_us, t_us + width_us, add_up,
                           &bucket);
        code = code == SQLITE_OK ? write_bucket(w, row->pair, width_us, t_us, &bucket) : code;
    }
    return code;
}

int bucket_add(struct bucket_writer *writer, const struct store_row *row, bool *due)
{
    int64_t folded_us = INT64_MIN;
    bool any = false;
    bool more = false;
    int code = read_folded(writer, row->pair, &any, &folded_us);
    if (code == SQLITE_OK && any && row->t_us < folded_us) {
        return add_late(writer, row, folded_us);
    }
    if (code == SQLITE_OK && row->n % FOLD_EVERY == 0) {
        code = fold_pair(writer, row->pair, &more);
        *due = *due || more;
    }
    return code;
}

int bucket_fold(struct bucket_writer *writer, bool *due)
{
    int code = SQLITE_OK;
    *due = true;
    for (int k = 0; k < FOLD_PAIRS && code == SQLITE_OK && *due; k++) {
        char pair[EVENT_PAIR_MAX] = "";
        bool more = false;
        code = store_prepare(writer->reader.c, &writer->due,
                             "SELECT pair FROM folded WHERE due = 1 LIMIT 1");
        code = code == SQLITE_OK ? sqlite3_step(writer->due) : code;
        *due = code == SQLITE_ROW;
        if (*due) {
            (void)snprintf(pair, sizeof pair, "%s",
                           (const char *)sqlite3_column_text(writer->due, 0));
        }
        code = end_walk(writer->due, code);
        code = code == SQLITE_OK && *due ? fold_pair(writer, pair, &more) : code;
        if (more) {
            break;
        }
    }
    return code;
}

int bucket_remove(const struct store_connection *c)
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
