#include "service/engine/postgresql_schema.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    READ_MS = 5000,
    /* Another program may be at the same work, and a step may wait for readers. */
    CHANGE_MS = 120000
};

enum { TEXTS = 3 }; /* of a step */

static const unsigned char no_text[] = "";

static const unsigned char *const steps[POSTGRESQL_SCHEMA_VERSION][TEXTS] = {
    {postgresql_schema_1, postgresql_results_1, postgresql_views_1},
    {postgresql_journal_2, no_text, no_text},
    {postgresql_views_3, no_text, no_text}};

static enum status run_one(struct postgresql *c, const char *what, const char *sql,
                           const struct postgresql_value *values, size_t count,
                           struct postgresql_result *result, struct err *err)
{
    return postgresql_run(
        c,
        &(struct postgresql_statement){
            .what = what, .sql = sql, .values = values, .count = count, .limit_ms = CHANGE_MS},
        result, err);
}

enum status postgresql_schema_read(struct postgresql *connection, int64_t *version,
                                   int64_t *oldest, struct err *err)
{
    struct postgresql_result result;
    struct err refused = {0};
    const enum status status =
        postgresql_run(connection,
                       &(struct postgresql_statement){
                           .what = "read the version of the tables",
                           .sql = "SELECT version, oldest FROM tandem.schema_version",
                           .limit_ms = READ_MS},
                       &result, &refused);
    const bool absent = strcmp(result.sqlstate, "42P01") == 0 || /* no such table */
                        strcmp(result.sqlstate, "3F000") == 0;   /* no such schema */
    if (status != STATUS_OK && !absent) {
        return err_set(err, status, refused.fault, refused.where, "%s", refused.text);
    }
    *version = result.rows == 1 ? postgresql_result_number(&result, 0, 0) : 0;
    *oldest = result.rows == 1 ? postgresql_result_number(&result, 0, 1) : 0;
    postgresql_result_free(&result);
    return STATUS_OK;
}

enum status postgresql_schema_check(struct postgresql *connection, struct err *err)
{
    const char *where = postgresql_address(connection);
    int64_t version = 0;
    int64_t oldest = 0;
    const enum status status = postgresql_schema_read(connection, &version, &oldest, err);
    if (status != STATUS_OK) {
        return status;
    }
    if (version == 0) {
        return err_set(
            err, STATUS_E_STALE, FAULT_VERSION_MISMATCH, where,
            "the database has no tables of Tandem; create them with: tandem db init");
    }
    if (version < POSTGRESQL_SCHEMA_VERSION) {
        return err_set(err, STATUS_E_STALE, FAULT_VERSION_MISMATCH, where,
                       "the tables have version %lld, and this program needs %d; update them "
                       "with: tandem db migrate",
                       (long long)version, POSTGRESQL_SCHEMA_VERSION);
    }
    if (oldest > POSTGRESQL_SCHEMA_VERSION) {
        return err_set(err, STATUS_E_STALE, FAULT_VERSION_MISMATCH, where,
                       "the tables have version %lld, for programs from version %lld on, and "
                       "this program knows %d; install the newer Tandem",
                       (long long)version, (long long)oldest, POSTGRESQL_SCHEMA_VERSION);
    }
    return STATUS_OK;
}

/* Runs a step and stores its version, as one text: so it is one transaction. */
static enum status run_step(struct postgresql *c, int64_t version, struct err *err)
{
    char *sql = NULL;
    const unsigned char *const *text = steps[version];
    if (asprintf(&sql, "%s%s%sUPDATE tandem.schema_version SET version = %lld, oldest = %d;",
                 (const char *)text[0], (const char *)text[1], (const char *)text[2],
                 (long long)version + 1, POSTGRESQL_SCHEMA_OLDEST) < 0) {
        return err_no_memory(err, postgresql_address(c), "the text of the tables");
    }
    const enum status status =
        postgresql_run_script(c, "create the tables", sql, CHANGE_MS, err);
    free(sql);
    return status;
}

/* The lock is held by the session. */
static enum status update_locked(struct postgresql *c, int64_t *from, struct err *err)
{
    int64_t oldest = 0;
    enum status status = postgresql_schema_read(c, from, &oldest, err);
    if (status == STATUS_OK && oldest > POSTGRESQL_SCHEMA_VERSION) {
        status = postgresql_schema_check(c, err);
    }
    for (int64_t version = *from; status == STATUS_OK && version < POSTGRESQL_SCHEMA_VERSION;
         version++) {
        status = run_step(c, version, err);
    }
    return status;
}

enum status postgresql_schema_update(struct postgresql *connection, int64_t *from,
                                     struct err *err)
{
    static const char lock[] = "SELECT pg_advisory_lock(hashtext('tandem schema'))";
    static const char unlock[] = "SELECT pg_advisory_unlock(hashtext('tandem schema'))";
    *from = 0;
    enum status status =
        postgresql_run_script(connection, "lock the tables", lock, CHANGE_MS, err);
    if (status != STATUS_OK) {
        return status;
    }
    status = update_locked(connection, from, err);
    /* After an error the session ends soon, and the lock with it. */
    return status != STATUS_OK
               ? status
               : postgresql_run_script(connection, "unlock the tables", unlock, CHANGE_MS, err);
}

/* Runs the text that a query returns: the server quotes the names and texts in it. */
static enum status run_formatted(struct postgresql *c, const char *what, const char *sql,
                                 const struct postgresql_value *values, size_t count,
                                 struct err *err)
{
    struct postgresql_result result;
    enum status status = run_one(c, what, sql, values, count, &result, err);
    if (status == STATUS_OK) {
        status = postgresql_run_script(c, what, postgresql_result_text(&result, 0, 0, NULL),
                                       CHANGE_MS, err);
    }
    postgresql_result_free(&result);
    return status;
}

/* Does a query find a row for this name? */
static enum status find_name(struct postgresql *c, const char *sql, const char *name,
                             bool *found, struct err *err)
{
    const struct postgresql_value value = postgresql_text(name);
    struct postgresql_result result;
    const enum status status = run_one(c, "look for a name", sql, &value, 1, &result, err);
    *found = result.rows > 0;
    postgresql_result_free(&result);
    return status;
}

enum status postgresql_schema_add_user(struct postgresql *connection, const char *user,
                                       const char *password, bool *added, struct err *err)
{
    char verifier[POSTGRESQL_VERIFIER_MAX] = "";
    bool found = false;
    enum status status =
        find_name(connection, "SELECT FROM pg_roles WHERE rolname = $1", user, &found, err);
    *added = status == STATUS_OK && !found;
    if (*added && password) {
        status = postgresql_encrypt_password(connection, user, password, verifier, err);
    }
    const struct postgresql_value values[] = {postgresql_text(user), postgresql_text(verifier)};
    if (status == STATUS_OK && *added) {
        status =
            run_formatted(connection, "create the user",
                          password ? "SELECT format('CREATE ROLE %I LOGIN PASSWORD %L', $1, $2)"
                                   : "SELECT format('CREATE ROLE %I LOGIN', $1)",
                          values, password ? 2 : 1, err);
    }
    if (status == STATUS_OK) {
        status =
            run_formatted(connection, "let the user write results",
                          "SELECT format('GRANT tandem_writer TO %I', $1)", values, 1, err);
    }
    explicit_bzero(verifier, sizeof verifier);
    return status;
}

enum status postgresql_schema_add_database(struct postgresql *connection, const char *database,
                                           bool *added, struct err *err)
{
    const struct postgresql_value value = postgresql_text(database);
    bool found = false;
    const enum status status = find_name(
        connection, "SELECT FROM pg_database WHERE datname = $1", database, &found, err);
    *added = status == STATUS_OK && !found;
    return *added
               ? run_formatted(connection, "create the database",
                               "SELECT format('CREATE DATABASE %I ENCODING ''UTF8'' TEMPLATE "
                               "template0', $1)",
                               &value, 1, err)
               : status;
}
