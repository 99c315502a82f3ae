/* logger/storage/store_postgresql.h - shared by the files of the store in PostgreSQL: its
 * connection, and reading rows and buckets over it. Private to them. Tables:
 * store_postgresql.sql.
 */
#ifndef LOGGER_STORAGE_STORE_POSTGRESQL_H
#define LOGGER_STORAGE_STORE_POSTGRESQL_H

#include "logger/storage/postgresql.h"
#include "logger/storage/store_parts.h"

enum {
    STORE_BATCH_ROWS = 1000,      /* of one statement */
    STORE_BATCH_BYTES = 4 << 20,  /* the texts of one statement */
    STORE_DATABASE_MAX_ITEMS = 15 /* values of one statement */
};

/* Selects the rows of the lab that owns the pair $n: those of an earlier owner stay in the
 * tables. Written so that the planner expects most rows to pass. */
#define STORE_DATABASE_OF_OWNER(n)                                                             \
    " AND coalesce(p = (SELECT nullif(o.p, '') FROM pairs o WHERE o.pair = $" #n "), true)"

/* A connection and what its last statement did. Functions return 0, or 1 and fill err. */
struct store_database {
    struct postgresql *connection; /* NULL: closed */
    struct store_params params;
    struct err err;
    char sqlstate[6];            /* of the last error of the server */
    struct bucket_source source; /* reads over this connection */
};

/* Connects. */
int store_database_open(struct store_database *db, enum postgresql_wanted wanted);
void store_database_close(struct store_database *db);

/* Is it connected, as far as known? */
bool store_database_is_open(const struct store_database *db);

/* Runs a statement. result: NULL, or to be freed by postgresql_result_free(). */
int store_database_run(struct store_database *db, const char *what, const char *sql,
                       const struct postgresql_value *values, size_t count,
                       struct postgresql_result *result);

/* Returns STATUS_OK for 0, else STATUS_E_IO with the error of the connection. */
enum status store_database_status(const struct store_database *db, int code, struct err *err);

/* Reads a number, 0 if there is no row. values[count] are $1 ... */
int store_database_number(struct store_database *db, const char *what, const char *sql,
                          const struct postgresql_value *values, size_t count, int64_t *out);

/* Is the last error one of the values, so that sending them again is no use? */
bool store_database_is_data_error(const struct store_database *db);

/* Returns a real number; NaN for null. */
double store_database_real(const struct postgresql_result *result, size_t row, size_t column);

/* --- reading: functions of struct store_engine -------------------------------------------- */

enum status store_postgresql_reader_open(const struct store_params *params,
                                         struct store_reader **out, struct err *err);
void store_postgresql_reader_close(struct store_reader *reader);
bool store_postgresql_reader_is_in_place(const struct store_reader *reader);
enum status store_postgresql_query(struct store_reader *reader, const struct store_query *query,
                                   const struct store_key *from, store_row_fn *row,
                                   void *context, struct err *err);
enum status store_postgresql_holds(struct store_reader *reader, const struct store_row *row,
                                   bool *holds, struct err *err);
void store_postgresql_hold(struct store_reader *reader, bool on);
enum status store_postgresql_since(struct store_reader *reader, enum store_kind kind,
                                   uint64_t after, int limit, store_row_fn *row, void *context,
                                   struct err *err);
enum status store_postgresql_last_seq(struct store_reader *reader, enum store_kind kind,
                                      uint64_t *seq, struct err *err);
enum status store_postgresql_series(struct store_reader *reader, int level, const char *pair,
                                    int64_t since_us, int64_t until_us, store_bucket_fn *emit,
                                    void *context, struct err *err);
enum status store_postgresql_span(struct store_reader *reader, const char *pair,
                                  int64_t since_us, int64_t until_us, bool *any,
                                  int64_t *oldest_us, int64_t *newest_us, struct err *err);

#endif
