/* logger/storage/store_parts.h - what the files of the store share: a connection to SQLite, its
 * statements, and the tables by kind. For store.c and store_reader.c alone.
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

struct store {
    struct store_connection c;
    struct store_params params; /* its path is this one */
    char *path;
    struct file_place wal; /* what SQLite keeps beside the file, "-wal" */
    sqlite3_stmt *add[STORE_KIND_COUNT];
    sqlite3_stmt *find[STORE_KIND_COUNT]; /* a row made again; prepared when needed */
    sqlite3_stmt *count;
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

/* The first column of the first row as a number, 0 when there is none. */
int store_query_number(const struct store_connection *c, const char *sql, int64_t *out);

/* The version of its tables, 0 for an empty file; changes nothing. */
enum status store_read_version(const struct store_connection *c, int64_t *version,
                               struct err *err);

#endif
