/* Networks that settle, and the executive's edges. */
#include "tests/support/check.h"
#include "tests/support/efsm_check.h"
#include "tests/support/sample_machine.h"

static void test_network_activity(void)
{
    struct efsm m[2];
    int ask[2] = {LOOP, LOOP};
    struct efsm_stats stats[2] = {{.faults = 0}, {.faults = 0}};
    struct efsm_trace trace = {0};
    const struct efsm_machine machines[2] = {{&table, &m[0], &stats[0], 0, &ask[0], NULL},
                                             {&table, &m[1], &stats[1], 1, &ask[1], NULL}};
    const struct efsm_network net = {
        .machines = machines, .count = 2, .trace = &trace, .cycles_max = 5};
    const struct efsm_network none = {0};

    efsm_reset(&table, &m[0], 0);
    efsm_reset(&table, &m[1], 0);
    CHECK_INT("livelock", efsm_run_instant(&net, 1), 5);
    CHECK("livelock", efsm_network_is_active(&net) && !efsm_network_is_blocked(&net));
    CHECK_INT("both are in the trace", trace.count, 10);
    CHECK_INT("both are in the trace", trace.step[1].machine, 1);
    ask[1] = STAY;
    CHECK_INT("any blocked machine ends it", efsm_run_instant(&net, 2), 1);
    CHECK("any blocked machine ends it", efsm_network_is_blocked(&net));
    ask[1] = NONE;
    CHECK_INT("a fault ends it", efsm_run_instant(&net, 3), 1);
    CHECK("a fault makes it inactive", !efsm_network_is_active(&net));
    CHECK_INT("fault counted", stats[1].faults, 1);
    CHECK_INT("inactive: nothing runs", efsm_run_instant(&net, 4), 0);
    CHECK_INT("inactive: nothing runs", trace.count, 13);
    efsm_stop(&m[1]);
    CHECK("stopped: active again", efsm_network_is_active(&net));
    CHECK("stopped: does not block",
          efsm_run_instant(&net, 5) == 5 && !efsm_network_is_blocked(&net));
    efsm_stop(&m[0]);
    CHECK_INT("all stopped", efsm_run_instant(&net, 6), 0);
    efsm_reset(&table, &m[0], 7);
    ask[0] = TO_LAST;
    CHECK_INT("a final state ends it", efsm_run_instant(&net, 8), 1);
    CHECK_INT("and keeps it ended", efsm_run_instant(&net, 9), 0);
    efsm_reset(&table, &m[0], 10);
    ask[0] = STAY;
    CHECK_INT("reset: runs again", efsm_run_instant(&net, 11), 1);
    CHECK_INT("no machine", efsm_run_instant(&none, 0), 0);
}

static void test_cycle_cap_default(void)
{
    struct efsm m;
    int ask = LOOP;
    const struct efsm_machine machine = {.table = &table, .m = &m, .in = &ask};
    const struct efsm_network net = {.machines = &machine, .count = 1};
    struct efsm_executive x = {.period_us = 10};

    efsm_reset(&table, &m, 0);
    CHECK_INT("default cap", efsm_run_instant(&net, 0), EFSM_CYCLES_MAX);
    CHECK("default cap", efsm_executive_step(&x, &net, 0));
    CHECK_INT("default cap", x.cycles, EFSM_CYCLES_MAX);
    CHECK_INT("default cap", x.livelocks, 1);
    ask = STAY;
    CHECK("goes on", efsm_executive_step(&x, &net, 10));
    CHECK_INT("goes on", x.livelocks, 1);
    CHECK_INT("goes on", x.cycles, EFSM_CYCLES_MAX + 1);
}

/* From 1970 on in microseconds: the executive's cells must hold it exactly. */
#define NOW_US INT64_C(1790000000123457)

static void test_resync(void)
{
    static const struct {
        const char *row;
        int64_t at_us, end_us;
        bool ran;
        int64_t begin_us, simulated_us;
        unsigned overruns, resyncs;
    } rows[] = {
        {"first", 0, 10, true, 0, 0, 0, 0},
        {"too early", 24, 24, false, 0, 0, 0, 0},
        {"late, caught up", 75, 80, true, 25, 25, 1, 0},
        {"catches up", 80, 85, true, 50, 50, 2, 0},
        {"catches up", 85, 90, true, 75, 75, 2, 0},
        {"lag equal to the limit", 200, 201, true, 100, 100, 3, 0},
        {"lag beyond the limit", 226, 227, true, 226, 125, 3, 1},
        {"ends when the next begins", 251, 276, true, 251, 150, 3, 1},
        {"time goes back", 200, 200, false, 251, 150, 3, 1},
    };
    struct efsm m;
    int ask = STAY;
    const struct efsm_machine machine = {.table = &table, .m = &m, .in = &ask};
    const struct efsm_network net = {.machines = &machine, .count = 1};
    struct efsm_executive x = {.period_us = 25, .simulated_us = NOW_US, .resync_us = 100};

    efsm_reset(&table, &m, NOW_US);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *row = rows[i].row;
        CHECK_INT(row, efsm_executive_step(&x, &net, NOW_US + rows[i].at_us), rows[i].ran);
        if (rows[i].ran) {
            efsm_executive_end(&x, NOW_US + rows[i].end_us);
        }
        CHECK_INT(row, x.begin_us - NOW_US, rows[i].begin_us);
        CHECK_INT(row, x.simulated_us - NOW_US, rows[i].simulated_us);
        CHECK_INT(row, x.overruns, rows[i].overruns);
        CHECK_INT(row, x.resyncs, rows[i].resyncs);
    }
    CHECK_INT("periods", x.periods, 7);
}

static void test_executive_end(void)
{
    struct efsm m;
    int ask = STAY;
    const struct efsm_machine machine = {.table = &table, .m = &m, .in = &ask};
    const struct efsm_network net = {.machines = &machine, .count = 1};
    struct efsm_executive x = {.period_us = 10};

    efsm_reset(&table, &m, 0);
    efsm_executive_end(&x, 1000);
    CHECK_INT("not begun: no overrun", x.overruns, 0);
    CHECK("first", efsm_executive_step(&x, &net, 0));
    ask = NONE;
    CHECK("the fault's own period", efsm_executive_step(&x, &net, 10));
    CHECK_INT("ended", x.ends, 1);
    CHECK("nothing runs", !efsm_executive_step(&x, &net, 20));
    CHECK("nothing runs", !efsm_executive_step(&x, &net, 500));
    CHECK_INT("ended once", x.ends, 1);
    CHECK_INT("periods", x.periods, 2);
    ask = STAY;
    efsm_reset(&table, &m, 500);
    CHECK("begins at once", efsm_executive_step(&x, &net, 503));
    CHECK_INT("no burst of lost periods", x.begin_us, 503);
    CHECK_INT("one period on", x.simulated_us, 20);
    CHECK("and then in step", !efsm_executive_step(&x, &net, 512));
    CHECK("and then in step", efsm_executive_step(&x, &net, 513));
    efsm_stop(&m);
    CHECK("stopped between periods", !efsm_executive_step(&x, &net, 523));
    CHECK_INT("stopped between periods", x.ends, 2);
    CHECK("its state is to be seen", x.machine.state == 6);
    CHECK_TEXT("its state is to be seen",
               efsm_state_name(&efsm_executive_table, x.machine.state), "END");

    struct efsm_executive y = {.period_us = 10};
    CHECK("inactive from the start", !efsm_executive_step(&y, &net, 0));
    efsm_reset(&table, &m, 5);
    CHECK("first period", efsm_executive_step(&y, &net, 5));
    CHECK_INT("first period", y.begin_us, 5);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("efsm network", NULL, NULL);
    CU_ADD_TEST(suite, test_network_activity);
    CU_ADD_TEST(suite, test_cycle_cap_default);
    CU_ADD_TEST(suite, test_resync);
    CU_ADD_TEST(suite, test_executive_end);
    return check_run();
}
