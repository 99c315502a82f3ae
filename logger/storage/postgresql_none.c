#include <stdlib.h>

#include "logger/storage/postgresql.h"

/* A build without libpq (TANDEM_POSTGRESQL=OFF). No target can be created, so no other function
 * is ever called. They are here for the linker. */

enum status postgresql_target_create(const struct postgresql_params *params,
                                     struct postgresql_target **out, struct err *err)
{
    (void)params;
    (void)out;
    return err_set(err, STATUS_E_ARG, FAULT_UNSUPPORTED, "engine.postgresql",
                   "this build has no PostgreSQL; install libpq-dev and build with "
                   "-DTANDEM_POSTGRESQL=ON, or remove engine:");
}

void postgresql_target_destroy(struct postgresql_target *target)
{
    (void)target;
}

enum status postgresql_target_refresh(struct postgresql_target *target, struct err *err)
{
    (void)target;
    (void)err;
    abort();
}

enum status postgresql_open(struct postgresql_target *target, enum postgresql_wanted wanted,
                            int64_t limit_ms, struct postgresql **out, struct err *err)
{
    (void)wanted;
    (void)limit_ms;
    (void)out;
    return postgresql_target_refresh(target, err);
}

void postgresql_close(struct postgresql *connection)
{
    (void)connection;
}

bool postgresql_is_broken(const struct postgresql *connection)
{
    (void)connection;
    return true;
}

const char *postgresql_address(const struct postgresql *connection)
{
    (void)connection;
    return "";
}

int postgresql_version(const struct postgresql *connection)
{
    (void)connection;
    return 0;
}

enum status postgresql_encrypt_password(struct postgresql *connection, const char *user,
                                        const char *password, char out[POSTGRESQL_VERIFIER_MAX],
                                        struct err *err)
{
    (void)connection;
    (void)user;
    (void)password;
    (void)out;
    return postgresql_target_refresh(NULL, err);
}

enum status postgresql_run(struct postgresql *connection,
                           const struct postgresql_statement *statement,
                           struct postgresql_result *result, struct err *err)
{
    (void)connection;
    (void)statement;
    (void)result;
    return postgresql_target_refresh(NULL, err);
}

enum status postgresql_run_script(struct postgresql *connection, const char *what,
                                  const char *sql, int64_t limit_ms, struct err *err)
{
    (void)connection;
    (void)what;
    (void)sql;
    (void)limit_ms;
    return postgresql_target_refresh(NULL, err);
}

const char *postgresql_result_text(const struct postgresql_result *result, size_t row,
                                   size_t column, size_t *bytes)
{
    (void)result;
    (void)row;
    (void)column;
    (void)bytes;
    return NULL;
}

int64_t postgresql_result_number(const struct postgresql_result *result, size_t row,
                                 size_t column)
{
    (void)result;
    (void)row;
    (void)column;
    return 0;
}

void postgresql_result_free(struct postgresql_result *result)
{
    (void)result;
}
