/* logger/storage/postgresql.h - a connection to PostgreSQL that never waits longer than its
 * caller allows.
 *
 * The other files of the engine call this and never libpq. Values reach SQL as parameters only.
 *
 * A *target* knows the servers, the user and the password. Threads may share it. A *connection*
 * and its results belong to one thread at a time. Every wait has a limit of ours, because
 * libpq's is 2 s at least, and because statement_timeout does not end the wait for a standby.
 * A statement is never cancelled: a cancelled commit would report success. After a limit has
 * passed the connection is broken: close it, and ask on a new one what happened.
 *
 * Sessions run with TimeZone UTC, client_encoding UTF8, synchronous_commit on, real numbers with
 * all of their digits, and the schema POSTGRESQL_SCHEMA as search path. A build without libpq
 * (TANDEM_POSTGRESQL=OFF) refuses to create a target.
 */
#ifndef LOGGER_STORAGE_POSTGRESQL_H
#define LOGGER_STORAGE_POSTGRESQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/errors/err.h"

#define POSTGRESQL_SCHEMA "tandem"

enum {
    POSTGRESQL_SERVERS_MAX = 8,
    POSTGRESQL_VALUES_MAX = 32,
    POSTGRESQL_VALUE_BYTES_MAX = 64 << 20 /* all values of one statement */
};

struct postgresql_server {
    const char *host; /* a name or a numeric address */
    unsigned port;    /* 1 to 65535 */
};

struct postgresql_params {
    const struct postgresql_server *servers;
    size_t server_count; /* 1 to POSTGRESQL_SERVERS_MAX */
    const char *database, *user;
    const char *password_file; /* its first line; NULL: the server asks for no password */
    const char *ca_file;       /* TLS with verify-full; NULL: no TLS, only to loopback */
    const char *application;   /* shown in pg_stat_activity */
    bool any_encoding;         /* of the database; only names are read or created there */
};

struct postgresql_target;
struct postgresql;

/* Copies the parameters, then does what postgresql_target_refresh() does. It also removes the
 * PG* variables from the environment, which libpq would read: call it before threads start. */
MUST_USE enum status postgresql_target_create(const struct postgresql_params *params,
                                              struct postgresql_target **out, struct err *err);

void postgresql_target_destroy(struct postgresql_target *target); /* NULL is allowed */

/* Reads the password file and resolves the names again. This can block for as long as name
 * servers do. After a failure the target keeps what it had. A name that does not resolve fails
 * only if no other one does. Thread-safe. */
MUST_USE enum status postgresql_target_refresh(struct postgresql_target *target,
                                               struct err *err);

enum postgresql_wanted {
    POSTGRESQL_WRITABLE, /* of several the one with the newest timeline */
    POSTGRESQL_ANY       /* the first that answers, a standby too */
};

/* Connects to all servers at once, and takes one. Refuses a database whose encoding is not UTF8
 * (unless any is allowed), and servers older than version 14. *err has the fault DATABASE_REFUSED or BAD_CERTIFICATE if
 * a person must act, DATABASE_READ_ONLY if only standbys answer, DATABASE_UNREACHABLE if none
 * does. */
MUST_USE enum status postgresql_open(struct postgresql_target *target,
                                     enum postgresql_wanted wanted, int64_t limit_ms,
                                     struct postgresql **out, struct err *err);

void postgresql_close(struct postgresql *connection); /* NULL is allowed; never waits */

/* True after a limit has passed or the connection was lost. Only closing it helps. */
bool postgresql_is_broken(const struct postgresql *connection);

/* "HOST:PORT" of the server. */
const char *postgresql_address(const struct postgresql *connection);

/* The version of the server, such as 150018. */
int postgresql_version(const struct postgresql *connection);

/* The form in which the server stores a password (SCRAM), so that its log never shows it. */
enum { POSTGRESQL_VERIFIER_MAX = 512 };
MUST_USE enum status postgresql_encrypt_password(struct postgresql *connection,
                                                 const char *user, const char *password,
                                                 char out[POSTGRESQL_VERIFIER_MAX],
                                                 struct err *err);

/* --- statements --------------------------------------------------------------------------- */

struct postgresql_text {
    const char *at; /* NULL: null */
    size_t bytes;
};

enum postgresql_kind {
    POSTGRESQL_NULL,
    POSTGRESQL_NUMBER,  /* bigint */
    POSTGRESQL_REAL,    /* double precision; NaN is null */
    POSTGRESQL_TEXT,    /* text; NULL is null */
    POSTGRESQL_BYTES,   /* bytea */
    POSTGRESQL_NUMBERS, /* bigint[] */
    POSTGRESQL_REALS,   /* double precision[]; NaN is null */
    POSTGRESQL_TEXTS    /* text[] */
};

/* A parameter, borrowed for the call. The SQL casts other types: $1::uuid. */
struct postgresql_value {
    enum postgresql_kind kind;
    union {
        int64_t number;
        double real;
        struct postgresql_text text;         /* TEXT and BYTES */
        const int64_t *numbers;              /* [count] */
        const double *reals;                 /* [count] */
        const struct postgresql_text *texts; /* [count] */
    };
    size_t count; /* items of an array */
};

static inline struct postgresql_value postgresql_number(int64_t number)
{
    return (struct postgresql_value){.kind = POSTGRESQL_NUMBER, .number = number};
}

static inline struct postgresql_value postgresql_real(double real)
{
    return (struct postgresql_value){.kind = POSTGRESQL_REAL, .real = real};
}

static inline struct postgresql_value postgresql_text(const char *text)
{
    return (struct postgresql_value){.kind = POSTGRESQL_TEXT,
                                     .text = {text, text ? strlen(text) : 0}};
}

static inline struct postgresql_value postgresql_bytes(const void *bytes, size_t count)
{
    return (struct postgresql_value){.kind = POSTGRESQL_BYTES, .text = {bytes, count}};
}

static inline struct postgresql_value postgresql_numbers(const int64_t *numbers, size_t count)
{
    return (struct postgresql_value){
        .kind = POSTGRESQL_NUMBERS, .numbers = numbers, .count = count};
}

static inline struct postgresql_value postgresql_reals(const double *reals, size_t count)
{
    return (struct postgresql_value){.kind = POSTGRESQL_REALS, .reals = reals, .count = count};
}

static inline struct postgresql_value postgresql_texts(const struct postgresql_text *texts,
                                                       size_t count)
{
    return (struct postgresql_value){.kind = POSTGRESQL_TEXTS, .texts = texts, .count = count};
}

struct postgresql_statement {
    const char *what; /* "store entries": for errors, "PostgreSQL cannot store entries: …" */
    const char *sql;  /* one statement; its result must be bounded, by LIMIT */
    const struct postgresql_value *values; /* [count] $1, $2, … */
    size_t count;                          /* at most POSTGRESQL_VALUES_MAX */
    int64_t limit_ms;
    bool raw; /* values of the result as PostgreSQL has them in memory: text and bytea as bytes
               */
};

/* The outcome of a statement, also of one that failed. */
struct postgresql_result {
    size_t rows, columns;
    int64_t affected;  /* rows that INSERT, UPDATE or DELETE changed */
    char sqlstate[6];  /* the server's code of the error; "": none */
    bool in_doubt;     /* no answer came: the statement may still be carried out, even later */
    bool warned;       /* a WARNING came: a commit may be on this server only, so not durable */
    char warning[160]; /* its text */
    void *values;      /* private */
};

/* Runs one statement. *result is always filled, and freed by postgresql_result_free(). It may
 * be NULL if nothing of it matters. STATUS_E_IO: the server refused (sqlstate), or no answer
 * came (in_doubt). STATUS_E_RANGE: the values are too large, and nothing was sent. */
MUST_USE enum status postgresql_run(struct postgresql *connection,
                                    const struct postgresql_statement *statement,
                                    struct postgresql_result *result, struct err *err);

/* Runs a text of several statements without parameters, such as the schema, as one transaction
 * unless it has its own. Only for texts of this program. */
MUST_USE enum status postgresql_run_script(struct postgresql *connection, const char *what,
                                           const char *sql, int64_t limit_ms, struct err *err);

/* A value, with a 0 behind its last byte; NULL: null. *bytes (may be NULL) is its length. It is
 * valid until the result is freed. */
const char *postgresql_result_text(const struct postgresql_result *result, size_t row,
                                   size_t column, size_t *bytes);

/* A value as a number; 0 for null. */
int64_t postgresql_result_number(const struct postgresql_result *result, size_t row,
                                 size_t column);

void postgresql_result_free(struct postgresql_result *result); /* all zero is allowed */

#endif
