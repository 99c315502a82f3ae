/* logger/storage/store.h - the results of a lab: entries, alarms, events of pairs that record
 * them all, changes of parameter sets, fits over time, and bars of team charts. They are in a
 * SQLite file, or those of any number of daemons in a PostgreSQL database.
 *
 * Two objects: struct store writes (one thread); struct store_reader reads over its own
 * read-only connection (another thread). Neither waits for the other. The journal is the source
 * of truth, and the store can be rebuilt from it: rows have an identity (pair, n, t_us), and
 * adding one twice changes nothing. Schema: docs/storage.md.
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
    STORE_PAGE_MAX = 1000,      /* rows per query */
    STORE_CURSOR_MAX = 256,     /* bytes of a cursor with its NUL */
    STORE_SQL_MAX = 1024
};

struct postgresql_target;

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
    const char *pair;  /* pair or team; 1..EVENT_PAIR_MAX - 1 bytes */
    uint64_t n;        /* number within the pair, <= INT64_MAX */
    int64_t t_us;      /* lab time: of the command, of the alarm */
    const char *id;    /* command id, "" if none; a fit's side, a bar's robot */
    const char *type;  /* an entry's verdict, an alarm's type, an event's kind, a change's
                        * action, a fit's model, a bar's kind */
    double lag_s;      /* entries only; NaN: none */
    bool inconsistent; /* entries only: the replies differ */
    const char *json;  /* [json_bytes] the record as it is served, no NUL needed */
    size_t json_bytes;
    uint64_t seq; /* place in the order of storing, above all earlier ones; 0: the next one */
    /* Backfilled from the journal by this attempt, from 1; 0: it just happened. A backfilled
     * row is ignored if its command's entry, or this alarm, was stored before the attempt under
     * any number. Otherwise it gets a place before all others. seq is ignored. */
    uint32_t again;
};

/* Identity and content of a store, as of one moment. Each run of the daemon writes to the store
 * in turn. A store still holds what it held at a mark if it knows the mark's run and that many
 * rows were added by that run or later ones. This detects a store that was lost, replaced by an
 * older copy, or truncated (its "-wal" file removed or damaged). */
struct store_mark {
    uint64_t store; /* random, made with the store; 0: no mark */
    uint64_t run;   /* random, of the last run that wrote; 0: none */
    uint64_t rows;  /* rows ever added, including those that retention removed */
};

struct store_query {
    enum store_kind kind;
    const char *pair;  /* NULL: all pairs */
    const char *type;  /* NULL: every verdict or alarm type */
    const char *types; /* ",AHEAD,BEHIND,": any of these; NULL: as type says */
    bool inconsistent; /* entries only: just those whose replies differ, or of one of types */
    const char *team;  /* entries only: just those of this team; NULL: all */
    const char *job;   /* entries only: just those of this job; NULL: all */
    /* entries only: just those made under this version of a robot's program; NULL: all */
    const char *version[SIDE_COUNT];
    int64_t since_us;   /* t_us >= this; INT64_MIN: no limit */
    int64_t until_us;   /* t_us < this; INT64_MAX: no limit */
    bool moving;        /* the limits move: a cursor does not depend on them */
    bool newest_first;  /* else oldest first; by t_us, then pair, then n */
    int limit;          /* 1..STORE_PAGE_MAX rows */
    const char *cursor; /* next_cursor of the previous page; NULL or "": the first page */
};

/* All texts are borrowed. */
struct store_params {
    const char *path;    /* SQLite: file name or ":memory:" */
    const char *vfs;     /* SQLite's file layer, NULL: the default; tests use failing ones */
    uint64_t pages_max;  /* limit; beyond it acts like a full disk; 0: no limit */
    int busy_timeout_ms; /* how long to wait while another program locks the file, or for an
                          * answer of PostgreSQL */
    struct postgresql_target *target; /* results in PostgreSQL, borrowed; NULL: in the file */
    const char *partition;            /* PostgreSQL: the daemon's name in the database */
    bool all; /* PostgreSQL: lists of a reader have the rows of all partitions */
};

/* Result of a batch. */
struct store_counts {
    uint64_t stored;     /* rows that were new to the store */
    uint64_t made_again; /* of these, backfilled ones */
    /* PostgreSQL only. */
    uint64_t differing; /* rows that it has with another json */
    uint64_t refused;   /* rows that the server cannot store, and that were left out */
    struct err refusal; /* the last reason */
};

struct store;

/* Opens the store for writing; creates or updates it if necessary. Cold path.
 *
 * STATUS_E_STALE: written by a newer version of this program. STATUS_E_PARSE: damaged, or not a
 * store; *err says which, and that it can be rebuilt from the journal. STATUS_E_IO: the file or
 * its directory cannot be written. STATUS_E_NOMEM. *out is written only on STATUS_OK. */
MUST_USE enum status store_open(const struct store_params *params, struct store **out,
                                struct err *err);

/* NULL is allowed. Uncommitted rows are discarded. */
void store_close(struct store *store);

/* Opens the file at the same path again, after it was removed or replaced. Creates directory
 * and file if missing. Statuses like store_open(). After a failure only this function and
 * store_close() may be called. */
MUST_USE enum status store_reopen(struct store *store, struct err *err);

/* Does the path still lead to the opened file? Any thread. */
bool store_is_in_place(const struct store *store);

/* Returns the mark as of the last commit. */
struct store_mark store_read_mark(const struct store *store);

/* Does the store still hold what it held at the mark? STATUS_E_STALE: no, *err says why.
 * STATUS_E_IO, STATUS_E_PARSE: it cannot be read. */
MUST_USE enum status store_check_mark(struct store *store, const struct store_mark *mark,
                                      struct err *err);

/* A batch: begin, add rows, commit. A failure discards the whole batch; call store_rollback()
 * and add the same rows again later.
 *
 * STATUS_E_IO: disk full, read-only, locked, broken. STATUS_E_PARSE: the file is damaged.
 * STATUS_E_ARG (store_add): a text or number beyond its limit; the batch is still good. */
MUST_USE enum status store_begin(struct store *store, struct err *err);
MUST_USE enum status store_add(struct store *store, const struct store_row *row, bool *is_new,
                               struct err *err); /* is_new: false if the store had it already */
MUST_USE enum status store_commit(struct store *store, struct err *err);
void store_rollback(struct store *store);

/* Returns the counts of the last committed batch. */
struct store_counts store_read_counts(const struct store *store);

/* Would store_add() accept this row? */
bool store_row_is_valid(const struct store_row *row);

/* Removes at most limit rows of each kind older than before_us, in its own batch. *removed
 * counts them; if it is below limit, none is left. */
MUST_USE enum status store_remove_before(struct store *store, int64_t before_us, int limit,
                                         uint64_t *removed, struct err *err);

/* Did SQLite fail to write its log back into the file since this was asked last? It tries again
 * with each commit; the rows are safe, the log grows. */
MUST_USE enum status store_check_wal(struct store *store, struct err *err);

/* Add up some thousands of entries for charts, in a batch of its own: those that came before
 * this version of the store, or faster than they could be added up. *more: there are others. */
MUST_USE enum status store_fold(struct store *store, bool *more, struct err *err);

/* Is there work for store_fold(), as far as known? */
bool store_is_due(const struct store *store);

/* Receives a row; must not use the store or reader. Return false to stop. row and its texts are
 * valid during the call. */
typedef bool store_row_fn(void *context, const struct store_row *row);

/* --- reading -------------------------------------------------------------------------- */

struct store_reader;

/* Opens a reader of the file that a struct store writes. Statuses like store_open(), and
 * STATUS_E_IO if there is no such file. */
MUST_USE enum status store_reader_open(const struct store_params *params,
                                       struct store_reader **out, struct err *err);

/* NULL is allowed. */
void store_reader_close(struct store_reader *reader);

/* Does the path still lead to the file that it reads? */
bool store_reader_is_in_place(const struct store_reader *reader);

/* Reads one page. next_cursor becomes "" at the end, else the position to continue (also after
 * row returned false). Rows added or removed in between neither shift nor repeat anything. The
 * cost does not depend on the size of the store.
 *
 * STATUS_E_PARSE: not a cursor of this query, or the file is damaged. STATUS_E_RANGE: limit.
 * STATUS_E_IO. Rows may have been passed on before a failure. */
MUST_USE enum status store_query(struct store_reader *reader, const struct store_query *query,
                                 store_row_fn *row, void *context,
                                 char next_cursor[STORE_CURSOR_MAX], struct err *err);

/* Does the store have a row of this kind, pair, time and id, and (except for entries) type,
 * under any number? Statuses as above. */
MUST_USE enum status store_holds(struct store_reader *reader, const struct store_row *row,
                                 bool *holds, struct err *err);

/* on: all further reads see one moment and take no locks; writes of others wait in the file's
 * log. off: each read stands alone again. A failure does no harm. */
void store_reader_hold(struct store_reader *reader, bool on);

/* Reads up to limit rows of a kind with seq > after, in the order of storing. STATUS_E_IO,
 * STATUS_E_PARSE as above. */
MUST_USE enum status store_since(struct store_reader *reader, enum store_kind kind,
                                 uint64_t after, int limit, store_row_fn *row, void *context,
                                 struct err *err);

/* Returns the highest seq of a kind; 0: none. */
MUST_USE enum status store_last_seq(struct store_reader *reader, enum store_kind kind,
                                    uint64_t *seq, struct err *err);

/* Sums of the entries in an interval. */
struct store_bucket {
    int64_t first_us; /* time of its oldest entry */
    uint64_t count;   /* entries, >= 1 */
    uint64_t values;  /* entries with a lag; 0: min and max are undefined */
    double min, max, sum;
    uint64_t inconsistent;
    uint64_t verdicts[VERDICT_COUNT];
};

/* Starts with *to all 0. */
void store_bucket_add(struct store_bucket *to, const struct store_bucket *from);

/* Return false to stop. */
typedef bool store_bucket_fn(void *context, const struct store_bucket *bucket);

/* Returns the widest stored bucket width <= width_us, or 1 us at least. */
int64_t store_width_below(int64_t width_us);

/* Reads the entries of a pair with since_us <= t < until_us, newest first, summed so that no
 * bucket crosses a multiple of width_us, which store_width_below() returned. Reads a few rows
 * per multiple, however many entries there are. Statuses as above. */
MUST_USE enum status store_series(struct store_reader *reader, const char *pair,
                                  int64_t since_us, int64_t until_us, int64_t width_us,
                                  store_bucket_fn *emit, void *context, struct err *err);

/* Returns the times of the oldest and newest of them; *any false: none, times unchanged. */
MUST_USE enum status store_span(struct store_reader *reader, const char *pair, int64_t since_us,
                                int64_t until_us, bool *any, int64_t *oldest_us,
                                int64_t *newest_us, struct err *err);

/* --- SQLite only ----------------------------------------------------------------------- */

/* Writes the SQL of store_query(). Parameters: 1 limit, 2 the other end of the time range, 3
 * t_us, 4 n, 5 pair of the cursor or of the query, 6 type. */
void store_query_sql(const struct store_query *query, char sql[STORE_SQL_MAX]);

/* Longest time to rewrite one entry on a slow machine. */
enum { STORE_UPDATE_ROW_US = 200 };

/* Counts the entries that store_open() will have to rewrite. 0: none, or the store cannot be
 * read; store_open() then reports why. */
int64_t store_outdated_entries(const char *path);

#endif
