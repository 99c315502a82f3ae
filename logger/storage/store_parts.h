/* logger/storage/store_parts.h - what the files of the store share: a connection to SQLite, its
 * statements, and the tables by kind. For its own files alone.
 */
#ifndef LOGGER_STORAGE_STORE_PARTS_H
#define LOGGER_STORAGE_STORE_PARTS_H

#include <sqlite3.h>

#include "logger/storage/file_place.h"
#include "logger/storage/store.h"

struct store_connection {
    sqlite3 *db;
    char *path;
    struct file_place place; /* of the file that db reads and writes */
};

/* --- buckets of entries ----------------------------------------------------------------- *
 *
 * Entries of a pair added up by time, so that a chart of any span costs what it draws. There
 * are fixed widths, each a multiple of the one before; a bucket begins at a multiple of its
 * width. Of each pair everything before a time (of its row in "folded") has been gone through,
 * and each bucket that lies before it and has STORE_BUCKET_ENTRIES or more is kept. One that is
 * kept is exact. One that is not says nothing: narrower ones, and in the end the entries, are
 * read in its place. */

enum {
    STORE_WIDTHS = 16,
    STORE_BUCKET_ENTRIES = 4 /* fewer are read as fast one by one */
};

/* One of STORE_WIDTHS, widest last. */
extern const int64_t store_widths_us[STORE_WIDTHS];

/* Its statements, prepared when they are first needed; closed with the connection. */
struct bucket_reader {
    const struct store_connection *c;
    sqlite3_stmt *stored[STORE_WIDTHS], *entries;
};

/* What there is of a pair in since_us <= t < until_us, newest first: buckets of the width
 * `level` and narrower ones, and entries as buckets of one; level -1: entries alone. Returns
 * SQLite's code. */
int bucket_read(struct bucket_reader *reader, int level, const char *pair, int64_t since_us,
                int64_t until_us, store_bucket_fn *emit, void *context);

/* The newest multiple of the width that is not after the time. */
int64_t bucket_start(int64_t t_us, int64_t width_us);

/* The same, of who writes. */
struct bucket_writer {
    struct bucket_reader reader;
    sqlite3_stmt *folded, *end, *rows, *insert_bucket, *insert_folded, *due;
};

/* Of an entry that was just added: into those kept buckets that it belongs to, or now and then
 * all that has gathered is folded, some thousands at most. *due: more is left, of any pair. */
int bucket_add(struct bucket_writer *writer, const struct store_row *row, bool *due);

/* Fold some of what is due, some thousands of entries. */
int bucket_fold(struct bucket_writer *writer, bool *due);

/* After entries were removed that are older than all others. */
int bucket_remove(const struct store_connection *c);

/* --- the connection that writes ---------------------------------------------------------- */

struct store {
    struct store_connection c;
    struct store_params params; /* its path is this one */
    char *path;
    struct file_place wal; /* what SQLite keeps beside the file, "-wal" */
    sqlite3_stmt *add[STORE_KIND_COUNT];
    sqlite3_stmt *find[STORE_KIND_COUNT]; /* a row made again; prepared when needed */
    sqlite3_stmt *count;
    struct bucket_writer buckets;
    bool due;                        /* entries wait to be added up */
    int wal_code;                    /* why the WAL was not written back of late; 0: it was */
    struct store_mark mark;          /* as of the last commit */
    struct store_mark next;          /* as of the batch at hand */
    bool began;                      /* this run stands among the runs */
    uint32_t again;                  /* the attempt to make rows again, */
    int64_t first[STORE_KIND_COUNT]; /* and the lowest seq before it */
    int64_t place[STORE_KIND_COUNT]; /* and the lowest now */
};

struct store_table {
    const char *table, *type_column, *own_columns; /* those that entries alone have */
};

extern const struct store_table store_tables[STORE_KIND_COUNT];

/* Turn a SQLite result into a status and *err. */
enum status store_fail(const struct store_connection *c, int code, const char *what,
                       struct err *err);

enum status store_connect(struct store_connection *c, const char *path, int flags,
                          const char *vfs, int busy_ms, struct err *err);

/* With all its statements. */
void store_disconnect(struct store_connection *c);

enum status PRINTF_LIKE(4, 5) store_run_sql(const struct store_connection *c, const char *what,
                                            struct err *err, const char *format, ...);

/* Unless it is prepared already. */
int PRINTF_LIKE(3, 4) store_prepare(const struct store_connection *c, sqlite3_stmt **statement,
                                    const char *format, ...);

/* Bind values from the first parameter on: 'i' int64_t, 't' const char * (NULL: null),
 * borrowed, 'r' double (NaN: null). */
int store_bind(sqlite3_stmt *statement, const char *types, ...);

/* A statement without rows, to its end. */
int store_step_once(sqlite3_stmt *statement);

/* A lag as it stands in a column; null: NaN. */
double store_lag_at(sqlite3_stmt *statement, int column);

/* The first column of the first row as a number, 0 when there is none. */
int store_query_number(const struct store_connection *c, const char *sql, int64_t *out);

/* The version of its tables, 0 for an empty file; changes nothing. */
enum status store_read_version(const struct store_connection *c, int64_t *version,
                               struct err *err);

#endif
