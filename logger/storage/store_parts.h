/* logger/storage/store_parts.h - shared by the files of the store: what an engine (SQLite,
 * PostgreSQL) implements, and the sums of entries that both keep. Private to them.
 */
#ifndef LOGGER_STORAGE_STORE_PARTS_H
#define LOGGER_STORAGE_STORE_PARTS_H

#include "logger/storage/store.h"

/* Place of a row in a list. */
struct store_key {
    int64_t t_us;
    int64_t n;
    char pair[EVENT_PAIR_MAX];
};

enum {
    STORE_MEMBER_MAX = 8 * EVENT_VERSION_MAX, /* a member of a record, with escapes */
    STORE_QUERY_SHAPES = 256                  /* results of store_query_shape() */
};

/* Functions of an engine, as the functions of store.h that bear their names, except: */
struct store_engine {
    enum status (*open)(const struct store_params *params, struct store **out, struct err *err);
    void (*close)(struct store *store);
    enum status (*reopen)(struct store *store, struct err *err);
    bool (*is_in_place)(const struct store *store);
    enum status (*check_mark)(struct store *store, const struct store_mark *mark,
                              struct err *err);
    enum status (*begin)(struct store *store, struct err *err);
    /* The row is valid. Counts it in `next` and `adding`. */
    enum status (*add)(struct store *store, const struct store_row *row, bool *is_new,
                       struct err *err);
    enum status (*commit)(struct store *store, struct err *err);
    void (*rollback)(struct store *store);
    /* Within a batch. Adds to *removed. */
    enum status (*remove)(struct store *store, enum store_kind kind, int64_t before_us,
                          int limit, uint64_t *removed, struct err *err);
    enum status (*check_wal)(struct store *store, struct err *err); /* NULL: never fails */
    enum status (*fold)(struct store *store, bool *more, struct err *err);

    enum status (*reader_open)(const struct store_params *params, struct store_reader **out,
                               struct err *err);
    void (*reader_close)(struct store_reader *reader);
    bool (*reader_is_in_place)(const struct store_reader *reader);
    /* Passes on the rows behind the key, until row() returns false or after limit + 1 rows. */
    enum status (*query)(struct store_reader *reader, const struct store_query *query,
                         const struct store_key *from, store_row_fn *row, void *context,
                         struct err *err);
    enum status (*holds)(struct store_reader *reader, const struct store_row *row, bool *holds,
                         struct err *err);
    void (*hold)(struct store_reader *reader, bool on);
    enum status (*since)(struct store_reader *reader, enum store_kind kind, uint64_t after,
                         int limit, store_row_fn *row, void *context, struct err *err);
    enum status (*last_seq)(struct store_reader *reader, enum store_kind kind, uint64_t *seq,
                            struct err *err);
    /* Calls bucket_read() with this level, on one moment of the store. */
    enum status (*series)(struct store_reader *reader, int level, const char *pair,
                          int64_t since_us, int64_t until_us, store_bucket_fn *emit,
                          void *context, struct err *err);
    enum status (*span)(struct store_reader *reader, const char *pair, int64_t since_us,
                        int64_t until_us, bool *any, int64_t *oldest_us, int64_t *newest_us,
                        struct err *err);
};

extern const struct store_engine store_sqlite, store_postgresql;

/* First member of an engine's store. */
struct store {
    const struct store_engine *engine;
    struct store_mark mark;     /* as of the last commit */
    struct store_mark next;     /* in the open batch */
    struct store_counts counts; /* of the last batch committed */
    struct store_counts adding; /* of the open batch */
    bool due;                   /* entries wait to be added up */
};

/* First member of an engine's reader. */
struct store_reader {
    const struct store_engine *engine;
};

struct store_table {
    const char *table, *type_column, *own_columns; /* own_columns: those of entries only */
};

extern const struct store_table store_tables[STORE_KIND_COUNT];

bool store_has_version(const struct store_query *query);

/* The types to look for; NULL: all. */
const char *store_query_type(const struct store_query *query);

/* Which members of the query are set: below STORE_QUERY_SHAPES. Queries of one kind and shape
 * differ only in values. */
size_t store_query_shape(const struct store_query *query);

/* Writes the version's member as records have it. "": no version is asked for, and every record
 * has it. */
const char *store_version_member(const struct store_query *query, enum side side,
                                 char out[STORE_MEMBER_MAX]);

/* Is the record one of a team's command? Only such a record is parsed for team, job and task.
 */
bool store_is_of_team(const struct store_row *row);

/* --- buckets of entries -----------------------------------------------------------------
 *
 * Buckets are sums of a pair's entries by time, so that a chart of any range costs what it
 * draws. The widths are fixed, each a multiple of the one before; a bucket begins at a multiple
 * of its width. For each pair, all entries before a time (in its row of "folded") have been
 * processed. Each bucket before it with STORE_BUCKET_ENTRIES or more entries is stored. A
 * stored bucket is exact. In place of a missing one, narrower buckets and finally the entries
 * are read. */

enum {
    STORE_WIDTHS = 16,
    STORE_BUCKET_ENTRIES = 4, /* fewer entries are as fast to read one by one */
    STORE_FOLD_EVERY = 512    /* entries of a pair per fold */
};

/* One of STORE_WIDTHS, widest last. */
extern const int64_t store_widths_us[STORE_WIDTHS];

/* Receives the bucket that begins at t_us. Return false to stop. */
typedef bool bucket_at_fn(void *context, int64_t t_us, const struct store_bucket *bucket);

/* Reads buckets and entries. Functions return 0, or the engine's own code. */
struct bucket_source {
    /* Passes on the entries in since_us <= t < until_us as buckets of one, in the order of
     * time, lag, verdict and inconsistent. */
    int (*entries)(struct bucket_source *source, const char *pair, int64_t since_us,
                   int64_t until_us, bool newest_first, store_bucket_fn *emit, void *context);
    /* Passes on the stored buckets of a width that lie within the range, newest first. emit may
     * read narrower ones meanwhile. */
    int (*stored)(struct bucket_source *source, int level, const char *pair, int64_t since_us,
                  int64_t until_us, bucket_at_fn *emit, void *context);
};

/* The entries of a pair from a time on. */
struct bucket_ends {
    bool any;          /* there are more than `behind` entries */
    int64_t oldest_us; /* the first one */
    int64_t newest_us; /* the last one but `behind` */
    bool many;         /* there are more than `limit` entries */
    int64_t slice_us;  /* the one behind `limit` others */
};

/* Writes buckets. */
struct bucket_target {
    struct bucket_source *source;
    int (*write)(struct bucket_target *target, const char *pair, int64_t width_us, int64_t t_us,
                 const struct store_bucket *bucket);
    /* The time before which the pair's entries are folded; *any false: none yet. */
    int (*read_folded)(struct bucket_target *target, const char *pair, bool *any,
                       int64_t *folded_us);
    int (*write_folded)(struct bucket_target *target, const char *pair, int64_t until_us,
                        bool due);
    int (*find_ends)(struct bucket_target *target, const char *pair, int64_t from_us, int limit,
                     int behind, struct bucket_ends *ends);
    /* A pair with entries to fold; "": there is none. */
    int (*find_due)(struct bucket_target *target, char pair[EVENT_PAIR_MAX]);
};

/* Reads a pair's entries in since_us <= t < until_us, newest first: buckets of the width
 * `level` and narrower ones, and single entries as buckets of one; level -1: entries only. */
int bucket_read(struct bucket_source *source, int level, const char *pair, int64_t since_us,
                int64_t until_us, store_bucket_fn *emit, void *context);

/* Returns the newest multiple of the width that is not after t_us. */
int64_t bucket_start(int64_t t_us, int64_t width_us);

/* Returns a bucket of one entry. lag_s: NaN: none; verdict: NULL or unknown: not counted. */
struct store_bucket bucket_of_entry(int64_t t_us, double lag_s, const char *verdict,
                                    bool inconsistent);

/* The counts of verdicts as "[3,0,1]". Missing ones at the end are 0. */
enum { BUCKET_VERDICTS_MAX = 256 };
void bucket_parse_verdicts(const char *text, uint64_t verdicts[VERDICT_COUNT]);
void bucket_format_verdicts(const uint64_t verdicts[VERDICT_COUNT],
                            char out[BUCKET_VERDICTS_MAX]);

/* Adds a new entry to the stored buckets that contain it. Now and then it folds the waiting
 * entries, some thousands at most. *due: more are left, of any pair. */
int bucket_add(struct bucket_target *target, const struct store_row *row, bool *due);

/* The halves of bucket_add(), for an engine that knows which entries are older than the folded
 * time. */
int bucket_add_late(struct bucket_target *target, const char *pair, int64_t t_us,
                    int64_t folded_us);
int bucket_fold_pair(struct bucket_target *target, const char *pair, bool *more);

/* Folds some thousands of the waiting entries. */
int bucket_fold(struct bucket_target *target, bool *due);

#endif
