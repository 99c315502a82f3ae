/* The golden traces of docs/model/efsm.md that networks and the executive make: one row per
 * cycle. */
#include "tests/support/check.h"

#include "twin/efsm/efsm.h"

/* ---- swap: delayed assignment, whatever the order ------------------------------------------
 */

static void copy_other(const struct efsm_view *v)
{
    efsm_set(v, 0, *(const double *)v->in);
}

static void show_own(const struct efsm_view *v)
{
    *(double *)v->out = efsm_get(v, 0);
}

static void sense_swap(void *context, unsigned cycle, int64_t t_us)
{
    double(*signal)[2] = context; /* [machine][in, out] */
    (void)cycle;
    (void)t_us;
    signal[0][0] = signal[1][1];
    signal[1][0] = signal[0][1];
}

static void test_swap(void)
{
    static const struct efsm_state states[] = {{"S", show_own, false}};
    static const struct efsm_arc arcs[] = {
        {0, 0, NULL, copy_other, .label = "t", .waits = true}};
    static const char *const cells[] = {"x"};
    static const struct efsm_table table = {.name = "Swap",
                                            .purpose = "swaps",
                                            .states = states,
                                            .state_count = 1,
                                            .arcs = arcs,
                                            .arc_count = 1,
                                            .cells = cells,
                                            .cell_count = 1};
    static const double want[][2] = {{1, 2}, {2, 1}, {1, 2}, {2, 1}};

    for (int order = 0; order < 2; order++) {
        struct efsm m[2];
        double signal[2][2] = {{0.0}};
        const struct efsm_machine a = {&table, &m[0], NULL, 0, &signal[0][0], &signal[0][1]};
        const struct efsm_machine b = {&table, &m[1], NULL, 1, &signal[1][0], &signal[1][1]};
        const struct efsm_machine machines[2] = {order == 0 ? a : b, order == 0 ? b : a};
        const struct efsm_network net = {
            .machines = machines, .count = 2, .sense = sense_swap, .context = signal};
        const char *row = order == 0 ? "7.4 order (0, 1)" : "7.4 order (1, 0)";

        for (size_t i = 0; i < 2; i++) {
            efsm_reset(&table, &m[i], 0);
            efsm_init_cell(&m[i], 0, (double)i + 1.0);
        }
        efsm_network_prime(&net, 0);
        for (size_t k = 0; k < COUNT(want); k++) {
            CHECK_NEAR(row, m[0].cell[0], want[k][0], 0.0, 0.0);
            CHECK_NEAR(row, m[1].cell[0], want[k][1], 0.0, 0.0);
            CHECK_INT(row, efsm_run_instant(&net, (int64_t)k), 1);
        }
    }
}

/* ---- several cycles a period; events only at I = 0 -----------------------------------------
 */

static bool event_set(const struct efsm_view *v)
{
    return *(const bool *)v->in;
}

static bool event_clear(const struct efsm_view *v)
{
    return !event_set(v);
}

static void count_event(const struct efsm_view *v)
{
    efsm_set(v, 0, efsm_get(v, 0) + 1.0);
}

static const struct efsm_state chain_states[] = {
    {.name = "S0"}, {.name = "S1"}, {.name = "S2"}};
static const char *const chain_cells[] = {"n"};
static const struct efsm_arc chain_arcs[] = {
    {0, 1, event_set, count_event, .label = "ev"},
    {0, 0, event_clear, NULL, .label = "!ev", .waits = true},
    {1, 2, NULL, NULL, .label = "t"},
    {2, 0, NULL, NULL, .label = "t"},
};
static const struct efsm_table chain_table = {.name = "Chain",
                                              .purpose = "several cycles an event",
                                              .states = chain_states,
                                              .state_count = 3,
                                              .arcs = chain_arcs,
                                              .arc_count = COUNT(chain_arcs),
                                              .cells = chain_cells,
                                              .cell_count = 1};

struct chain_row {
    const char *row;
    int simulated_us, cycle, total;
    int state, event, next_state, n;
};

struct chain {
    const struct chain_row *rows;
    size_t row_count, seen;
    bool gated;
    bool event; /* the machine's input */
    int state, n;
    struct efsm m;
};

static void sense_chain(void *context, unsigned cycle, int64_t t_us)
{
    static const bool event_in_period[] = {false, true, false, true};
    struct chain *c = context;
    c->event = event_in_period[t_us / 25] && (cycle == 0 || !c->gated);
    c->state = c->m.state;
    c->n = (int)c->m.cell[0];
}

static void commit_chain(void *context, unsigned cycle, int64_t t_us)
{
    struct chain *c = context;

    if (c->seen >= c->row_count) {
        CHECK("7.5 more cycles than rows", false);
        return;
    }
    const struct chain_row *r = &c->rows[c->seen];
    CHECK_INT(r->row, t_us, r->simulated_us);
    CHECK_INT(r->row, cycle, r->cycle);
    CHECK_INT(r->row, c->seen, r->total);
    CHECK_INT(r->row, c->state, r->state);
    CHECK_INT(r->row, c->event, r->event);
    CHECK_INT(r->row, c->m.state, r->next_state);
    CHECK_INT(r->row, c->n, r->n);
    c->seen++;
}

static void run_chain(const struct chain_row *rows, size_t n, bool gated, int64_t periods,
                      uint64_t livelocks)
{
    struct chain c = {.rows = rows, .row_count = n, .gated = gated};
    const struct efsm_machine machine = {.table = &chain_table, .m = &c.m, .in = &c.event};
    const struct efsm_network net = {.machines = &machine,
                                     .count = 1,
                                     .sense = sense_chain,
                                     .commit = commit_chain,
                                     .context = &c,
                                     .cycles_max = 7};
    struct efsm_executive x = {.period_us = 25};

    efsm_reset(&chain_table, &c.m, 0);
    efsm_init_cell(&c.m, 0, 0.0);
    for (int64_t p = 0; p < periods; p++) {
        CHECK("7.5", efsm_executive_step(&x, &net, 25 * p));
        CHECK("7.5", !efsm_executive_step(&x, &net, 25 * p + 24));
    }
    CHECK_INT("7.5", c.seen, n);
    CHECK_INT("7.5", x.cycles, n);
    CHECK_INT("7.5", x.periods, periods);
    CHECK_INT("7.5", x.livelocks, livelocks);
}

static void test_events_gated(void)
{
    static const struct chain_row rows[] = {
        {"7.5 sT=0 I=0", 0, 0, 0, 0, 0, 0, 0},   {"7.5 sT=25 I=0", 25, 0, 1, 0, 1, 1, 0},
        {"7.5 sT=25 I=1", 25, 1, 2, 1, 0, 2, 1}, {"7.5 sT=25 I=2", 25, 2, 3, 2, 0, 0, 1},
        {"7.5 sT=25 I=3", 25, 3, 4, 0, 0, 0, 1}, {"7.5 sT=50 I=0", 50, 0, 5, 0, 0, 0, 1},
        {"7.5 sT=75 I=0", 75, 0, 6, 0, 1, 1, 1}, {"7.5 sT=75 I=1", 75, 1, 7, 1, 0, 2, 2},
        {"7.5 sT=75 I=2", 75, 2, 8, 2, 0, 0, 2}, {"7.5 sT=75 I=3", 75, 3, 9, 0, 0, 0, 2},
    };
    run_chain(rows, COUNT(rows), true, 4, 0);
}

static void test_events_not_gated(void)
{
    static const struct chain_row rows[] = {
        {"7.5 wrong sT=0 I=0", 0, 0, 0, 0, 0, 0, 0},
        {"7.5 wrong sT=25 I=0", 25, 0, 1, 0, 1, 1, 0},
        {"7.5 wrong sT=25 I=1", 25, 1, 2, 1, 1, 2, 1},
        {"7.5 wrong sT=25 I=2", 25, 2, 3, 2, 1, 0, 1},
        {"7.5 wrong sT=25 I=3", 25, 3, 4, 0, 1, 1, 1},
        {"7.5 wrong sT=25 I=4", 25, 4, 5, 1, 1, 2, 2},
        {"7.5 wrong sT=25 I=5", 25, 5, 6, 2, 1, 0, 2},
        {"7.5 wrong sT=25 I=6", 25, 6, 7, 0, 1, 1, 2},
    };
    run_chain(rows, COUNT(rows), false, 2, 1);
}

/* ---- catch-up ------------------------------------------------------------------------------
 */

static void test_catch_up(void)
{
    static const struct {
        const char *row;
        int cost_us;
        int start_us, begin_us, lag_us, simulated_us, end_us, idle_until_us, overruns;
    } rows[] = {
        {"7.6 period 0", 10, 0, 0, 0, 0, 10, 25, 0},
        {"7.6 period 1", 10, 25, 25, 0, 25, 35, 50, 0},
        {"7.6 period 2", 60, 50, 50, 0, 50, 110, 110, 1},
        {"7.6 period 3", 10, 110, 75, 35, 75, 120, 120, 2},
        {"7.6 period 4", 10, 120, 100, 20, 100, 130, 130, 3},
        {"7.6 period 5", 10, 130, 125, 5, 125, 140, 150, 3},
        {"7.6 period 6", 10, 150, 150, 0, 150, 160, 175, 3},
        {"7.6 period 7", 10, 175, 175, 0, 175, 185, 200, 3},
    };
    static const struct efsm_state states[] = {{.name = "S"}};
    static const struct efsm_arc arcs[] = {{0, 0, .label = "t", .waits = true}};
    static const struct efsm_table table = {.name = "Once",
                                            .purpose = "one cycle a period",
                                            .states = states,
                                            .state_count = 1,
                                            .arcs = arcs,
                                            .arc_count = 1};
    struct efsm m;
    const struct efsm_machine machine = {.table = &table, .m = &m};
    const struct efsm_network net = {.machines = &machine, .count = 1};
    struct efsm_executive x = {.period_us = 25};
    int64_t t_us = 0;

    efsm_reset(&table, &m, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *row = rows[i].row;

        CHECK_INT(row, t_us, rows[i].start_us);
        CHECK(row, efsm_executive_step(&x, &net, t_us));
        CHECK_INT(row, x.begin_us, rows[i].begin_us);
        CHECK_INT(row, t_us - x.begin_us, rows[i].lag_us);
        CHECK_INT(row, x.simulated_us, rows[i].simulated_us);
        t_us += rows[i].cost_us;
        CHECK_INT(row, t_us, rows[i].end_us);
        efsm_executive_end(&x, t_us);
        CHECK_INT(row, x.overruns, rows[i].overruns);
        /* Idle: the clock moves on until the executive would begin; tried on a copy. */
        for (;;) {
            struct efsm_executive trial = x;
            struct efsm saved = m;
            const bool ran = efsm_executive_step(&trial, &net, t_us);
            m = saved;
            if (ran) {
                break;
            }
            t_us++;
        }
        CHECK_INT(row, t_us, rows[i].idle_until_us);
    }
    CHECK_INT("7.6", x.cycles, COUNT(rows));
    CHECK_INT("7.6", x.livelocks, 0);
    CHECK_INT("7.6", x.resyncs, 0);
}

/* ---- master and slave: four handshakes -----------------------------------------------------
 */

enum { GO, REQ, SUB, DONE_M };
enum { IDLE, A1, A2, DONE_S };

static bool signal_set(const struct efsm_view *v)
{
    return *(const int *)v->in != 0;
}

static bool signal_clear(const struct efsm_view *v)
{
    return !signal_set(v);
}

static void show_0(const struct efsm_view *v)
{
    *(int *)v->out = 0;
}

static void show_1(const struct efsm_view *v)
{
    *(int *)v->out = 1;
}

struct handshake {
    const char *row;
    struct efsm_state master_states[4], slave_states[4];
    uint8_t called;   /* GO goes to it */
    uint8_t finished; /* A2 goes to it */
    const char *cycles[8];
};

static void sense_handshake(void *context, unsigned cycle, int64_t t_us)
{
    int(*signal)[2] = context; /* [machine][in, out] */
    (void)cycle;
    (void)t_us;
    signal[0][0] = signal[1][1];
    signal[1][0] = signal[0][1];
}

static void run_handshake(const struct handshake *h)
{
    const struct efsm_arc master_arcs[] = {
        {GO, h->called, NULL, NULL, .label = "call"},
        {REQ, SUB, NULL, NULL, .label = "t"},
        {SUB, DONE_M, signal_set, NULL, .label = "ready"},
        {SUB, SUB, signal_clear, NULL, .label = "!ready", .waits = true},
        {DONE_M, DONE_M, NULL, NULL, .label = "t", .waits = true},
    };
    const struct efsm_arc slave_arcs[] = {
        {IDLE, A1, signal_set, NULL, .label = "active"},
        {IDLE, IDLE, signal_clear, NULL, .label = "!active", .waits = true},
        {A1, A2, NULL, NULL, .label = "t"},
        {A2, h->finished, NULL, NULL, .label = "t"},
        {DONE_S, IDLE, signal_clear, NULL, .label = "!active"},
        {DONE_S, DONE_S, signal_set, NULL, .label = "active", .waits = true},
    };
    const struct efsm_table master = {.name = "M",
                                      .purpose = "master",
                                      .states = h->master_states,
                                      .state_count = 4,
                                      .arcs = master_arcs,
                                      .arc_count = COUNT(master_arcs)};
    const struct efsm_table slave = {.name = "S",
                                     .purpose = "slave",
                                     .states = h->slave_states,
                                     .state_count = 4,
                                     .arcs = slave_arcs,
                                     .arc_count = COUNT(slave_arcs)};
    struct efsm m[2];
    int signal[2][2] = {{0}};
    const struct efsm_machine machines[2] = {
        {&master, &m[0], NULL, 0, &signal[0][0], &signal[0][1]},
        {&slave, &m[1], NULL, 1, &signal[1][0], &signal[1][1]}};
    /* One cycle a call: here the cycles count, not the periods. */
    const struct efsm_network net = {.machines = machines,
                                     .count = 2,
                                     .sense = sense_handshake,
                                     .context = signal,
                                     .cycles_max = 1};

    efsm_reset(&master, &m[0], 0);
    efsm_reset(&slave, &m[1], 0);
    efsm_network_prime(&net, 0);
    for (size_t k = 0; k < COUNT(h->cycles); k++) {
        char row[64];
        char got[64];
        (void)snprintf(row, sizeof row, "%s cycle %zu", h->row, k);
        (void)snprintf(got, sizeof got, "%s/%d|%s/%d", efsm_state_name(&master, m[0].state),
                       signal[0][1], efsm_state_name(&slave, m[1].state), signal[1][1]);
        CHECK_TEXT(row, got, h->cycles[k]);
        (void)efsm_run_instant(&net, (int64_t)k);
    }
}

static void test_handshakes(void)
{
    /* clang-format off */
    static const struct handshake all[] = {
        {"7.8 (a) naive",
         {{"GO", show_0, false}, {"REQ", show_0, false}, {"SUB", show_1, false}, {"END", show_0, false}},
         {{"IDLE", show_1, false}, {"A1", show_0, false}, {"A2", show_0, false}, {"DONE", show_0, false}},
         SUB, IDLE,
         {"GO/0|IDLE/1", "SUB/1|IDLE/1", "END/0|A1/0", "END/0|A2/0",
          "END/0|IDLE/1", "END/0|IDLE/1", "END/0|IDLE/1", "END/0|IDLE/1"}},
        {"7.8 (b) held",
         {{"GO", show_0, false}, {"REQ", show_1, false}, {"SUB", show_1, false}, {"END", show_0, false}},
         {{"IDLE", show_1, false}, {"A1", show_0, false}, {"A2", show_0, false}, {"DONE", show_0, false}},
         REQ, IDLE,
         {"GO/0|IDLE/1", "REQ/1|IDLE/1", "SUB/1|A1/0", "SUB/1|A2/0",
          "SUB/1|IDLE/1", "END/0|A1/0", "END/0|A2/0", "END/0|IDLE/1"}},
        {"7.8 (c) pulse",
         {{"GO", show_0, false}, {"REQ", show_1, false}, {"SUB", show_0, false}, {"END", show_0, false}},
         {{"IDLE", show_1, false}, {"A1", show_0, false}, {"A2", show_0, false}, {"DONE", show_0, false}},
         REQ, IDLE,
         {"GO/0|IDLE/1", "REQ/1|IDLE/1", "SUB/0|A1/0", "SUB/0|A2/0",
          "SUB/0|IDLE/1", "END/0|IDLE/1", "END/0|IDLE/1", "END/0|IDLE/1"}},
        {"7.8 (d) four-phase",
         {{"GO", show_0, false}, {"REQ", show_0, false}, {"SUB", show_1, false}, {"END", show_0, false}},
         {{"IDLE", show_0, false}, {"A1", show_0, false}, {"A2", show_0, false}, {"DONE", show_1, false}},
         SUB, DONE_S,
         {"GO/0|IDLE/0", "SUB/1|IDLE/0", "SUB/1|A1/0", "SUB/1|A2/0",
          "SUB/1|DONE/1", "END/0|DONE/1", "END/0|IDLE/0", "END/0|IDLE/0"}},
    };
    /* clang-format on */
    for (size_t i = 0; i < COUNT(all); i++) {
        run_handshake(&all[i]);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("efsm network golden traces", NULL, NULL);
    CU_ADD_TEST(suite, test_swap);
    CU_ADD_TEST(suite, test_events_gated);
    CU_ADD_TEST(suite, test_events_not_gated);
    CU_ADD_TEST(suite, test_catch_up);
    CU_ADD_TEST(suite, test_handshakes);
    return check_run();
}
