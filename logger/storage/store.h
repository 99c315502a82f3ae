/* logger/storage/store.h - the results of a lab in a SQLite file: entries, alarms, the
 * log of those pairs that record every event, what became of parameter sets, fits over time,
 * bars of teams' charts.
 *
 * Two objects: struct store writes (one thread), struct store_reader reads through its own
 * read-only connection (another thread), neither waits for the other. The journal is the truth
 * and the store can be made from it again: rows carry the identity (pair, n, t_us), and adding
 * one twice changes nothing. Schema: docs/storage.md.
 */
#ifndef LOGGER_STORAGE_STORE_H
#define LOGGER_STORAGE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "logger/message/event.h"
#include "logger/message/record.h"

enum {
    STORE_TYPE_MAX = 24,        /* bytes of a verdict's or alarm type's name with its NUL */
    STORE_JSON_MAX = 64 * 1024, /* bytes of a record */
    STORE_PAGE_MAX = 1000,      /* rows of one query */
    STORE_CURSOR_MAX = 256,     /* bytes of a cursor with its NUL */
    STORE_SQL_MAX = 1024
};

enum store_kind {
    STORE_ENTRIES,
    STORE_ALARMS,
    STORE_LOG,
    STORE_CHANGES,
    STORE_FITS,
    STORE_BARS,
    STORE_KIND_COUNT
};

/* One entry, alarm, event, change, fit or bar. All texts are borrowed. */
struct store_row {
    enum store_kind kind;
    const char *pair;  /* or team; 1..EVENT_PAIR_MAX - 1 bytes */
    uint64_t n;        /* its number in the pair, <= INT64_MAX */
    int64_t t_us;      /* lab time: of the command, of the alarm */
    const char *id;    /* of the command, "" when there is none; a fit's side, a bar's robot */
    const char *type;  /* an entry's verdict, an alarm's type, an event's kind, a change's
                        * action, a fit's model, a bar's kind */
    double lag_s;      /* of an entry; NaN: none */
    bool inconsistent; /* of an entry: the replies differ */
    const char *json;  /* [json_bytes] the record as it is served, no NUL needed */
    size_t json_bytes;
    uint64_t seq; /* its place in the order of storing, above all before; 0: the next one */
    /* Made again from the journal, by this attempt, from 1; 0: it just happened. Left out where
     * its command's entry, or this alarm, was there before the attempt, whatever its number;
     * else it takes a place before all others. seq is not used. */
    uint32_t again;
};

/* Which store it is, and what it has taken in. It is written by one run of the daemon after
 * another: a store holds what it held at a mark when that run wrote to it, and the run, or
 * those after it, added that many rows. So one that was lost, replaced by an older copy, or cut
 * (the file beside it removed or damaged) is told from the one that was marked. */
struct store_mark {
    uint64_t store; /* random, made with the store; 0: no mark */
    uint64_t run;   /* random, of the run that wrote last; 0: none did */
    uint64_t rows;  /* added ever; those that retention removed are counted */
};

struct store_query {
    enum store_kind kind;
    const char *pair;   /* NULL: all pairs */
    const char *type;   /* NULL: every verdict or alarm type */
    bool inconsistent;  /* of entries: those whose replies differ alone */
    const char *team;   /* of entries: those of commands of this team alone; NULL: all */
    const char *job;    /* of entries: those of this job alone; NULL: all */
    int64_t since_us;   /* t_us >= this; INT64_MIN: no limit */
    int64_t until_us;   /* t_us < this; INT64_MAX: no limit */
    bool newest_first;  /* else oldest first; by t_us, then pair, then n */
    int limit;          /* 1..STORE_PAGE_MAX rows */
    const char *cursor; /* next_cursor of the page before; NULL or "": the first page */
};

struct store_params {
    const char *path;    /* of the file; ":memory:"; borrowed */
    const char *vfs;     /* SQLite's file layer, NULL: the default; tests put failing ones */
    uint64_t pages_max;  /* refuse to grow beyond as if the disk were full; 0: no limit */
    int busy_timeout_ms; /* how long to wait when another program locks the file */
};

struct store;

/* Open for writing, make or bring up to date what is there. Cold path.
 *
 * STATUS_E_STALE: written by a newer version of this program. STATUS_E_PARSE: damaged, or no
 * store at all; *err says which, and that the journal can make it anew. STATUS_E_IO: the file
 * or its directory cannot be written. STATUS_E_NOMEM. *out is written only on STATUS_OK. */
MUST_USE enum status store_open(const struct store_params *params, struct store **out,
                                struct err *err);

/* NULL is allowed. What was not committed is forgotten. */
void store_close(struct store *store);

/* Open the file anew, at the same path, after it was removed or replaced: directory and file
 * are made where they are missing. Statuses as of store_open(); after a failure nothing can be
 * done with it but this again, and store_close(). */
MUST_USE enum status store_reopen(struct store *store, struct err *err);

/* Does the file that was opened still stand at its path? Any thread. */
bool store_is_in_place(const struct store *store);

/* As of the last commit. */
struct store_mark store_read_mark(const struct store *store);

/* Does the store hold what it held at the mark? STATUS_E_STALE: not so, *err says what it is
 * instead. STATUS_E_IO, STATUS_E_PARSE: it cannot be read. */
MUST_USE enum status store_check_mark(struct store *store, const struct store_mark *mark,
                                      struct err *err);

/* A batch: begin, add rows, commit. After any failure the whole batch is as if it had never
 * been; call store_rollback() and offer the same rows again later.
 *
 * STATUS_E_IO: disk full, read-only, locked, broken. STATUS_E_PARSE: the file is damaged.
 * STATUS_E_ARG (store_add): a text or number beyond its limit; the batch is still good. */
MUST_USE enum status store_begin(struct store *store, struct err *err);
MUST_USE enum status store_add(struct store *store, const struct store_row *row, bool *is_new,
                               struct err *err); /* is_new: false when it was there already */
MUST_USE enum status store_commit(struct store *store, struct err *err);
void store_rollback(struct store *store);

/* What store_add() accepts. */
bool store_row_is_valid(const struct store_row *row);

/* Remove at most limit rows of each kind that are older than before_us, in a batch of
 * its own. *removed tells how many went: when it is below limit, none is left. */
MUST_USE enum status store_remove_before(struct store *store, int64_t before_us, int limit,
                                         uint64_t *removed, struct err *err);

/* Did SQLite fail to write its log back into the file since this was asked last? It tries again
 * with each commit; the rows are safe, the log grows. */
MUST_USE enum status store_check_wal(struct store *store, struct err *err);

/* Add up some thousands of entries for charts, in a batch of its own: those that came before
 * this version of the store, or faster than they could be added up. *more: there are others. */
MUST_USE enum status store_fold(struct store *store, bool *more, struct err *err);

/* Is there anything to do for store_fold(), as far as known? */
bool store_is_due(const struct store *store);

/* A row in a callback, which does not use the store or reader it comes from; return false to
 * stop. row and its texts are valid during the call. */
typedef bool store_row_fn(void *context, const struct store_row *row);

/* --- reading -------------------------------------------------------------------------- */

struct store_reader;

/* Open the file that a struct store writes. Statuses as for store_open(), and STATUS_E_IO when
 * there is no such file. */
MUST_USE enum status store_reader_open(const char *path, struct store_reader **out,
                                       struct err *err);

void store_reader_close(struct store_reader *reader);

/* Does the file that it reads still stand at its path? */
bool store_reader_is_in_place(const struct store_reader *reader);

/* One page. next_cursor becomes "" when there is no more, else the place to go on (also after
 * row returned false): rows added or removed in between neither shift nor repeat anything. The
 * cost does not depend on the size of the store.
 *
 * STATUS_E_PARSE: no cursor of this query (or: the file is damaged). STATUS_E_RANGE: limit.
 * STATUS_E_IO. Rows may have been handed out before a failure. */
MUST_USE enum status store_query(struct store_reader *reader, const struct store_query *query,
                                 store_row_fn *row, void *context,
                                 char next_cursor[STORE_CURSOR_MAX], struct err *err);

/* Is there a row of this kind, pair, time and id, and but for entries of this type? Whatever
 * its number. Statuses as above. */
MUST_USE enum status store_holds(struct store_reader *reader, const struct store_row *row,
                                 bool *holds, struct err *err);

/* on: what is read from here on is all of one moment, and takes no locks each time; what others
 * write meanwhile waits in the file's log. off: each by itself again. Where that fails, it does
 * not matter. */
void store_reader_hold(struct store_reader *reader, bool on);

/* Rows of a kind in the order of storing, those with seq > after, up to limit. STATUS_E_IO,
 * STATUS_E_PARSE as above. */
MUST_USE enum status store_since(struct store_reader *reader, enum store_kind kind,
                                 uint64_t after, int limit, store_row_fn *row, void *context,
                                 struct err *err);

/* The highest seq of a kind that is there; 0: none. */
MUST_USE enum status store_last_seq(struct store_reader *reader, enum store_kind kind,
                                    uint64_t *seq, struct err *err);

/* Another number than before, once anybody has committed anything. Of different readers they
 * say nothing about each other. Statuses as above. */
MUST_USE enum status store_version(struct store_reader *reader, int64_t *version,
                                   struct err *err);

/* Entries of some time, added up. */
struct store_bucket {
    int64_t first_us; /* of its oldest entry */
    uint64_t count;   /* entries, >= 1 */
    uint64_t values;  /* those of them that have a lag; 0: min and max are not known */
    double min, max, sum;
    uint64_t inconsistent;
    uint64_t verdicts[VERDICT_COUNT];
};

/* to: all 0 at first. */
void store_bucket_add(struct store_bucket *to, const struct store_bucket *from);

/* Return false to stop. */
typedef bool store_bucket_fn(void *context, const struct store_bucket *bucket);

/* The widest of the widths of kept buckets that is not above; at least 1 us. */
int64_t store_width_below(int64_t width_us);

/* The entries of a pair with since_us <= t < until_us, newest first, added up so that none
 * reaches over a multiple of width_us, which store_width_below() returned. Reads some rows for
 * each such multiple, however many entries there are. Statuses as above. */
MUST_USE enum status store_series(struct store_reader *reader, const char *pair,
                                  int64_t since_us, int64_t until_us, int64_t width_us,
                                  store_bucket_fn *emit, void *context, struct err *err);

/* When the oldest and the newest of them were; *any false: there are none, and the times are
 * untouched. */
MUST_USE enum status store_span(struct store_reader *reader, const char *pair, int64_t since_us,
                                int64_t until_us, bool *any, int64_t *oldest_us,
                                int64_t *newest_us, struct err *err);

/* The statement of store_query(). Parameters: 1 limit, 2 the other end of the time range, 3
 * t_us, 4 n, 5 pair of the cursor or of the query, 6 type. */
void store_query_sql(const struct store_query *query, char sql[STORE_SQL_MAX]);

#endif
