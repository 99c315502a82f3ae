#include "service/engine/engine_claim.h"

/* The lab of a name that is free. */
#define NOBODY "''"

/* A daemon that is stopped in the transaction must not keep the others out. */
static const char begin_sql[] = "BEGIN ISOLATION LEVEL READ COMMITTED;"
                                " SET LOCAL idle_in_transaction_session_timeout = '10s';"
                                " SELECT pg_advisory_xact_lock(hashtext('tandem.instance'))";

static const char add_sql[] =
    "INSERT INTO pairs(pair, p) SELECT name, $1 FROM unnest($2::text[]) AS u(name)"
    " ON CONFLICT (pair) DO UPDATE SET p = $1 WHERE pairs.p = " NOBODY;

static const char free_sql[] =
    "UPDATE pairs SET p = " NOBODY " WHERE p = $1 AND pair <> ALL($2::text[])";

static const char find_sql[] =
    "SELECT pair, p FROM pairs WHERE pair = ANY($2::text[]) AND p <> $1"
    " ORDER BY pair LIMIT 1";

/* Sums of the previous owner's entries: charts show this lab's. */
static const char buckets_sql[] =
    "DELETE FROM buckets WHERE pair = ANY($2::text[]) AND p <> $1";
static const char folded_sql[] = "DELETE FROM folded WHERE pair = ANY($2::text[]) AND p <> $1";

enum status engine_claim_begin(struct postgresql *connection, int64_t limit_ms, struct err *err)
{
    return postgresql_run_script(connection, "wait for daemons that start", begin_sql, limit_ms,
                                 err);
}

enum status engine_claim_commit(struct postgresql *connection, int64_t limit_ms,
                                struct err *err)
{
    return postgresql_run_script(connection, "register pairs", "COMMIT", limit_ms, err);
}

enum status engine_claim_names(struct postgresql *connection, const char *lab,
                               const struct postgresql_text *names, size_t count,
                               int64_t limit_ms, struct err *err)
{
    static const char *const all[] = {add_sql, free_sql, buckets_sql, folded_sql};
    const struct postgresql_value values[] = {postgresql_text(lab),
                                              postgresql_texts(names, count)};
    struct postgresql_statement statement = {.what = "register pairs",
                                             .sql = find_sql,
                                             .values = values,
                                             .count = COUNT(values),
                                             .limit_ms = limit_ms};
    struct postgresql_result result = {0};
    enum status status = STATUS_OK;
    statement.sql = add_sql;
    status = postgresql_run(connection, &statement, NULL, err);
    statement.sql = find_sql;
    if (status == STATUS_OK) {
        status = postgresql_run(connection, &statement, &result, err);
    }
    if (status == STATUS_OK && result.rows > 0) {
        const char *owner = postgresql_result_text(&result, 0, 1, NULL);
        status = err_set(err, STATUS_E_STALE, FAULT_IN_USE, "pairs",
                         "%s is a pair or team of the lab %s in this database; give one of "
                         "them another name. If that lab is gone: tandem db retire -c FILE "
                         "--lab %s",
                         postgresql_result_text(&result, 0, 0, NULL), owner, owner);
    }
    postgresql_result_free(&result);
    for (size_t i = 1; i < COUNT(all) && status == STATUS_OK; i++) {
        statement.sql = all[i];
        status = postgresql_run(connection, &statement, NULL, err);
    }
    return status;
}

/* Within the transaction. */
static enum status retire_lab(struct postgresql *c, const char *lab, int64_t limit_ms,
                              int64_t *count, struct err *err)
{
    const struct postgresql_value value = postgresql_text(lab);
    struct postgresql_statement statement = {
        .what = "look for a daemon of the lab",
        .sql = "SELECT name FROM instance WHERE p = $1 AND seen >= now() - interval '10 s'",
        .values = &value,
        .count = 1,
        .limit_ms = limit_ms};
    struct postgresql_result result = {0};
    enum status status = postgresql_run(c, &statement, &result, err);
    if (status == STATUS_OK && result.rows > 0) {
        status = err_set(err, STATUS_E_STALE, FAULT_IN_USE, lab,
                         "the daemon %s of this lab runs, or did 10 s ago; end it first",
                         postgresql_result_text(&result, 0, 0, NULL));
    }
    postgresql_result_free(&result);
    if (status == STATUS_OK) {
        statement.what = "free the names of the lab";
        statement.sql = "UPDATE pairs SET p = " NOBODY " WHERE p = $1";
        status = postgresql_run(c, &statement, &result, err);
        *count = status == STATUS_OK ? (int64_t)result.affected : 0;
        postgresql_result_free(&result);
    }
    return status;
}

enum status engine_claim_retire(struct postgresql *connection, const char *lab,
                                int64_t limit_ms, int64_t *count, struct err *err)
{
    enum status status = engine_claim_begin(connection, limit_ms, err);
    if (status == STATUS_OK) {
        status = retire_lab(connection, lab, limit_ms, count, err);
    }
    return status == STATUS_OK ? engine_claim_commit(connection, limit_ms, err) : status;
}
