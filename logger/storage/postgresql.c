#include "logger/storage/postgresql.h"

#include <endian.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "logger/storage/postgresql_parts.h"

/* Types of PostgreSQL, by their fixed numbers in its catalogue. */
enum {
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_TEXT = 25,
    OID_FLOAT8 = 701,
    OID_TEXTS = 1009,
    OID_INT8S = 1016,
    OID_FLOAT8S = 1022
};

int64_t postgresql_clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool postgresql_wait(PGconn *pg, short events, int64_t until_ms)
{
    struct pollfd ready = {.fd = PQsocket(pg), .events = events};
    for (;;) {
        const int64_t left_ms = until_ms - postgresql_clock_ms();
        const int polled = poll(&ready, 1,
                                left_ms <= 0      ? 0
                                : left_ms > 60000 ? 60000
                                                  : (int)left_ms);
        if (polled > 0) {
            return true;
        }
        if (left_ms <= 0) {
            return false;
        }
    }
}

void postgresql_first_line(const char *message, char *out, size_t size)
{
    (void)snprintf(out, size, "%.*s", (int)strcspn(message, "\n"), message);
}

void postgresql_close(struct postgresql *connection)
{
    if (connection) {
        PQfinish(connection->pg);
        free(connection);
    }
}

bool postgresql_is_broken(const struct postgresql *connection)
{
    return connection->broken;
}

const char *postgresql_address(const struct postgresql *connection)
{
    return connection->address;
}

int postgresql_version(const struct postgresql *connection)
{
    return PQserverVersion(connection->pg);
}

enum status postgresql_encrypt_password(struct postgresql *connection, const char *user,
                                        const char *password, char out[POSTGRESQL_VERIFIER_MAX],
                                        struct err *err)
{
    char *verifier = PQencryptPasswordConn(connection->pg, password, user, "scram-sha-256");
    if (!verifier || strlen(verifier) >= POSTGRESQL_VERIFIER_MAX) {
        PQfreemem(verifier);
        return err_set(err, STATUS_E_IO, FAULT_DATABASE_REFUSED, connection->address,
                       "the password of the user \"%s\" cannot be encrypted", user);
    }
    (void)snprintf(out, POSTGRESQL_VERIFIER_MAX, "%s", verifier);
    PQfreemem(verifier);
    return STATUS_OK;
}

/* --- values, in PostgreSQL's binary form ---------------------------------------------------
 */

struct encoder {
    unsigned char *out; /* NULL: only counts */
    size_t bytes;
};

static void encode_bytes(struct encoder *e, const void *from, size_t bytes)
{
    if (e->out && bytes > 0) {
        memcpy(e->out + e->bytes, from, bytes);
    }
    e->bytes += bytes;
}

static void encode_32(struct encoder *e, uint32_t number)
{
    const uint32_t big = htobe32(number);
    encode_bytes(e, &big, sizeof big);
}

static void encode_number(struct encoder *e, int64_t number)
{
    const uint64_t big = htobe64((uint64_t)number);
    encode_bytes(e, &big, sizeof big);
}

static void encode_real(struct encoder *e, double real)
{
    int64_t bits;
    memcpy(&bits, &real, sizeof bits);
    encode_number(e, bits);
}

/* An item of an array: its length and bytes, length -1 for null. */
static void encode_item(struct encoder *e, const struct postgresql_value *v, size_t i)
{
    if (v->kind == POSTGRESQL_NUMBERS) {
        encode_32(e, sizeof(int64_t));
        encode_number(e, v->numbers[i]);
    } else if (v->kind == POSTGRESQL_REALS ? isnan(v->reals[i]) : !v->texts[i].at) {
        encode_32(e, UINT32_MAX);
    } else if (v->kind == POSTGRESQL_REALS) {
        encode_32(e, sizeof(double));
        encode_real(e, v->reals[i]);
    } else {
        encode_32(e, (uint32_t)v->texts[i].bytes);
        encode_bytes(e, v->texts[i].at, v->texts[i].bytes);
    }
}

static void encode_array(struct encoder *e, const struct postgresql_value *v, uint32_t item)
{
    encode_32(e, v->count > 0); /* dimensions */
    encode_32(e, 1);            /* nulls are possible */
    encode_32(e, item);
    if (v->count > 0) {
        encode_32(e, (uint32_t)v->count);
        encode_32(e, 1); /* the first index */
    }
    for (size_t i = 0; i < v->count; i++) {
        encode_item(e, v, i);
    }
}

/* Appends the value. Returns its type, 0 for null. */
static Oid encode_value(struct encoder *e, const struct postgresql_value *v)
{
    switch (v->kind) {
    case POSTGRESQL_NUMBER:
        encode_number(e, v->number);
        return OID_INT8;
    case POSTGRESQL_REAL:
        encode_real(e, v->real);
        return OID_FLOAT8;
    case POSTGRESQL_TEXT:
    case POSTGRESQL_BYTES:
        encode_bytes(e, v->text.at, v->text.bytes);
        return v->kind == POSTGRESQL_TEXT ? OID_TEXT : OID_BYTEA;
    case POSTGRESQL_NUMBERS:
        encode_array(e, v, OID_INT8);
        return OID_INT8S;
    case POSTGRESQL_REALS:
        encode_array(e, v, OID_FLOAT8);
        return OID_FLOAT8S;
    case POSTGRESQL_TEXTS:
        encode_array(e, v, OID_TEXT);
        return OID_TEXTS;
    case POSTGRESQL_NULL:
        break;
    }
    return 0;
}

static bool is_null(const struct postgresql_value *v)
{
    const bool bytes = v->kind == POSTGRESQL_TEXT || v->kind == POSTGRESQL_BYTES;
    return v->kind == POSTGRESQL_NULL || (v->kind == POSTGRESQL_REAL && isnan(v->real)) ||
           (bytes && !v->text.at);
}

static size_t count_bytes(const struct postgresql_statement *statement)
{
    struct encoder e = {NULL, 0};
    for (size_t i = 0; i < statement->count; i++) {
        if (!is_null(&statement->values[i])) {
            (void)encode_value(&e, &statement->values[i]);
        }
    }
    return e.bytes;
}

static int send_statement(struct postgresql *c, const struct postgresql_statement *statement,
                          struct encoder e)
{
    Oid types[POSTGRESQL_VALUES_MAX] = {0};
    const char *values[POSTGRESQL_VALUES_MAX] = {NULL};
    int lengths[POSTGRESQL_VALUES_MAX] = {0};
    int formats[POSTGRESQL_VALUES_MAX];
    for (size_t i = 0; i < statement->count; i++) {
        formats[i] = 1;
        if (!is_null(&statement->values[i])) {
            const size_t start = e.bytes;
            types[i] = encode_value(&e, &statement->values[i]);
            values[i] = (const char *)e.out + start;
            lengths[i] = (int)(e.bytes - start);
        }
    }
    return PQsendQueryParams(c->pg, statement->sql, (int)statement->count, types, values,
                             lengths, formats, statement->raw);
}

/* --- one statement -------------------------------------------------------------------------
 */

/* Waits for the next result; *out is NULL after the last one. False: time is up, or the
 * connection was lost. */
static bool receive_result(struct postgresql *c, int64_t until_ms, PGresult **out)
{
    for (;;) {
        const int unsent = PQflush(c->pg);
        if (unsent < 0) {
            return false;
        }
        if (unsent == 0 && !PQisBusy(c->pg)) {
            *out = PQgetResult(c->pg);
            return true;
        }
        if (!postgresql_wait(c->pg, (short)(unsent ? POLLIN | POLLOUT : POLLIN), until_ms) ||
            !PQconsumeInput(c->pg)) {
            return false;
        }
    }
}

static bool has_failed(const PGresult *r)
{
    const ExecStatusType status = PQresultStatus(r);
    return status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK;
}

/* Waits for all results. Returns the last one: after an error there are none. NULL: no answer
 * came, and the connection is broken. */
static PGresult *receive_answer(struct postgresql *c, int64_t until_ms)
{
    PGresult *answer = NULL;
    PGresult *next;
    do {
        if (!receive_result(c, until_ms, &next)) {
            c->broken = true;
            PQclear(answer);
            return NULL;
        }
        if (next) {
            PQclear(answer);
            answer = next;
        }
    } while (next);
    c->broken = c->broken || PQstatus(c->pg) != CONNECTION_OK;
    return answer;
}

static enum status fail_answer(struct postgresql *c, const char *what, int64_t limit_ms,
                               const PGresult *answer, struct postgresql_result *result,
                               struct err *err)
{
    const char *state = answer ? PQresultErrorField(answer, PG_DIAG_SQLSTATE) : NULL;
    const char *message = answer ? PQresultErrorField(answer, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    char line[ERR_TEXT_MAX];
    if (state) {
        (void)snprintf(result->sqlstate, sizeof result->sqlstate, "%s", state);
        return err_set(err, STATUS_E_IO, FAULT_STORE_FAILED, c->address,
                       "PostgreSQL cannot %s: %s (SQLSTATE %s)", what, message ? message : "?",
                       state);
    }
    result->in_doubt = true;
    c->broken = true;
    if (PQstatus(c->pg) == CONNECTION_OK) {
        return err_set(err, STATUS_E_IO, FAULT_DATABASE_UNREACHABLE, c->address,
                       "no answer in %.1f s to: %s", (double)limit_ms / 1000.0, what);
    }
    postgresql_first_line(PQerrorMessage(c->pg), line, sizeof line);
    return err_set(err, STATUS_E_IO, FAULT_DATABASE_UNREACHABLE, c->address,
                   "the connection was lost during: %s: %s", what, line);
}

/* Receives the answer to what was sent (`sent` is what libpq returned) into *result. */
static enum status finish_statement(struct postgresql *c, int sent, const char *what,
                                    int64_t limit_ms, struct postgresql_result *result,
                                    struct err *err)
{
    PGresult *answer = sent ? receive_answer(c, postgresql_clock_ms() + limit_ms) : NULL;
    result->warned = c->warned;
    memcpy(result->warning, c->warning, sizeof result->warning);
    if (!answer || has_failed(answer)) {
        const enum status status = fail_answer(c, what, limit_ms, answer, result, err);
        PQclear(answer);
        return status;
    }
    result->values = answer;
    result->rows = (size_t)PQntuples(answer);
    result->columns = (size_t)PQnfields(answer);
    result->affected = strtoll(PQcmdTuples(answer), NULL, 10);
    return STATUS_OK;
}

static enum status begin_statement(struct postgresql *c, const char *what, struct err *err)
{
    c->warned = false;
    c->warning[0] = '\0';
    return c->broken ? err_set(err, STATUS_E_IO, FAULT_DATABASE_UNREACHABLE, c->address,
                               "the connection is lost; not sent: %s", what)
                     : STATUS_OK;
}

enum status postgresql_run(struct postgresql *connection,
                           const struct postgresql_statement *statement,
                           struct postgresql_result *result, struct err *err)
{
    struct postgresql_result unused;
    struct postgresql_result *out = result ? result : &unused;
    *out = (struct postgresql_result){0};
    enum status status = begin_statement(connection, statement->what, err);
    if (status != STATUS_OK) {
        return status;
    }
    const size_t bytes = count_bytes(statement);
    if (statement->count > POSTGRESQL_VALUES_MAX || bytes > POSTGRESQL_VALUE_BYTES_MAX) {
        return err_set(err, STATUS_E_RANGE, FAULT_TOO_LARGE, connection->address,
                       "%zu values of %zu bytes are too many to %s; at most %d of %d bytes",
                       statement->count, bytes, statement->what, POSTGRESQL_VALUES_MAX,
                       POSTGRESQL_VALUE_BYTES_MAX);
    }
    unsigned char *memory = malloc(bytes + 1);
    if (!memory) {
        return err_no_memory(err, connection->address, "%zu bytes to %s", bytes,
                             statement->what);
    }
    const int sent = send_statement(connection, statement, (struct encoder){memory, 0});
    free(memory);
    status = finish_statement(connection, sent, statement->what, statement->limit_ms, out, err);
    if (!result) {
        postgresql_result_free(out);
    }
    return status;
}

enum status postgresql_run_script(struct postgresql *connection, const char *what,
                                  const char *sql, int64_t limit_ms, struct err *err)
{
    struct postgresql_result result = {0};
    enum status status = begin_statement(connection, what, err);
    if (status == STATUS_OK) {
        status = finish_statement(connection, PQsendQuery(connection->pg, sql), what, limit_ms,
                                  &result, err);
        postgresql_result_free(&result);
    }
    return status;
}

const char *postgresql_result_text(const struct postgresql_result *result, size_t row,
                                   size_t column, size_t *bytes)
{
    const PGresult *values = result->values;
    const int r = (int)row;
    const int c = (int)column;
    if (bytes) {
        *bytes = (size_t)PQgetlength(values, r, c);
    }
    return PQgetisnull(values, r, c) ? NULL : PQgetvalue(values, r, c);
}

int64_t postgresql_result_number(const struct postgresql_result *result, size_t row,
                                 size_t column)
{
    const char *text = postgresql_result_text(result, row, column, NULL);
    return text ? strtoll(text, NULL, 10) : 0;
}

void postgresql_result_free(struct postgresql_result *result)
{
    PQclear(result->values);
    *result = (struct postgresql_result){0};
}
