/* logger/storage/store_parts.h - shared by the files of the store: a connection to SQLite, its
 * statements, and the tables by kind. Private to them.
 */
#ifndef LOGGER_STORAGE_STORE_PARTS_H
#define LOGGER_STORAGE_STORE_PARTS_H

#include <sqlite3.h>

#include "logger/storage/file_place.h"
#include "logger/storage/store.h"

struct store_connection {
    sqlite3 *db;
    char *path;
    struct file_place place; /* the file that db reads and writes */
};

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
    STORE_BUCKET_ENTRIES = 4 /* fewer entries are as fast to read one by one */
};

/* One of STORE_WIDTHS, widest last. */
extern const int64_t store_widths_us[STORE_WIDTHS];

/* Statements of a reader, prepared at first use and closed with the connection. */
struct bucket_reader {
    const struct store_connection *c;
    sqlite3_stmt *stored[STORE_WIDTHS], *entries;
};

/* Reads a pair's entries in since_us <= t < until_us, newest first: buckets of the width
 * `level` and narrower ones, and single entries as buckets of one; level -1: entries only.
 * Returns SQLite's code. */
int bucket_read(struct bucket_reader *reader, int level, const char *pair, int64_t since_us,
                int64_t until_us, store_bucket_fn *emit, void *context);

/* Returns the newest multiple of the width that is not after t_us. */
int64_t bucket_start(int64_t t_us, int64_t width_us);

/* Statements of a writer. */
struct bucket_writer {
    struct bucket_reader reader;
    sqlite3_stmt *folded, *end, *rows, *insert_bucket, *insert_folded, *due;
};

/* Adds a new entry to the stored buckets that contain it. Now and then it folds the waiting
 * entries, some thousands at most. *due: more are left, of any pair. */
int bucket_add(struct bucket_writer *writer, const struct store_row *row, bool *due);

/* Folds some thousands of the waiting entries. */
int bucket_fold(struct bucket_writer *writer, bool *due);

/* Updates the buckets after the oldest entries were removed. */
int bucket_remove(const struct store_connection *c);

/* --- the connection that writes ---------------------------------------------------------- */

struct store {
    struct store_connection c;
    struct store_params params; /* its path is the member `path` */
    char *path;
    struct file_place wal; /* SQLite's "-wal" file next to it */
    sqlite3_stmt *add[STORE_KIND_COUNT];
    sqlite3_stmt *find[STORE_KIND_COUNT]; /* finds a backfilled row; prepared at first use */
    struct bucket_writer buckets;
    bool due;                        /* entries wait to be added up */
    int wal_code;                    /* why the WAL was not written back of late; 0: it was */
    struct store_mark mark;          /* as of the last commit */
    struct store_mark next;          /* in the open batch */
    bool began;                      /* this run is recorded among the runs */
    uint32_t again;                  /* the backfill attempt, */
    int64_t first[STORE_KIND_COUNT]; /* the lowest seq before it, */
    int64_t place[STORE_KIND_COUNT]; /* and the lowest seq now */
};

struct store_table {
    const char *table, *type_column, *own_columns; /* own_columns: those of entries only */
};

extern const struct store_table store_tables[STORE_KIND_COUNT];

/* Converts a SQLite result into a status and *err. */
enum status store_fail(const struct store_connection *c, int code, const char *what,
                       struct err *err);

enum status store_connect(struct store_connection *c, const char *path, int flags,
                          const char *vfs, int busy_ms, struct err *err);

/* Closes the connection and all its statements. */
void store_disconnect(struct store_connection *c);

enum status PRINTF_LIKE(4, 5) store_run_sql(const struct store_connection *c, const char *what,
                                            struct err *err, const char *format, ...);

/* Prepares the statement unless it is prepared already. */
int PRINTF_LIKE(3, 4) store_prepare(const struct store_connection *c, sqlite3_stmt **statement,
                                    const char *format, ...);

/* Binds values from the first parameter on: 'i' int64_t, 't' const char * (NULL: null),
 * borrowed, 'r' double (NaN: null). */
int store_bind(sqlite3_stmt *statement, const char *types, ...);

/* Runs a statement that returns no rows. */
int store_step_once(sqlite3_stmt *statement);

/* Returns the lag in a column; NaN for null. */
double store_lag_at(sqlite3_stmt *statement, int column);

/* Returns the first column of the first row as a number, 0 if there is none. */
int store_query_number(const struct store_connection *c, const char *sql, int64_t *out);

/* Reads the version of the tables, 0 for an empty file; changes nothing. */
enum status store_read_version(const struct store_connection *c, int64_t *version,
                               struct err *err);

#endif
