/* Instances of one partition with a PostgreSQL of the test's own: they own, follow, hand over,
 * lose connections, stand still, and meet a database that went back.
 *
 * needs: real time, threads */
#include "tests/support/partition_sites.h"

static void open_database(void)
{
    open_cluster(1);
}

static void test_hand_over(void)
{
    begin_test("hand over");
    struct partition_ticket ticket;
    CHECK_INT("NUL", partition_append(sites[0].partition, "a\0b", 3, &ticket), STATUS_E_PARSE);
    CHECK_INT("follower", partition_append(sites[1].partition, "a", 1, &ticket),
              STATUS_E_STALE);
    CHECK_INT("follower", partition_hand_over(sites[1].partition, 0), STATUS_E_STALE);
    CHECK_INT("follower", partition_await_send(sites[1].partition, 0), STATUS_E_STALE);
    for (int i = 0; i < 300; i++) {
        append_line();
    }
    check_journals();
    CHECK("connected", atomic_load(&sites[0].connected) && !atomic_load(&sites[1].connected));
    for (int round = 0; round < 2; round++) {
        struct site *from = state_of(&sites[0]) == OWNERSHIP_OWNING ? &sites[0] : &sites[1];
        struct site *to = from == &sites[0] ? &sites[1] : &sites[0];
        enum status status = STATUS_E_EMPTY;
        int64_t end_us = 0;
        while (status == STATUS_E_EMPTY && wait_more(&end_us, WAIT_MS)) {
            status =
                partition_hand_over(from->partition, INT64_C(1000) * wait_limit_ms(WAIT_MS));
        }
        CHECK_INT("handed over", status, STATUS_OK);
        CHECK("disconnected", !atomic_load(&from->connected));
        CHECK("owns", reaches(to, OWNERSHIP_OWNING));
        append_line();
        check_journals();
    }
    end_test();
}

static void test_nobody_follows(void)
{
    (void)snprintf(name_of_partition, sizeof name_of_partition, "alone");
    memset(&sites[0], 0, sizeof sites[0]);
    (void)pthread_mutex_init(&sites[0].lock, NULL);
    start_site(&sites[0], "a");
    CHECK("owns", reaches(&sites[0], OWNERSHIP_OWNING));
    CHECK_INT("nobody",
              partition_hand_over(sites[0].partition, INT64_C(1000) * wait_limit_ms(WAIT_MS)),
              STATUS_E_EMPTY);
    CHECK("still owns", reaches(&sites[0], OWNERSHIP_OWNING));
    partition_stop(sites[0].partition);
}

static void test_lost_connections(void)
{
    begin_test("connections");
    for (int i = 0; i < 200; i++) {
        append_line();
        if (i % 10 == 0) {
            run_admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                      "WHERE application_name = 'sites'");
        }
    }
    check_journals();
    struct partition_report report;
    partition_get_report(sites[0].partition, &report);
    CHECK("statements failed", report.failures > 0);
    end_test();
}

static void test_frozen_owner(void)
{
    begin_test("frozen");
    for (int i = 0; i < 20; i++) {
        append_line();
    }
    atomic_store(&sites[0].frozen, true);
    struct partition_ticket ticket;
    CHECK_INT("append", partition_append(sites[0].partition, "line 21", 7, &ticket), STATUS_OK);
    CHECK("another owns", reaches(&sites[1], OWNERSHIP_OWNING));
    CHECK_INT("the old one is silent", partition_await_send(sites[0].partition, 0),
              STATUS_E_EMPTY);
    CHECK("nor connects", !partition_may_connect(sites[0].partition));
    CHECK_INT("here", partition_await_send(sites[1].partition, INT64_C(1000) * WAIT_MS),
              STATUS_OK);
    CHECK_INT("not yet", partition_await_send(sites[0].partition, 1000), STATUS_E_EMPTY);
    CHECK_INT("not durable", partition_wait(sites[0].partition, ticket, 0), STATUS_E_EMPTY);
    atomic_store(&appended, 21); /* it was durable before its owner stood still */
    CHECK_INT("waits", partition_append(sites[0].partition, "lost", 4, &ticket), STATUS_OK);
    atomic_store(&sites[0].frozen, false);
    CHECK_INT("dropped", partition_wait(sites[0].partition, ticket, INT64_C(1000) * WAIT_MS),
              STATUS_E_STALE);
    CHECK("follows", reaches(&sites[0], OWNERSHIP_FOLLOWING));
    CHECK_INT("never", partition_await_send(sites[0].partition, 1000), STATUS_E_STALE);
    CHECK_INT("alarm", atomic_load(&sites[0].alarms[OWNERSHIP_TAKEN_FROM_US]), 1);
    CHECK_INT("rolled back", atomic_load(&sites[0].rolled_back), 1);
    CHECK("disconnected", !atomic_load(&sites[0].connected));
    append_line();
    check_journals();
    end_test();
}

/* The database lacks the last five lines, and the lease. */
static void set_back(void)
{
    run_admin(
        "BEGIN; UPDATE part SET n = n - 5, lease = gen_random_uuid() WHERE p = '%s'; "
        "DELETE FROM journal USING part WHERE journal.p = part.p AND journal.n > part.n AND "
        "part.p = '%s'; COMMIT",
        name_of_partition, name_of_partition);
}

static void test_database_went_back(void)
{
    begin_test("went back");
    for (int i = 0; i < 20; i++) {
        append_line();
    }
    check_journals();
    set_back();
    append_line(); /* after the refill */
    CHECK("alarm", atomic_load(&sites[0].alarms[OWNERSHIP_WENT_BACK]) +
                           atomic_load(&sites[1].alarms[OWNERSHIP_WENT_BACK]) >
                       0);
    check_journals();
    end_test();
}

static void test_lines_differ(void)
{
    begin_test("differ");
    for (int i = 0; i < 20; i++) {
        append_line();
    }
    check_journals();
    run_admin("UPDATE journal SET line = 'other' FROM part WHERE journal.p = part.p AND "
              "journal.n = part.n AND part.p = '%s'; UPDATE part SET lease = gen_random_uuid() "
              "WHERE p = '%s'",
              name_of_partition, name_of_partition);
    for (int i = 0; i < SITES; i++) {
        CHECK("stopped", reaches(&sites[i], OWNERSHIP_STOPPED));
        CHECK_INT("alarm", atomic_load(&sites[i].alarms[OWNERSHIP_LINES_DIFFER]), 1);
    }
    end_test();
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("partition", NULL, NULL);
    CU_add_test(suite, "database", open_database);
    CU_add_test(suite, "hand over", test_hand_over);
    CU_add_test(suite, "nobody follows", test_nobody_follows);
    CU_add_test(suite, "lost connections", test_lost_connections);
    CU_add_test(suite, "frozen owner", test_frozen_owner);
    CU_add_test(suite, "database went back", test_database_went_back);
    CU_add_test(suite, "lines differ", test_lines_differ);
    const int status = check_run();
    close_cluster();
    return status;
}
