/* The check of a lab's database, and the daemons that share one. It runs against a server of
 * its own. needs: real time */
#include <pthread.h>

#include "service/engine/engine_check.h"
#include "service/engine/engine_claim.h"
#include "service/engine/engine_instance.h"
#include "service/engine/engine_session.h"
#include "service/engine/postgresql_schema.h"
#include "tests/support/check.h"
#include "tests/support/postgresql_fixture.h"
#include "tests/support/wait.h"

enum { LIMIT_MS = 30000 };

static struct postgresql_cluster cluster;

static struct postgresql *open_database(void)
{
    const struct postgresql_server server = {"127.0.0.1", cluster.ports[0]};
    const struct postgresql_params params = {.servers = &server,
                                             .server_count = 1,
                                             .database = "postgres",
                                             .user = "postgres",
                                             .password_file = cluster.password_file,
                                             .application = "test"};
    struct postgresql_target *target = NULL;
    struct postgresql *c = NULL;
    struct err err = {0};
    const bool open =
        postgresql_target_create(&params, &target, &err) == STATUS_OK &&
        postgresql_open(target, POSTGRESQL_WRITABLE, LIMIT_MS, &c, &err) == STATUS_OK;
    postgresql_target_destroy(target);
    CHECK_TEXT("open", err.text, "");
    CU_ASSERT_FATAL(open);
    return c;
}

/* --- the report ------------------------------------------------------------------------------
 */

static void test_report(void)
{
    static const struct engine_facts good = {.servers = {{.answers = true, .version = 150018}},
                                             .address = "db1:5432",
                                             .schema = 3,
                                             .sync_standbys = 2,
                                             .standbys = "s2, s3",
                                             .sync_names = "ANY 1 (s1,s2,s3)",
                                             .fsync = true,
                                             .full_pages = true,
                                             .checksums = true,
                                             .writes = true,
                                             .clock_ahead_ms = 59900};
    struct row {
        const char *row;
        struct engine_facts facts;
        size_t faults;
        const char *text;
    } rows[] = {
        {"good", good, 0, "# clock      59.9 s ahead of this machine's\n"},
        {"good", good, 0, "# server     db1:5432: PostgreSQL 15.18, writable\n"},
        {"good", good, 0, "# standbys   2 synchronous (s2, s3); 2 required\n"},
        {"ahead", good, 1, "the server's clock is 3.0 hours ahead of this machine's; set both"},
        {"behind", good, 1, "the server's clock is 61.0 s behind this machine's"},
        {"one standby", good, 1, "too few synchronous standbys are connected; start them"},
        {"no standby", good, 1, "no synchronous standby is named"},
        {"fsync", good, 0, "# danger     fsync is off"},
        {"pages", good, 0, "# danger     full_page_writes is off"},
        {"checksums", good, 0, "# danger     data checksums are off"},
        {"rights", good, 1, "the user \"tandem\" may not write results"},
        {"silent", good, 0, "db1:5432: does not answer: Connection refused"},
    };
    rows[3].facts.clock_ahead_ms = 3 * 3600 * 1000;
    rows[4].facts.clock_ahead_ms = -61000;
    rows[5].facts.sync_standbys = 1;
    rows[6].facts.sync_standbys = 0;
    rows[6].facts.sync_names[0] = '\0';
    rows[7].facts.fsync = false;
    rows[8].facts.full_pages = false;
    rows[9].facts.checksums = false;
    rows[10].facts.writes = false;
    rows[11].facts.servers[0] = (struct engine_server){.why = "Connection refused"};
    const struct engine_options engine = {
        .postgresql = {
            .server_count = 1, .servers = {"db1:5432"}, .user = "tandem", .require_sync = 2}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        CHECK_INT(rows[i].row, engine_facts_print(&rows[i].facts, &engine, "# ", out),
                  rows[i].faults);
        (void)fclose(out);
        CHECK_TEXT(rows[i].row, strstr(text, rows[i].text) ? rows[i].text : text, rows[i].text);
        free(text);
    }
}

/* --- daemons ---------------------------------------------------------------------------------
 */

static const struct engine_instance first = {.name = "a",
                                             .lab = "hall1",
                                             .home = "machine-1 /var/lib/tandem",
                                             .version = "1",
                                             .fingerprint = "f1",
                                             .address = "https://a.lab:8420"};

static void check_register(struct postgresql *c, const char *row,
                           const struct engine_instance *instance, const char *want)
{
    struct err err = {0};
    const enum status status = engine_instance_register(c, instance, LIMIT_MS, &err);
    CHECK_INT(row, status, want[0] ? STATUS_E_STALE : STATUS_OK);
    CHECK_TEXT(row, strncmp(err.text, want, strlen(want)) == 0 ? want : err.text, want);
}

static void test_instances(void)
{
    struct postgresql *c = open_database();
    int64_t from = -1;
    CHECK_INT("tables", postgresql_schema_update(c, &from, NULL), STATUS_OK);
    CHECK_INT("tables", from, 0);
    struct engine_instance other = first;
    other.home = "machine-2 /var/lib/tandem";
    check_register(c, "first", &first, "");
    check_register(c, "again", &first, "");
    check_register(c, "same name", &other,
                   "another daemon is the instance a (lab hall1 at https://a.lab:8420, ");
    other.name = "b";
    check_register(c, "same lab", &other,
                   "the instance a at https://a.lab:8420 stores results of the lab hall1, ");
    other.shares_lab = true;
    check_register(c, "standby", &other, "");
    other.fingerprint = "f2";
    check_register(c, "other lab file", &other,
                   "the instance a at https://a.lab:8420 has another lab file; all instances");
    CHECK_INT("age",
              postgresql_run_script(c, "age",
                                    "UPDATE instance SET seen = now() - interval '11 s'",
                                    LIMIT_MS, NULL),
              STATUS_OK);
    other.name = "a";
    other.shares_lab = false;
    check_register(c, "after its silence", &other, "");
    check_register(c, "came back", &first, "another daemon is the instance a (lab hall1");
    postgresql_close(c);
}

static int64_t read_number(struct postgresql *c, const char *sql)
{
    struct postgresql_result result = {0};
    const struct postgresql_statement statement = {
        .what = "read", .sql = sql, .limit_ms = LIMIT_MS};
    CHECK_INT(sql, postgresql_run(c, &statement, &result, NULL), STATUS_OK);
    const int64_t number = result.rows > 0 ? postgresql_result_number(&result, 0, 0) : -1;
    postgresql_result_free(&result);
    return number;
}

static void run_script(struct postgresql *c, const char *sql)
{
    CHECK_INT(sql, postgresql_run_script(c, sql, sql, LIMIT_MS, NULL), STATUS_OK);
}

/* A lab of one or two pairs, as its daemon opens it. */
struct daemon_place {
    struct lab_file file;
    struct pair_params pairs[2];
    struct lab_params params;
    struct engine_session *session;
    enum status status;
    struct err err;
};

static struct daemon_place *make_place(const char *lab, const char *instance,
                                       const char *first_pair, const char *second_pair)
{
    struct daemon_place *p = calloc(1, sizeof *p);
    CU_ASSERT_FATAL(p != NULL);
    struct engine_options *engine = &p->file.engine;
    (void)snprintf(p->file.name, sizeof p->file.name, "%s", lab);
    (void)snprintf(p->file.journal.dir, sizeof p->file.journal.dir, "/nowhere/%s", instance);
    (void)snprintf(engine->instance, sizeof engine->instance, "%s", instance);
    engine->postgresql.server_count = 1;
    (void)snprintf(engine->postgresql.servers[0], sizeof engine->postgresql.servers[0],
                   "127.0.0.1:%u", cluster.ports[0]);
    (void)snprintf(engine->postgresql.database, sizeof engine->postgresql.database, "postgres");
    (void)snprintf(engine->postgresql.user, sizeof engine->postgresql.user, "postgres");
    (void)snprintf(engine->postgresql.password_file, sizeof engine->postgresql.password_file,
                   "%s", cluster.password_file);
    (void)snprintf(p->pairs[0].id, sizeof p->pairs[0].id, "%s", first_pair);
    (void)snprintf(p->pairs[1].id, sizeof p->pairs[1].id, "%s", second_pair);
    p->params.pairs = p->pairs;
    p->params.pair_count = second_pair[0] ? 2 : 1;
    return p;
}

static void *open_place(void *context)
{
    struct daemon_place *p = context;
    p->status = engine_session_open(&p->file, &p->params, 1, &p->session, &p->err);
    return NULL;
}

static void close_place(struct daemon_place *p)
{
    engine_session_close(p->session);
    free(p);
}

/* Nothing remains of a daemon that is refused. */
static void test_refused(void)
{
    struct postgresql *c = open_database();
    struct daemon_place *owner = make_place("hall2", "h2", "s1", "");
    struct daemon_place *refused = make_place("x4", "x4", "z1", "s1");
    struct daemon_place *third = make_place("hall3", "h3", "z1", "");
    open_place(owner);
    CHECK_TEXT("owner", owner->err.text, "");
    open_place(refused);
    CHECK_INT("refused", refused->status, STATUS_E_STALE);
    CHECK("refused", strstr(refused->err.text, "tandem db retire -c FILE --lab hall2") != NULL);
    CHECK_INT("its name", read_number(c, "SELECT count(*) FROM instance WHERE p = 'x4'"), 0);
    CHECK_INT("its pairs", read_number(c, "SELECT count(*) FROM pairs WHERE p = 'x4'"), 0);
    open_place(third);
    CHECK_TEXT("its pair is free", third->err.text, "");
    close_place(third);
    close_place(refused);
    close_place(owner);
    postgresql_close(c);
}

/* Names that a lab no longer has, or of a lab that is retired, are free. */
static void test_free_names(void)
{
    struct postgresql *c = open_database();
    struct daemon_place *with = make_place("hall5", "h5", "m1", "m2");
    struct daemon_place *without = make_place("hall5", "h5", "m1", "");
    struct daemon_place *other = make_place("hall4", "h4", "m2", "");
    struct err err = {0};
    int64_t count = 0;
    open_place(with);
    close_place(with);
    open_place(without);
    CHECK_TEXT("without", without->err.text, "");
    open_place(other);
    CHECK_TEXT("moved", other->err.text, "");
    CHECK_INT("runs", engine_claim_retire(c, "hall4", LIMIT_MS, &count, &err), STATUS_E_STALE);
    CHECK("runs", strstr(err.text, "the daemon h4 of this lab runs") != NULL);
    close_place(other);
    close_place(without);
    run_script(c, "ROLLBACK; UPDATE instance SET seen = now() - interval '11 s'");
    CHECK_INT("gone", engine_claim_retire(c, "hall4", LIMIT_MS, &count, &err), STATUS_OK);
    CHECK_INT("gone", count, 1);
    CHECK_INT("gone", read_number(c, "SELECT count(*) FROM pairs WHERE p = 'hall4'"), 0);
    postgresql_close(c);
}

/* Two daemons of one name reach the table at once: one of them starts. */
static void test_at_once(void)
{
    struct postgresql *c = open_database();
    pthread_t threads[2];
    struct daemon_place *places[2] = {make_place("twice", "t1", "t1", ""),
                                      make_place("twice", "t2", "t1", "")};
    run_script(c, "BEGIN; LOCK TABLE instance IN SHARE MODE");
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, open_place, places[i]) == 0);
    }
    for (int64_t end_us = 0;
         read_number(c, "SELECT count(*) FROM pg_locks WHERE NOT granted") < 2 &&
         wait_more(&end_us, LIMIT_MS);) {
    }
    run_script(c, "COMMIT");
    for (size_t i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    CHECK_INT("one", (places[0]->status == STATUS_OK) + (places[1]->status == STATUS_OK), 1);
    CHECK_INT("one", read_number(c, "SELECT count(*) FROM instance WHERE p = 'twice'"), 1);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT("why", places[i]->status == STATUS_OK ? STATUS_E_STALE : places[i]->status,
                  STATUS_E_STALE);
        close_place(places[i]);
    }
    postgresql_close(c);
}

/* Waits until the thread has read the pairs once more, so it has registered, or not. */
static void wait_round(struct postgresql *c, const struct daemon_place *p, const char *pair)
{
    struct engine_pair found;
    char sql[96];
    int64_t end_us = 0;
    (void)snprintf(sql, sizeof sql, "INSERT INTO pairs(pair, p) VALUES ('%s', 'other')", pair);
    run_script(c, sql);
    while (!engine_session_find_pair(p->session, pair, &found) &&
           wait_more(&end_us, LIMIT_MS)) {
    }
    CHECK(pair, engine_session_find_pair(p->session, pair, &found));
}

/* A daemon that may not store leaves the registration to the one that stores. */
static void test_pause(void)
{
    struct postgresql *c = open_database();
    struct daemon_place *p = make_place("paused", "p1", "p1", "");
    const char *old =
        "SELECT count(*) FROM instance WHERE name = 'p1' AND seen < now() - interval "
        "'1 h'";
    open_place(p);
    CU_ASSERT_FATAL(p->status == STATUS_OK);
    engine_session_pause(p->session, true);
    wait_round(c, p, "q1");
    run_script(c, "UPDATE instance SET seen = now() - interval '2 h' WHERE name = 'p1'");
    wait_round(c, p, "q2");
    CHECK_INT("paused", read_number(c, old), 1);
    engine_session_pause(p->session, false);
    wait_round(c, p, "q3");
    wait_round(c, p, "q4");
    CHECK_INT("again", read_number(c, old), 0);
    close_place(p);
    postgresql_close(c);
}

static void test_home(void)
{
    char home[ENGINE_HOME_MAX];
    char other[ENGINE_HOME_MAX];
    engine_instance_home(cluster.folder, home);
    engine_instance_home("/nowhere/journal", other);
    CHECK("folder", strstr(home, cluster.folder) != NULL);
    CHECK("missing folder", strstr(other, "/nowhere/journal") != NULL);
}

int main(void)
{
    cluster_start(&cluster, 1, "");
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("engine", NULL, NULL);
    CU_add_test(suite, "report", test_report);
    CU_add_test(suite, "instances", test_instances);
    CU_add_test(suite, "refused", test_refused);
    CU_add_test(suite, "free names", test_free_names);
    CU_add_test(suite, "at once", test_at_once);
    CU_add_test(suite, "pause", test_pause);
    CU_add_test(suite, "home", test_home);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    cluster_stop(&cluster);
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
