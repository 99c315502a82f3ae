#include "service/engine/engine_instance.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Another daemon counts as gone after this silence. */
#define SILENCE "interval '10 s'"

static const char register_sql[] =
    "INSERT INTO instance (name, p, home, version, fingerprint, address, seen)"
    " VALUES ($1, $2, $3, $4, $5, $6, now()) ON CONFLICT (name) DO UPDATE"
    " SET p = $2, home = $3, version = $4, fingerprint = $5, address = $6, seen = now()"
    " WHERE instance.home = $3 OR instance.seen < now() - " SILENCE;

/* The daemon that is in the way: of this name, or at work for this lab. */
static const char others_sql[] =
    "SELECT name, p, address, extract(epoch FROM now() - seen)::numeric(9, 1)::text,"
    " fingerprint <> $5 FROM instance"
    " WHERE seen >= now() - " SILENCE " AND home <> $3 AND (name = $1 OR p = $2)"
    " AND ($4 = 0 OR name = $1 OR fingerprint <> $5) ORDER BY name <> $1, name LIMIT 1";

void engine_instance_home(const char *journal_dir, char out[ENGINE_HOME_MAX])
{
    char machine[40] = "";
    char host[HOST_NAME_MAX + 1] = "";
    FILE *file = fopen("/etc/machine-id", "re");
    char *folder = realpath(journal_dir, NULL);
    if (file) {
        (void)(fgets(machine, sizeof machine, file) != NULL);
        (void)fclose(file);
    }
    machine[strcspn(machine, "\n")] = '\0';
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(out, ENGINE_HOME_MAX, "%s %s %s", machine, host,
                   folder ? folder : journal_dir);
    free(folder);
}

static enum status refuse_instance(const struct engine_instance *instance,
                                   const struct postgresql_result *other, struct err *err)
{
    const char *name = postgresql_result_text(other, 0, 0, NULL);
    const char *lab = postgresql_result_text(other, 0, 1, NULL);
    const char *address = postgresql_result_text(other, 0, 2, NULL);
    const char *age_s = postgresql_result_text(other, 0, 3, NULL);
    const bool differs = postgresql_result_text(other, 0, 4, NULL)[0] == 't';
    const char *at = address[0] ? " at " : "";
    if (strcmp(name, instance->name) == 0) {
        return err_set(err, STATUS_E_STALE, FAULT_IN_USE, "engine.instance",
                       "another daemon is the instance %s (lab %.40s%s%.60s, %s s ago); give "
                       "this one another name",
                       name, lab, at, address, age_s);
    }
    if (instance->shares_lab && differs) {
        return err_set(err, STATUS_E_STALE, FAULT_INCONSISTENT, "engine",
                       "the instance %s%s%.60s has another lab file; all instances of a lab "
                       "need the same pairs and options",
                       name, at, address);
    }
    return err_set(
        err, STATUS_E_STALE, FAULT_IN_USE, "name",
        "the instance %s%s%.60s stores results of the lab %.40s, %s s ago; give this "
        "lab another name",
        name, at, address, lab, age_s);
}

static enum status run_sql(struct postgresql *c, const char *sql,
                           const struct postgresql_value *values, size_t count,
                           int64_t limit_ms, struct postgresql_result *result, struct err *err)
{
    return postgresql_run(c,
                          &(struct postgresql_statement){.what = "register this daemon",
                                                         .sql = sql,
                                                         .values = values,
                                                         .count = count,
                                                         .limit_ms = limit_ms},
                          result, err);
}

enum status engine_instance_register(struct postgresql *connection,
                                     const struct engine_instance *instance, int64_t limit_ms,
                                     struct err *err)
{
    const struct postgresql_value looks[] = {
        postgresql_text(instance->name), postgresql_text(instance->lab),
        postgresql_text(instance->home), postgresql_number(instance->shares_lab),
        postgresql_text(instance->fingerprint)};
    const struct postgresql_value writes[] = {looks[0], looks[1],
                                              looks[2], postgresql_text(instance->version),
                                              looks[4], postgresql_text(instance->address)};
    struct postgresql_result result = {0};
    enum status status =
        run_sql(connection, others_sql, looks, COUNT(looks), limit_ms, &result, err);
    if (status == STATUS_OK && result.rows > 0) {
        status = refuse_instance(instance, &result, err);
    }
    postgresql_result_free(&result);
    if (status != STATUS_OK) {
        return status;
    }
    status = run_sql(connection, register_sql, writes, COUNT(writes), limit_ms, &result, err);
    const bool lost = status == STATUS_OK && result.affected == 0;
    postgresql_result_free(&result);
    return lost ? err_set(err, STATUS_E_STALE, FAULT_IN_USE, "engine.instance",
                          "another daemon became the instance %s just now; give this one "
                          "another name",
                          instance->name)
                : status;
}
