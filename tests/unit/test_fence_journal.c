/* The statements of the fence row against a PostgreSQL of the test's own: which are refused,
 * what is not durable, tables for more lines, foreign texts, and many who take at once.
 * TANDEM_RUNS: number of contested takes.
 *
 * needs: real time
 * short: TANDEM_RUNS=60 */
#include <pthread.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/postgresql_fixture.h"

#include "logger/fence/fence_journal.h"
#include "service/engine/postgresql_schema.h"

enum { LIMIT_MS = 30000, RIVALS = 4 };

static struct postgresql_cluster cluster;
static struct postgresql_target *target;
static struct postgresql *admin;
static unsigned tokens;

static struct fence_journal *create_journal(const char *partition, unsigned require_sync,
                                            int64_t limit_ms)
{
    const struct fence_journal_params params = {target, partition, "test", require_sync,
                                                limit_ms};
    struct fence_journal *journal = NULL;
    struct err err = {0};
    CHECK_INT("create", fence_journal_create(&params, &journal, &err), STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(journal);
    if (limit_ms == LIMIT_MS) {
        CHECK_INT("prepare", fence_journal_prepare(journal, &err), STATUS_OK);
        CHECK_TEXT("prepare", err.text, "");
    }
    return journal;
}

static struct fence_lease make_lease(void)
{
    struct fence_lease lease;
    (void)snprintf(lease.text, sizeof lease.text, "00000000-0000-4000-8000-%012x", ++tokens);
    return lease;
}

static struct fence_result run_request(struct fence_journal *journal,
                                       const struct fence_request *request,
                                       const struct postgresql_text *lines)
{
    struct fence_result result;
    struct err err = {0};
    fence_journal_run(journal, request, lines, &result, &err);
    if (err.text[0] != '\0') {
        (void)printf("  %s\n", err.text);
    }
    CHECK("an error for a failure", (result.answer == FENCE_FAILED) == (err.text[0] != '\0'));
    return result;
}

static struct fence_result follow(struct fence_journal *journal, int64_t n)
{
    return run_request(journal, &(struct fence_request){.statement = FENCE_FOLLOW, .n = n},
                       NULL);
}

static struct fence_result take(struct fence_journal *journal, const struct fence_row *seen,
                                struct fence_lease next)
{
    return run_request(
        journal,
        &(struct fence_request){
            .statement = FENCE_TAKE, .lease = seen->lease, .beat = seen->beat, .next = next},
        NULL);
}

static struct fence_result write_lines(struct fence_journal *journal, struct fence_lease lease,
                                       int64_t n, const struct postgresql_text *lines,
                                       size_t count)
{
    return run_request(
        journal,
        &(struct fence_request){
            .statement = FENCE_WRITE, .lease = lease, .n = n, .lines = count, .t_us = 1000 + n},
        lines);
}

static struct fence_result ask(struct fence_journal *journal, struct fence_lease lease,
                               struct fence_lease next, int64_t n,
                               const struct postgresql_text *lines, size_t count)
{
    return run_request(
        journal,
        &(struct fence_request){
            .statement = FENCE_ASK, .lease = lease, .next = next, .n = n, .lines = count},
        lines);
}

static void run_admin(const char *sql)
{
    struct err err = {0};
    CHECK_INT(sql, postgresql_run_script(admin, "test", sql, LIMIT_MS, &err), STATUS_OK);
    CHECK_TEXT(sql, err.text, "");
}

static const struct postgresql_text two[] = {{"{\"a\":1}", 7}, {"{\"b\":2}", 7}};
static const struct postgresql_text other[] = {{"{\"a\":1}", 7}, {"{\"b\":3}", 7}};

static void test_statements(void)
{
    struct fence_journal *a = create_journal("hall", 0, LIMIT_MS);
    struct fence_journal *b = create_journal("hall", 0, LIMIT_MS);
    const struct fence_lease first = make_lease(), second = make_lease(), third = make_lease();

    int64_t database = 0, same = 1;
    CHECK_INT("database", fence_journal_identify(a, &database, NULL), STATUS_OK);
    CHECK_INT("database", fence_journal_identify(b, &same, NULL), STATUS_OK);
    CHECK_INT("database", same, database);

    struct fence_result r = follow(a, 0);
    CHECK_INT("new", r.answer, FENCE_ROW);
    CHECK("new", r.row.released && r.durable);
    CHECK_INT("new", r.row.n, 0);
    CHECK_INT("new", fence_journal_count(a), 0);
    const struct fence_row seen = r.row;

    r = take(a, &seen, first);
    CHECK_INT("take", r.answer, FENCE_ROW);
    CHECK_INT("take", r.row.epoch, 1);
    CHECK("take", !r.row.released);
    CHECK_INT("the second one is late", take(b, &seen, second).answer, FENCE_NO_ROW);

    CHECK_INT("write", write_lines(a, first, 0, two, 2).row.n, 2);
    CHECK_INT("the same again", write_lines(a, first, 0, two, 2).answer, FENCE_NO_ROW);
    CHECK_INT("a foreign lease", write_lines(b, second, 2, two, 2).answer, FENCE_NO_ROW);
    r = write_lines(a, first, 2, NULL, 0);
    CHECK_INT("a beat", r.row.n, 2);
    CHECK_INT("a beat", r.row.t_us, 1002);

    r = follow(b, 0);
    CHECK_INT("follow", fence_journal_count(b), 2);
    for (size_t i = 0; i < fence_journal_count(b); i++) {
        int64_t n;
        CHECK_TEXT("follow", fence_journal_line(b, i, &n).at, two[i].at);
        CHECK_INT("follow", n, (int64_t)i + 1);
    }
    CHECK_INT("one line in common", (follow(b, 2), fence_journal_count(b)), 1);
    CHECK_INT("ahead of the database", (follow(b, 9), fence_journal_count(b)), 1);

    /* Lines 1 and 2 were in doubt: they are there, and an old write does nothing any more. */
    r = ask(a, first, second, 0, two, 2);
    CHECK_INT("stored", r.row.n, 2);
    CHECK("stored", r.same);
    CHECK_INT("an old write", write_lines(b, first, 2, two, 2).answer, FENCE_NO_ROW);
    CHECK("asked twice", ask(a, first, second, 0, two, 2).same);
    CHECK("other lines", !ask(a, second, third, 0, other, 2).same);
    CHECK("more lines", !ask(a, third, first, 0, two, 1).same);
    r = ask(a, second, third, 2, NULL, 0);
    CHECK_INT("not mine", r.answer, FENCE_NO_ROW);
    CHECK_INT("not mine", r.row.epoch, 1);

    r = run_request(a, &(struct fence_request){.statement = FENCE_YIELD, .lease = first}, NULL);
    CHECK("yield", r.answer == FENCE_ROW && r.row.released);
    r = take(b, &r.row, second);
    CHECK_INT("and taken", r.row.epoch, 2);
    CHECK_INT("the old owner", write_lines(a, first, 2, two, 2).answer, FENCE_NO_ROW);
    fence_journal_destroy(a);
    fence_journal_destroy(b);
}

/* Takes the partition, whoever has it. */
static struct fence_lease own_partition(struct fence_journal *journal, int64_t *n)
{
    const struct fence_lease lease = make_lease();
    const struct fence_row seen = follow(journal, 0).row;
    const struct fence_result r = take(journal, &seen, lease);
    CHECK_INT("own", r.answer, FENCE_ROW);
    *n = r.row.n;
    return lease;
}

static void test_tables(void)
{
    static struct postgresql_text lines[FENCE_LINES_MAX];
    static char texts[FENCE_LINES_MAX][16];
    struct fence_journal *j = create_journal("long \"name\" 'of' a partition", 0, LIMIT_MS);
    /* A table holds five million lines; these begin shortly before the end of the second one.
     */
    const int64_t begin_n = 9998500;
    int64_t n;
    run_admin("UPDATE part SET n = 9998500 WHERE p LIKE 'long%'");
    const struct fence_lease lease = own_partition(j, &n);
    CHECK_INT("begin", n, begin_n);
    while (n < begin_n + 5000) {
        for (size_t i = 0; i < FENCE_LINES_MAX; i++) {
            (void)snprintf(texts[i], sizeof texts[i], "%lld", (long long)n + (long long)i + 1);
            lines[i] = (struct postgresql_text){texts[i], strlen(texts[i])};
        }
        const struct fence_result r = write_lines(j, lease, n, lines, FENCE_LINES_MAX);
        CHECK_INT("tables come in time", r.answer, FENCE_ROW);
        CU_ASSERT_EQUAL_FATAL(r.answer, FENCE_ROW);
        n = r.row.n;
    }
    for (int64_t at = begin_n; at < n;) {
        (void)follow(j, at);
        const size_t first = at > begin_n;
        CHECK("lines", fence_journal_count(j) > first);
        CU_ASSERT_FATAL(fence_journal_count(j) > first);
        for (size_t i = first; i < fence_journal_count(j); i++) {
            int64_t line_n;
            const struct postgresql_text line = fence_journal_line(j, i, &line_n);
            CU_ASSERT_EQUAL_FATAL(line_n, ++at);
            CU_ASSERT_EQUAL_FATAL(strtoll(line.at, NULL, 10), at);
        }
    }
    /* Long lines: a read stops after FENCE_BYTES_MAX. */
    char *text = malloc(1 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', 1 << 20);
    for (int i = 0; i < 8; i++) {
        const struct postgresql_text line = {text, 1 << 20};
        CHECK_INT("long", write_lines(j, lease, n + i, &line, 1).answer, FENCE_ROW);
    }
    (void)follow(j, n + 1);
    CHECK_INT("long", fence_journal_count(j), 4);
    free(text);
    fence_journal_destroy(j);
}

static void test_texts(void)
{
    static const struct postgresql_text hostile[] = {
        {"'); DROP TABLE part; -- \\ \" $1", 30},
        {"{\"\\u0000\":\"\\ud800\"}", 19},
        {"\xc3\xa9\xf0\x9f\xa4\x96", 6},
        {"", 0},
    };
    struct fence_journal *j = create_journal("texts", 0, LIMIT_MS);
    int64_t n;
    const struct fence_lease lease = own_partition(j, &n);
    CHECK_INT("write", write_lines(j, lease, n, hostile, COUNT(hostile)).answer, FENCE_ROW);
    (void)follow(j, 0);
    CHECK_INT("read", fence_journal_count(j), COUNT(hostile));
    for (size_t i = 0; i < fence_journal_count(j); i++) {
        int64_t line_n;
        const struct postgresql_text line = fence_journal_line(j, i, &line_n);
        CHECK("accepted", fence_journal_accepts(hostile[i].at, hostile[i].bytes));
        CHECK_INT("read", line.bytes, hostile[i].bytes);
        CHECK_TEXT("read", line.at, hostile[i].at);
    }
    static const struct postgresql_text bad[] = {{"a\0b", 3}, {"caf\xe9", 4}, {"\xff", 1}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK("refused", !fence_journal_accepts(bad[i].at, bad[i].bytes));
        CHECK_INT("refused by the server, too",
                  write_lines(j, lease, n + (int64_t)COUNT(hostile), &bad[i], 1).answer,
                  FENCE_FAILED);
    }
    fence_journal_destroy(j);
}

/* Does a statement return a row? */
static bool finds_row(struct postgresql *c, const char *sql)
{
    struct postgresql_result r = {0};
    const struct postgresql_statement statement = {
        .what = "test", .sql = sql, .limit_ms = LIMIT_MS};
    const bool found = postgresql_run(c, &statement, &r, NULL) == STATUS_OK && r.rows > 0;
    postgresql_result_free(&r);
    return found;
}

/* Cancels the session that waits for a standby, once there is one, until *context. */
static void *cancel_waiting(void *context)
{
    const bool *done = context;
    struct postgresql *c = NULL;
    if (postgresql_open(target, POSTGRESQL_WRITABLE, LIMIT_MS, &c, NULL) == STATUS_OK) {
        while (!__atomic_load_n(done, __ATOMIC_SEQ_CST) &&
               !finds_row(c, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
                             "WHERE wait_event = 'SyncRep'")) {
            (void)usleep(10000);
        }
    }
    postgresql_close(c);
    return NULL;
}

/* Sets a setting of the server, and waits until a session sees it. */
static void set_standbys(const char *names)
{
    char sql[160];
    (void)snprintf(sql, sizeof sql, "ALTER SYSTEM SET synchronous_standby_names = '%s'", names);
    run_admin(sql);
    run_admin("SELECT pg_reload_conf()");
    (void)snprintf(sql, sizeof sql,
                   "SELECT 1 WHERE current_setting('synchronous_standby_names') = '%s'", names);
    while (!finds_row(admin, sql)) {
        (void)usleep(1000);
    }
}

static void test_durable(void)
{
    struct fence_journal *j = create_journal("durable", 1, LIMIT_MS);
    int64_t n;
    const struct fence_lease lease = own_partition(j, &n);
    struct fence_result r = write_lines(j, lease, n, two, 2);
    CHECK("no standby is named", r.answer == FENCE_ROW && !r.durable);
    CHECK("no standby is named", !follow(j, 0).durable);

    set_standbys("ANY 1 (s2,s3)");
    CHECK("one is named", follow(j, 0).durable);
    struct fence_journal *careful = create_journal("durable", 2, LIMIT_MS);
    CHECK("one of two", !follow(careful, 0).durable);
    fence_journal_destroy(careful);
    fence_journal_destroy(j);

    /* A commit that somebody cancels while it waits says that all is well, and warns. */
    j = create_journal("durable", 1, LIMIT_MS);
    pthread_t thread;
    bool done = false;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, cancel_waiting, &done), 0);
    r = write_lines(j, lease, n + 2, two, 2);
    __atomic_store_n(&done, true, __ATOMIC_SEQ_CST);
    (void)pthread_join(thread, NULL);
    CHECK("cancelled", r.answer == FENCE_ROW && !r.durable);
    CHECK_INT("cancelled", r.row.n, n + 4);
    fence_journal_destroy(j);

    /* A write that waits in vain is in doubt after the limit. */
    j = create_journal("durable", 1, 300);
    do { /* until one has reached the server in time */
        CHECK_INT("in vain", write_lines(j, lease, n + 4, two, 2).answer, FENCE_FAILED);
    } while (!finds_row(admin, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"));
    CHECK_INT("the row is locked", ask(j, lease, make_lease(), n + 4, two, 2).answer,
              FENCE_FAILED);
    fence_journal_destroy(j);
    set_standbys("");
    j = create_journal("durable", 0, LIMIT_MS);
    const struct fence_lease next = make_lease();
    r = ask(j, lease, next, n + 4, two, 2);
    CHECK("it was stored", r.answer == FENCE_ROW && r.same);
    fence_journal_destroy(j);
}

/* --- many at once --------------------------------------------------------------------------
 */

static pthread_barrier_t barrier;
static size_t rounds;

struct rival {
    pthread_t thread;
    struct fence_journal *journal;
    struct fence_lease lease;
    unsigned wins, failures;
    unsigned *winners; /* [rounds] of all rivals, counted */
};

static void contend(struct rival *rival, const struct fence_row *seen, size_t round)
{
    struct fence_result result;
    struct err err = {0};
    const struct fence_request request = {.statement = FENCE_TAKE,
                                          .lease = seen->lease,
                                          .beat = seen->beat,
                                          .next = rival->lease};
    fence_journal_run(rival->journal, &request, NULL, &result, &err);
    if (result.answer == FENCE_ROW) {
        (void)__atomic_add_fetch(&rival->winners[round], 1, __ATOMIC_SEQ_CST);
    }
    rival->failures += result.answer == FENCE_FAILED;
}

static void *race_for_takes(void *context)
{
    struct rival *rival = context;
    for (size_t i = 0; i < rounds; i++) {
        struct fence_result seen;
        struct err err = {0};
        const struct fence_request request = {.statement = FENCE_FOLLOW};
        (void)pthread_barrier_wait(&barrier);
        fence_journal_run(rival->journal, &request, NULL, &seen, &err);
        (void)pthread_barrier_wait(&barrier);
        contend(rival, &seen.row, i);
    }
    return NULL;
}

static void test_contested_takes(void)
{
    struct rival rivals[RIVALS] = {{0}};
    rounds = check_runs(1000, 10000);
    unsigned *winners = calloc(rounds, sizeof *winners);
    CU_ASSERT_PTR_NOT_NULL_FATAL(winners);
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&barrier, NULL, RIVALS), 0);
    for (size_t k = 0; k < RIVALS; k++) {
        rivals[k] = (struct rival){.journal = create_journal("contested", 0, LIMIT_MS),
                                   .lease = make_lease(),
                                   .winners = winners};
    }
    for (size_t k = 0; k < RIVALS; k++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&rivals[k].thread, NULL, race_for_takes, &rivals[k]),
                              0);
    }
    for (size_t k = 0; k < RIVALS; k++) {
        (void)pthread_join(rivals[k].thread, NULL);
        CHECK_INT("failures", rivals[k].failures, 0);
        fence_journal_destroy(rivals[k].journal);
    }
    for (size_t i = 0; i < rounds; i++) {
        CHECK_INT("one winner", winners[i], 1);
    }
    (void)pthread_barrier_destroy(&barrier);
    free(winners);
}

static void *start_once(void *context)
{
    struct rival *rival = context;
    struct err err = {0};
    struct fence_result seen;
    const struct fence_request request = {.statement = FENCE_FOLLOW};
    (void)pthread_barrier_wait(&barrier);
    rival->failures += fence_journal_prepare(rival->journal, &err) != STATUS_OK;
    fence_journal_run(rival->journal, &request, NULL, &seen, &err);
    if (seen.row.released) {
        contend(rival, &seen.row, 0);
    }
    return NULL;
}

/* Two instances that start at once, for a partition that the database does not know. */
static void test_double_starts(void)
{
    rounds = check_runs(1000, 10000) / 5;
    CU_ASSERT_EQUAL_FATAL(pthread_barrier_init(&barrier, NULL, 2), 0);
    for (size_t i = 0; i < rounds; i++) {
        char name[32];
        unsigned winners[1] = {0};
        struct rival rivals[2] = {{0}};
        (void)snprintf(name, sizeof name, "start %zu", i);
        for (size_t k = 0; k < 2; k++) {
            const struct fence_journal_params params = {target, name, "test", 0, LIMIT_MS};
            rivals[k] = (struct rival){.lease = make_lease(), .winners = winners};
            CU_ASSERT_EQUAL_FATAL(fence_journal_create(&params, &rivals[k].journal, NULL),
                                  STATUS_OK);
            CU_ASSERT_EQUAL_FATAL(
                pthread_create(&rivals[k].thread, NULL, start_once, &rivals[k]), 0);
        }
        for (size_t k = 0; k < 2; k++) {
            (void)pthread_join(rivals[k].thread, NULL);
            CHECK_INT("failures", rivals[k].failures, 0);
            fence_journal_destroy(rivals[k].journal);
        }
        CHECK_INT("one winner", winners[0], 1);
    }
    (void)pthread_barrier_destroy(&barrier);
}

int main(void)
{
    cluster_start(&cluster, 1, "");
    const struct postgresql_server server = {"127.0.0.1", cluster.ports[0]};
    const struct postgresql_params params = {.servers = &server,
                                             .server_count = 1,
                                             .database = "postgres",
                                             .user = "postgres",
                                             .password_file = cluster.password_file,
                                             .application = "test"};
    struct err err = {0};
    int64_t from = 0;
    if (postgresql_target_create(&params, &target, &err) != STATUS_OK ||
        postgresql_open(target, POSTGRESQL_WRITABLE, LIMIT_MS, &admin, &err) != STATUS_OK ||
        postgresql_schema_update(admin, &from, &err) != STATUS_OK) {
        (void)fprintf(stderr, "%s: %s\n", err.where, err.text);
        return 1;
    }
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("fence journal", NULL, NULL);
    CU_add_test(suite, "statements", test_statements);
    CU_add_test(suite, "tables", test_tables);
    CU_add_test(suite, "texts", test_texts);
    CU_add_test(suite, "durable", test_durable);
    CU_add_test(suite, "contested takes", test_contested_takes);
    CU_add_test(suite, "double starts", test_double_starts);
    const int status = check_run();
    postgresql_close(admin);
    postgresql_target_destroy(target);
    cluster_stop(&cluster);
    return status;
}
