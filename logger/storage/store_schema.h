/* logger/storage/store_schema.h - the tables, their versions, and the texts of the statements.
 * Private to the store and its tests. */
#ifndef LOGGER_STORAGE_STORE_SCHEMA_H
#define LOGGER_STORAGE_STORE_SCHEMA_H

#include <sqlite3.h>

#include "base/err.h"
#include "logger/storage/store_row.h"

enum { STORE_SCHEMA_VERSION = 5, STORE_SQL_MAX = 1024 };

/* The version of the tables, 0 for an empty file; changes nothing. Statuses as for
 * store_open(). */
MUST_USE enum status store_schema_version(sqlite3 *db, const char *path, int64_t *version,
                                          struct err *err);

/* Bring the tables up to STORE_SCHEMA_VERSION, each step in a transaction. Statuses as for
 * store_open(). */
MUST_USE enum status store_schema_update(sqlite3 *db, const char *path, struct err *err);

/* Check without writing: STATUS_OK only for the present version. */
MUST_USE enum status store_schema_check(sqlite3 *db, const char *path, struct err *err);

/* The bare tables of a spool. */
MUST_USE enum status store_schema_spool(sqlite3 *db, const char *path, struct err *err);

/* The statement of store_query(). Parameters: 1 limit, 2 the other end of the time range, 3
 * t_us, 4 pair, 5 n of the cursor, 6 pair, 7 type. */
void store_schema_query(const struct store_query *query, char sql[STORE_SQL_MAX]);

const char *store_schema_table(enum store_kind kind);       /* "entries" */
const char *store_schema_type_column(enum store_kind kind); /* "verdict" */

/* The row under a statement whose columns are those of store_schema_query(). Texts are borrowed
 * until its next step. */
void store_schema_get_row(sqlite3_stmt *statement, enum store_kind kind, struct store_row *row);

/* Borrows the text. */
int store_schema_bind_text(sqlite3_stmt *statement, int at, const char *text);

/* Turn a SQLite result into a status and *err. */
enum status store_schema_fail(sqlite3 *db, const char *path, int code, const char *what,
                              struct err *err);

#endif
