/* Two instances of a partition on three PostgreSQL, of which the primary dies, or freezes and
 * comes back, or both standbys stop. Lines are appended all the time; none that was durable is
 * lost, and both instances have the same.
 * TANDEM_RUNS: rounds of each fault.
 *
 * needs: real time, full */
#include <signal.h>

#include "tests/support/partition_sites.h"

static atomic_bool publishes;
static int64_t longest_us; /* from a line to the next one that was durable */

static void *publish_lines(void *unused)
{
    (void)unused;
    while (atomic_load(&publishes)) {
        const int64_t began_us = wait_now_us();
        append_line();
        longest_us =
            wait_now_us() - began_us > longest_us ? wait_now_us() - began_us : longest_us;
        pass_time_ms(5);
    }
    return NULL;
}

/* Signals a node: its postmaster and all sessions. */
static void signal_node(int node, int signal)
{
    char path[128];
    long postmaster = 0;
    (void)snprintf(path, sizeof path, "%s/s%d/postmaster.pid", cluster.folder, node + 1);
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CHECK_INT("pid", fscanf(file, "%ld", &postmaster), 1);
    (void)fclose(file);
    CU_ASSERT_FATAL(postmaster > 1);
    (void)snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", postmaster, postmaster);
    file = fopen(path, "r");
    CHECK_INT("signal", kill((pid_t)postmaster, signal), 0);
    for (long child; file && fscanf(file, "%ld", &child) == 1;) {
        (void)kill((pid_t)child, signal);
    }
    if (file) {
        (void)fclose(file);
    }
}

/* The first value of a statement's first row; "" without one. */
static const char *read_text(struct postgresql *c, const char *sql)
{
    static char text[256];
    struct postgresql_result r = {0};
    const struct postgresql_statement statement = {
        .what = "test", .sql = sql, .limit_ms = LIMIT_MS};
    text[0] = '\0';
    if (postgresql_run(c, &statement, &r, NULL) == STATUS_OK && r.rows > 0) {
        (void)snprintf(text, sizeof text, "%s", postgresql_result_text(&r, 0, 0, NULL));
    }
    postgresql_result_free(&r);
    return text;
}

static void run_node(struct postgresql *c, const char *sql)
{
    CHECK_INT(sql, postgresql_run_script(c, "test", sql, LIMIT_MS, NULL), STATUS_OK);
}

static void await_text(struct postgresql *c, const char *sql, const char *want)
{
    int64_t end_us = 0;
    while (strcmp(read_text(c, sql), want) != 0 && wait_more(&end_us, WAIT_MS)) {
    }
    CHECK_TEXT(sql, read_text(c, sql), want);
}

/* The operator's tool must do this: detach both standbys, promote the one that has more, let
 * the other follow it. Returns the new primary. */
static int promote_standby(void)
{
    struct postgresql *nodes[3] = {NULL, open_node(1), open_node(2)};
    char sql[256];
    for (int i = 1; i < 3; i++) {
        run_node(nodes[i], "ALTER SYSTEM SET primary_conninfo = ''");
        run_node(nodes[i], "SELECT pg_reload_conf()");
        await_text(nodes[i], "SELECT count(*) FROM pg_stat_wal_receiver", "0");
    }
    static const char position[] = "SELECT greatest(pg_last_wal_receive_lsn(), "
                                   "pg_last_wal_replay_lsn()) - '0/0'::pg_lsn";
    const double second = strtod(read_text(nodes[1], position), NULL);
    const int best = strtod(read_text(nodes[2], position), NULL) > second ? 2 : 1;
    run_node(nodes[best], "SELECT pg_promote(true, 60)");
    await_text(nodes[best], "SELECT pg_is_in_recovery()::text", "false");
    (void)snprintf(sql, sizeof sql,
                   "ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=%u user=postgres "
                   "password=secret application_name=s%d'",
                   cluster.ports[best], 4 - best);
    run_node(nodes[3 - best], sql);
    run_node(nodes[3 - best], "SELECT pg_reload_conf()");
    postgresql_close(nodes[1]);
    postgresql_close(nodes[2]);
    return best;
}

/* The journal of the primary has the lines of both sites, without a gap. */
static void check_database(int node)
{
    struct postgresql *c = open_node(node);
    char want[32];
    (void)snprintf(want, sizeof want, "%lld", (long long)count_of(&sites[0]));
    CHECK_TEXT("lines", read_text(c, "SELECT count(*) FROM journal"), want);
    CHECK_TEXT("numbers", read_text(c, "SELECT max(n) FROM journal"), want);
    for (int64_t n = 1; n <= count_of(&sites[0]); n += 97) {
        char sql[96];
        (void)snprintf(sql, sizeof sql, "SELECT line FROM journal WHERE n = %lld",
                       (long long)n);
        CHECK_TEXT("line", read_text(c, sql), sites[0].lines[n - 1]);
    }
    postgresql_close(c);
}

static unsigned count_alarms(enum ownership_alarm alarm)
{
    return atomic_load(&sites[0].alarms[alarm]) + atomic_load(&sites[1].alarms[alarm]);
}

static void append_some(int64_t count)
{
    const int64_t from = atomic_load(&appended);
    int64_t end_us = 0;
    while (atomic_load(&appended) < from + count && wait_more(&end_us, WAIT_MS)) {
    }
    CHECK("lines go on", atomic_load(&appended) >= from + count);
}

/* Runs a fault while lines are appended. It returns the primary of the end. loses: the database
 * loses lines that were durable. */
static void run_fault(const char *name, int (*fault)(void), bool loses)
{
    const size_t rounds = check_runs(3, 1000);
    for (size_t round = 0; round < rounds; round++) {
        pthread_t thread;
        open_cluster(3);
        begin_test(name);
        longest_us = 0;
        atomic_store(&publishes, true);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, publish_lines, NULL), 0);
        append_some(50);
        const int primary = fault();
        append_some(50);
        atomic_store(&publishes, false);
        (void)pthread_join(thread, NULL);
        check_journals();
        check_database(primary);
        CHECK_INT("lines differ", count_alarms(OWNERSHIP_LINES_DIFFER), 0);
        CHECK("went back", (count_alarms(OWNERSHIP_WENT_BACK) > 0) == loses);
        (void)printf("%s %zu: silent for %.1f s at most, %u takes\n", name, round,
                     (double)longest_us * 1e-6,
                     atomic_load(&sites[0].takes) + atomic_load(&sites[1].takes));
        end_test();
        close_cluster();
    }
}

static int kill_primary(void)
{
    signal_node(0, SIGKILL);
    return promote_standby();
}

static void test_primary_killed(void)
{
    run_fault("killed", kill_primary, false);
}

static int freeze_primary(void)
{
    signal_node(0, SIGSTOP);
    const int primary = promote_standby();
    append_some(20);
    signal_node(0, SIGCONT);
    append_some(20);
    return primary;
}

/* Nothing is durable on a primary that comes back after it was replaced. */
static void test_primary_frozen(void)
{
    run_fault("frozen", freeze_primary, false);
}

static int stop_standbys(void)
{
    signal_node(1, SIGSTOP);
    signal_node(2, SIGSTOP);
    const int64_t before = atomic_load(&appended);
    pass_time_ms(3000);
    CHECK("nothing is durable", atomic_load(&appended) <= before + 1);
    signal_node(1, SIGCONT);
    signal_node(2, SIGCONT);
    return 0;
}

static void test_standbys_stopped(void)
{
    run_fault("standbys", stop_standbys, false);
}

/* A promotion that breaks the rules: of a standby that lacks lines, while the other one has
 * them. It waits for nobody. */
static int promote_wrong_standby(void)
{
    struct postgresql *last = open_node(2);
    run_node(last, "ALTER SYSTEM SET primary_conninfo = ''");
    run_node(last, "ALTER SYSTEM SET synchronous_standby_names = ''");
    run_node(last, "SELECT pg_reload_conf()");
    await_text(last, "SELECT count(*) FROM pg_stat_wal_receiver", "0");
    append_some(20);
    signal_node(0, SIGKILL);
    run_node(last, "SELECT pg_promote(true, 60)");
    postgresql_close(last);
    return 2;
}

/* The loss is detected, and the lines come back from the journal of the owner. */
static void test_wrong_promotion(void)
{
    run_fault("wrong", promote_wrong_standby, true);
}

int main(void)
{
    CU_initialize_registry();
    site_times = (struct ownership_params){
        .renew_us = 300000, .safe_us = 1000000, .take_us = 1500000, .follow_us = 50000};
    site_limit_ms = 500;
    CU_pSuite suite = CU_add_suite("partition faults", NULL, NULL);
    CU_add_test(suite, "primary killed", test_primary_killed);
    CU_add_test(suite, "primary frozen", test_primary_frozen);
    CU_add_test(suite, "standbys stopped", test_standbys_stopped);
    CU_add_test(suite, "wrong promotion", test_wrong_promotion);
    return check_run();
}
