/* The connection to PostgreSQL: values of every kind, errors, limits. It runs against a server
 * of its own. needs: threads, real time */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/support/check.h"
#include "tests/support/postgresql_fixture.h"

enum { LIMIT_MS = 30000 };

static struct postgresql_cluster cluster;
static struct postgresql_server server = {"127.0.0.1", 0};

static struct postgresql_params plain_params(void)
{
    server.port = cluster.ports[0];
    return (struct postgresql_params){.servers = &server,
                                      .server_count = 1,
                                      .database = "postgres",
                                      .user = "postgres",
                                      .password_file = cluster.password_file,
                                      .application = "test"};
}

/* Creates a target and opens it; *err is what failed. */
static struct postgresql *open_with(const struct postgresql_params *params,
                                    enum postgresql_wanted wanted, struct err *err)
{
    struct postgresql_target *target = NULL;
    struct postgresql *c = NULL;
    *err = (struct err){0};
    if (postgresql_target_create(params, &target, err) == STATUS_OK &&
        postgresql_open(target, wanted, LIMIT_MS, &c, err) != STATUS_OK) {
        c = NULL;
    }
    postgresql_target_destroy(target);
    return c;
}

static struct postgresql *open_plain(void)
{
    const struct postgresql_params params = plain_params();
    struct err err;
    struct postgresql *c = open_with(&params, POSTGRESQL_WRITABLE, &err);
    CHECK_TEXT("open", err.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    return c;
}

static enum status run_sql(struct postgresql *c, const char *sql,
                           const struct postgresql_value *values, size_t count,
                           struct postgresql_result *result, struct err *err)
{
    *err = (struct err){0};
    return postgresql_run(
        c,
        &(struct postgresql_statement){
            .what = "test", .sql = sql, .values = values, .count = count, .limit_ms = LIMIT_MS},
        result, err);
}

/* Runs a statement that returns one text, and compares. */
static void check_sql(struct postgresql *c, const char *sql,
                      const struct postgresql_value *values, size_t count, const char *want)
{
    struct postgresql_result r;
    struct err err;
    CHECK_INT(sql, run_sql(c, sql, values, count, &r, &err), STATUS_OK);
    CHECK_TEXT(sql, err.text, "");
    CHECK_TEXT(sql, r.rows == 1 ? postgresql_result_text(&r, 0, 0, NULL) : "no row", want);
    postgresql_result_free(&r);
}

static void test_values(void)
{
    struct postgresql *c = open_plain();
    const char *hostile = "a'); DROP TABLE x; -- \\ \" $1 \xc3\xa9";
    const struct postgresql_text texts[] = {{hostile, strlen(hostile)}, {NULL, 0}, {"", 0}};
    const int64_t numbers[] = {INT64_MIN, 0, INT64_MAX};
    const double reals[] = {0.1, nan(""), -1e300};
    check_sql(c, "SELECT $1", (struct postgresql_value[]){postgresql_text(hostile)}, 1,
              hostile);
    check_sql(c, "SELECT ($1 + 1)::text",
              (struct postgresql_value[]){postgresql_number(-9007199254740994)}, 1,
              "-9007199254740993");
    check_sql(c, "SELECT ($1 + $2)::text",
              (struct postgresql_value[]){postgresql_real(0.5), postgresql_number(1)}, 2,
              "1.5");
    check_sql(c, "SELECT coalesce($1::text, 'null')",
              (struct postgresql_value[]){postgresql_real(nan(""))}, 1, "null");
    check_sql(c, "SELECT coalesce($1, 'null')",
              (struct postgresql_value[]){postgresql_text(NULL)}, 1, "null");
    check_sql(c, "SELECT encode($1, 'hex')",
              (struct postgresql_value[]){postgresql_bytes("\0\xff'", 3)}, 1, "00ff27");
    check_sql(c, "SELECT $1::text", (struct postgresql_value[]){postgresql_numbers(numbers, 3)},
              1, "{-9223372036854775808,0,9223372036854775807}");
    check_sql(c, "SELECT $1::text", (struct postgresql_value[]){postgresql_reals(reals, 3)}, 1,
              "{0.1,NULL,-1e+300}");
    check_sql(c, "SELECT $1[1]", (struct postgresql_value[]){postgresql_texts(texts, 3)}, 1,
              hostile);
    check_sql(c, "SELECT (cardinality($1) * 10 + count(u))::text FROM unnest($1) u",
              (struct postgresql_value[]){postgresql_texts(texts, 3)}, 1, "32");
    check_sql(c, "SELECT cardinality($1)::text",
              (struct postgresql_value[]){postgresql_texts(NULL, 0)}, 1, "0");
    postgresql_close(c);
}

static void test_session(void)
{
    (void)setenv("PGTZ", "Asia/Tokyo", 1);
    (void)setenv("PGHOST", "nowhere.invalid", 1);
    (void)setenv("PGOPTIONS", "-c synchronous_commit=off", 1);
    struct postgresql *c = open_plain();
    check_sql(c, "SHOW TimeZone", NULL, 0, "UTC");
    check_sql(c, "SHOW client_encoding", NULL, 0, "UTF8");
    check_sql(c, "SHOW synchronous_commit", NULL, 0, "on");
    check_sql(c, "SHOW search_path", NULL, 0, POSTGRESQL_SCHEMA);
    check_sql(c, "SHOW application_name", NULL, 0, "test");
    CHECK_INT("version", postgresql_version(c) >= 140000, 1);
    postgresql_close(c);
}

static void test_raw_result(void)
{
    struct postgresql *c = open_plain();
    struct postgresql_result r;
    struct err err = {0};
    size_t bytes = 0;
    CHECK_INT("raw",
              postgresql_run(c,
                             &(struct postgresql_statement){
                                 .what = "test",
                                 .sql = "SELECT '\\x000102ff'::bytea, 7::text, NULL::bytea",
                                 .limit_ms = LIMIT_MS,
                                 .raw = true},
                             &r, &err),
              STATUS_OK);
    const char *value = postgresql_result_text(&r, 0, 0, &bytes);
    CHECK("raw", bytes == 4 && memcmp(value, "\0\1\2\377", 4) == 0);
    CHECK_INT("number", postgresql_result_number(&r, 0, 1), 7);
    CHECK("null", !postgresql_result_text(&r, 0, 2, NULL));
    postgresql_result_free(&r);
    postgresql_close(c);
}

static void test_refused_statements(void)
{
    struct postgresql *c = open_plain();
    struct postgresql_result r;
    struct err err;
    CHECK_INT(
        "script",
        postgresql_run_script(c, "prepare",
                              "CREATE SCHEMA tandem; CREATE TABLE u (n bigint PRIMARY KEY);"
                              "INSERT INTO u VALUES (1), (2)",
                              LIMIT_MS, NULL),
        STATUS_OK);
    CHECK_INT("affected", run_sql(c, "UPDATE u SET n = n + 10", NULL, 0, &r, &err), STATUS_OK);
    CHECK_INT("affected", r.affected, 2);
    postgresql_result_free(&r);
    CHECK_INT("twice", run_sql(c, "INSERT INTO u VALUES (11)", NULL, 0, &r, &err), STATUS_E_IO);
    CHECK_TEXT("twice", r.sqlstate, "23505");
    CHECK("twice", strstr(err.text, "PostgreSQL cannot test: duplicate key") && !r.in_doubt);
    CHECK_INT("two statements", run_sql(c, "SELECT 1; SELECT 2", NULL, 0, &r, &err),
              STATUS_E_IO);
    CHECK_TEXT("two statements", r.sqlstate, "42601");
    const struct postgresql_value bad[] = {
        {.kind = POSTGRESQL_TEXT, .text = {"a\0b", 3}},
        {.kind = POSTGRESQL_TEXT, .text = {"caf\xe9", 4}},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT("bad text", run_sql(c, "SELECT $1", &bad[i], 1, &r, &err), STATUS_E_IO);
        CHECK_TEXT("bad text", r.sqlstate, "22021");
    }
    CHECK_INT("warned",
              run_sql(c, "DO $$BEGIN RAISE WARNING 'local only'; END$$", NULL, 0, &r, &err),
              STATUS_OK);
    CHECK_INT("warned", r.warned, true);
    CHECK_TEXT("warned", r.warning, "local only");
    postgresql_result_free(&r);
    CHECK_INT("notice", run_sql(c, "DO $$BEGIN RAISE NOTICE 'hello'; END$$", NULL, 0, &r, &err),
              STATUS_OK);
    CHECK_INT("notice", r.warned, false);
    postgresql_result_free(&r);
    const struct postgresql_value large =
        postgresql_bytes("", (size_t)POSTGRESQL_VALUE_BYTES_MAX + 1);
    CHECK_INT("large", run_sql(c, "SELECT $1", &large, 1, &r, &err), STATUS_E_RANGE);
    check_sql(c, "SELECT 'still here'", NULL, 0, "still here");
    postgresql_close(c);
}

/* A statement beyond its limit is in doubt: it is carried out nevertheless, and the connection
 * is of no use any more. */
static void test_limit(void)
{
    struct postgresql *c = open_plain();
    struct postgresql *other = open_plain();
    struct postgresql_result r;
    struct err err = {0};
    check_sql(c, "SELECT (SELECT 'locked' FROM pg_advisory_lock(5))", NULL, 0, "locked");
    CHECK_INT("limit",
              postgresql_run(other,
                             &(struct postgresql_statement){.what = "wait for a lock",
                                                            .sql = "SELECT pg_advisory_lock(5)",
                                                            .limit_ms = 50},
                             &r, &err),
              STATUS_E_IO);
    CHECK_INT("limit", r.in_doubt, true);
    CHECK_INT("limit", postgresql_is_broken(other), true);
    CHECK_TEXT("limit", err.text, "no answer in 0.1 s to: wait for a lock");
    CHECK_INT("after", run_sql(other, "SELECT 1", NULL, 0, &r, &err), STATUS_E_IO);
    CHECK_INT("after", r.in_doubt, false);
    postgresql_close(other);
    CHECK_INT("killed",
              run_sql(c, "SELECT pg_terminate_backend(pg_backend_pid())", NULL, 0, &r, &err),
              STATUS_E_IO);
    CHECK_INT("killed", postgresql_is_broken(c), true);
    postgresql_close(c);
}

/* --- a commit that no standby has ----------------------------------------------------------
 */

struct insertion {
    struct postgresql *c;
    struct postgresql_result result; /* of the last one */
    enum status status;
    atomic_bool done;
};

/* Inserts rows until one is stored with a warning. The server applies a setting some time after
 * the reload, and may cancel a statement before its commit. */
static void *insert_rows(void *context)
{
    struct insertion *i = context;
    struct err err;
    do {
        postgresql_result_free(&i->result);
        i->status =
            run_sql(i->c, "INSERT INTO u SELECT max(n) + 1 FROM u", NULL, 0, &i->result, &err);
    } while (!i->result.warned && !postgresql_is_broken(i->c));
    atomic_store(&i->done, true);
    return NULL;
}

static void set_standby(struct postgresql *c, const char *sql)
{
    struct err err;
    CHECK_INT(sql, run_sql(c, sql, NULL, 0, NULL, &err), STATUS_OK);
    check_sql(c, "SELECT pg_reload_conf()::text", NULL, 0, "true");
}

/* A cancelled commit reports success, with a warning: the caller must see it. */
static void test_local_commit(void)
{
    static const char cancel[] =
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    struct postgresql *c = open_plain();
    struct insertion insertion = {.c = open_plain()};
    struct err err = {0};
    pthread_t thread;
    set_standby(c, "ALTER SYSTEM SET synchronous_standby_names = 'absent'");
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, insert_rows, &insertion) == 0);
    while (!atomic_load(&insertion.done) && err.text[0] == '\0') {
        (void)run_sql(c, cancel, NULL, 0, NULL, &err);
    }
    (void)pthread_join(thread, NULL);
    CHECK_TEXT("cancel", err.text, "");
    CHECK_INT("status", insertion.status, STATUS_OK);
    CHECK("warning",
          strstr(insertion.result.warning, "canceling wait for synchronous") != NULL);
    postgresql_result_free(&insertion.result);
    set_standby(c, "ALTER SYSTEM RESET synchronous_standby_names");
    postgresql_close(insertion.c);
    postgresql_close(c);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static void test_refused_connections(void)
{
    char wrong[128];
    char empty[128];
    (void)snprintf(wrong, sizeof wrong, "%s/wrong", cluster.folder);
    (void)snprintf(empty, sizeof empty, "%s/empty", cluster.folder);
    write_text(wrong, "guess\n");
    write_text(empty, "\n");
    const struct postgresql_params plain = plain_params();
    const struct postgresql_server closed[] = {{"127.0.0.1", 1}, {"127.0.0.1", 2}};
    const struct postgresql_server tls_name = {"127.0.0.1", server.port};
    const struct postgresql_server far = {"192.0.2.1", 5432};
    const struct postgresql_server unknown = {"nowhere.invalid", 5432};
    struct row {
        const char *row;
        struct postgresql_params params;
        enum fault fault;
        const char *text;
    } rows[] = {
        {"wrong password", plain, FAULT_DATABASE_REFUSED,
         "wrong password for the user \"postgres\""},
        {"no password", plain, FAULT_DATABASE_REFUSED, "asks for a password"},
        {"no such user", plain, FAULT_DATABASE_REFUSED,
         "or create the user with: tandem db init"},
        {"no database", plain, FAULT_DATABASE_REFUSED, "there is no database \"absent\""},
        {"encoding", plain, FAULT_DATABASE_REFUSED, "is SQL_ASCII; it must be UTF8"},
        {"closed", plain, FAULT_DATABASE_UNREACHABLE, "127.0.0.1:1: Connection refused; 127"},
        {"TLS name", plain, FAULT_BAD_CERTIFICATE, "does not match host name \"127.0.0.1\""},
        {"TLS file", plain, FAULT_BAD_CERTIFICATE, "/absent.crt\" does not exist"},
        {"no TLS", plain, FAULT_UNSAFE_ADDRESS, "needs TLS"},
        {"no name", plain, FAULT_DATABASE_UNREACHABLE, "cannot be resolved"},
        {"no password file", plain, FAULT_FILE_UNREADABLE, "cannot be read"},
        {"empty password file", plain, FAULT_MISSING_VALUE, "the first line must be"},
        {"read-only", plain, FAULT_DATABASE_READ_ONLY, "default_transaction_read_only is on"},
    };
    rows[0].params.password_file = wrong;
    rows[1].params.password_file = NULL;
    rows[2].params.user = "nobody";
    rows[3].params.database = "absent";
    rows[4].params.database = "ascii";
    rows[5].params.servers = closed;
    rows[5].params.server_count = 2;
    rows[6].params.servers = &tls_name;
    rows[6].params.ca_file = cluster.certificate;
    rows[7].params.ca_file = "/absent.crt";
    rows[8].params.servers = &far;
    rows[9].params.servers = &unknown;
    rows[10].params.password_file = "/absent";
    rows[11].params.password_file = empty;
    rows[12].params.database = "readonly";
    struct postgresql *c = open_plain();
    for (size_t i = 0; i < 3; i++) {
        static const char *const sql[] = {
            "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0",
            "CREATE DATABASE readonly",
            "ALTER DATABASE readonly SET default_transaction_read_only = on"};
        CHECK_INT(sql[i], postgresql_run_script(c, "create", sql[i], LIMIT_MS, NULL),
                  STATUS_OK);
    }
    postgresql_close(c);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err;
        c = open_with(&rows[i].params, POSTGRESQL_WRITABLE, &err);
        CHECK(rows[i].row, !c);
        CHECK_TEXT(rows[i].row, fault_name(err.fault), fault_name(rows[i].fault));
        CHECK_TEXT(rows[i].row, strstr(err.text, rows[i].text) ? rows[i].text : err.text,
                   rows[i].text);
        postgresql_close(c);
    }
}

/* Any reader suits POSTGRESQL_ANY. A closed server next to it costs nothing. */
static void test_several_servers(void)
{
    struct postgresql_params params = plain_params();
    const struct postgresql_server servers[] = {{"127.0.0.1", 1}, {"localhost", server.port}};
    struct err err;
    params.servers = servers;
    params.server_count = 2;
    params.ca_file = cluster.certificate;
    params.database = "readonly";
    struct postgresql *c = open_with(&params, POSTGRESQL_ANY, &err);
    CHECK_TEXT("any", err.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    CHECK("address", strncmp(postgresql_address(c), "localhost:", 10) == 0);
    check_sql(c, "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()", NULL, 0,
              "true");
    postgresql_close(c);
}

int main(void)
{
    cluster_start(&cluster, 1, "tls");
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("postgresql", NULL, NULL);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "session", test_session);
    CU_add_test(suite, "raw result", test_raw_result);
    CU_add_test(suite, "refused statements", test_refused_statements);
    CU_add_test(suite, "limit", test_limit);
    CU_add_test(suite, "local commit", test_local_commit);
    CU_add_test(suite, "refused connections", test_refused_connections);
    CU_add_test(suite, "several servers", test_several_servers);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    cluster_stop(&cluster);
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
