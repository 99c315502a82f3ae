/* logger/storage/store_sqlite.h - shared by the files of the SQLite store: its connection, its
 * statements and its buckets. Private to them.
 */
#ifndef LOGGER_STORAGE_STORE_SQLITE_H
#define LOGGER_STORAGE_STORE_SQLITE_H

#include <sqlite3.h>

#include "logger/storage/file_place.h"
#include "logger/storage/store_parts.h"

struct store_connection {
    sqlite3 *db;
    char *path;
    struct file_place place; /* the file that db reads and writes */
};

/* Statements of a reader, prepared at first use and closed with the connection. */
struct bucket_reader {
    struct bucket_source source;
    const struct store_connection *c;
    sqlite3_stmt *stored[STORE_WIDTHS], *entries[2];
};

void bucket_reader_init(struct bucket_reader *reader, const struct store_connection *c);

/* Statements of a writer. */
struct bucket_writer {
    struct bucket_target target;
    struct bucket_reader reader;
    sqlite3_stmt *folded, *end, *insert_bucket, *insert_folded, *due;
};

void bucket_writer_init(struct bucket_writer *writer, const struct store_connection *c);

/* Updates the buckets after the oldest entries were removed. */
int remove_buckets(const struct store_connection *c);

/* --- the connection that writes ---------------------------------------------------------- */

struct store_sqlite {
    struct store base;
    struct store_connection c;
    struct store_params params; /* its path is the member `path` */
    char *path;
    struct file_place wal; /* SQLite's "-wal" file next to it */
    sqlite3_stmt *add[STORE_KIND_COUNT];
    sqlite3_stmt *find[STORE_KIND_COUNT]; /* finds a backfilled row; prepared at first use */
    struct bucket_writer buckets;
    int wal_code;                    /* why the WAL was not written back of late; 0: it was */
    bool began;                      /* this run is recorded among the runs */
    uint32_t again;                  /* the backfill attempt, */
    int64_t first[STORE_KIND_COUNT]; /* the lowest seq before it, */
    int64_t place[STORE_KIND_COUNT]; /* and the lowest seq now */
};

/* --- the tables, version by version (store_schema.c) ---------------------------------------
 */

enum {
    STORE_SCHEMA_VERSION = 13,
    STORE_SCHEMA_REWRITTEN = 12 /* the last version whose step rewrites all entries */
};

/* Step [v] updates a store from version v to v + 1, in a transaction. A released step never
 * changes. */
extern const char *const store_schema_steps[STORE_SCHEMA_VERSION];

/* Creates the file if missing, and denies access to the file and to SQLite's -wal and -shm to
 * all but owner and group, whatever the umask. An existing file is not opened, because closing
 * it would drop this process's locks on it. Failures are left to SQLite to report. path "":
 * does nothing. */
void store_close_to_others(const char *path);

/* --- the connection ------------------------------------------------------------------------
 */

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

/* --- reading: functions of struct store_engine -------------------------------------------- */

enum status store_sqlite_reader_open(const struct store_params *params,
                                     struct store_reader **out, struct err *err);
void store_sqlite_reader_close(struct store_reader *reader);
bool store_sqlite_reader_is_in_place(const struct store_reader *reader);
enum status store_sqlite_query(struct store_reader *reader, const struct store_query *query,
                               const struct store_key *from, store_row_fn *row, void *context,
                               struct err *err);
enum status store_sqlite_holds(struct store_reader *reader, const struct store_row *row,
                               bool *holds, struct err *err);
void store_sqlite_hold(struct store_reader *reader, bool on);
enum status store_sqlite_since(struct store_reader *reader, enum store_kind kind,
                               uint64_t after, int limit, store_row_fn *row, void *context,
                               struct err *err);
enum status store_sqlite_last_seq(struct store_reader *reader, enum store_kind kind,
                                  uint64_t *seq, struct err *err);
enum status store_sqlite_series(struct store_reader *reader, int level, const char *pair,
                                int64_t since_us, int64_t until_us, store_bucket_fn *emit,
                                void *context, struct err *err);
enum status store_sqlite_span(struct store_reader *reader, const char *pair, int64_t since_us,
                              int64_t until_us, bool *any, int64_t *oldest_us,
                              int64_t *newest_us, struct err *err);

#endif
