/* The golden traces of docs/model/efsm.md: one row per cycle, every column checked. */
#include "tests/support/check.h"

#include "twin/efsm.h"

#define UNDEF (-99) /* in a row: the variable has no value; the reports print "-" */

/* ---- the programmable counter ----------------------------------------------------------- */

enum { WAIT, COUNTING };
enum { CELL_C, CELL_E };

struct counter_in {
    bool b;
    int p;
};

static bool b_set(const struct efsm_view *v)
{
    return ((const struct counter_in *)v->in)->b;
}

static bool b_clear(const struct efsm_view *v)
{
    return !b_set(v);
}

static bool c_positive(const struct efsm_view *v)
{
    return efsm_get(v, CELL_C) > 0.0;
}

static bool c_not_negative(const struct efsm_view *v)
{
    return efsm_get(v, CELL_C) >= 0.0;
}

static bool c_not_positive(const struct efsm_view *v)
{
    return !c_positive(v);
}

static void load_c(const struct efsm_view *v)
{
    efsm_set(v, CELL_C, ((const struct counter_in *)v->in)->p - 1.0);
}

static void count_down(const struct efsm_view *v)
{
    efsm_set(v, CELL_C, efsm_get(v, CELL_C) - 1.0);
}

static void load_c_clear_e(const struct efsm_view *v)
{
    load_c(v);
    efsm_set(v, CELL_E, 0.0);
}

static void set_e(const struct efsm_view *v)
{
    efsm_set(v, CELL_E, 1.0);
}

static void clear_e(const struct efsm_view *v)
{
    efsm_set(v, CELL_E, 0.0);
}

/* Immediate e: of the current extended state. */
static void e_false(const struct efsm_view *v)
{
    *(int *)v->out = 0;
}

static void e_at_zero(const struct efsm_view *v)
{
    *(int *)v->out = efsm_is_defined(v, CELL_C) && efsm_get(v, CELL_C) <= 0.0;
}

/* Delayed e: the variable. */
static void e_variable(const struct efsm_view *v)
{
    *(int *)v->out = efsm_get(v, CELL_E) > 0.0;
}

static const char *const counter_cells[] = {"C", "e"};
static const struct efsm_state immediate_states[] = {{"WAIT", e_false, false},
                                                     {"COUNT", e_at_zero, false}};
static const struct efsm_state delayed_states[] = {{"WAIT", e_variable, false},
                                                   {"COUNT", e_variable, false}};

/* clang-format off */
static const struct efsm_arc counter_arcs[] = {
    {WAIT,     COUNTING, b_set,          load_c,         .label = "b",    .waits = true},
    {COUNTING, COUNTING, c_positive,     count_down,     .label = "C>0",  .waits = true},
    {COUNTING, WAIT,     c_not_positive, NULL,           .label = "C<=0", .waits = true},
    {WAIT,     WAIT,     b_clear,        NULL,           .label = "!b",   .waits = true}, /* last: cut off below */
};
static const struct efsm_arc delayed_arcs[] = {
    {WAIT,     COUNTING, b_set,          load_c_clear_e, .label = "b",    .waits = true},
    {COUNTING, COUNTING, c_positive,     count_down,     .label = "C>0",  .waits = true},
    {COUNTING, WAIT,     c_not_positive, set_e,          .label = "C<=0", .waits = true},
    {WAIT,     WAIT,     b_clear,        clear_e,        .label = "!b",   .waits = true},
};
static const struct efsm_arc overlapping_arcs[] = {
    {WAIT,     COUNTING, b_set,          load_c,         .label = "b",    .waits = true},
    {COUNTING, COUNTING, c_not_negative, count_down,     .label = "C>0",  .waits = true},
    {COUNTING, WAIT,     c_not_positive, NULL,           .label = "C<=0", .waits = true},
    {WAIT,     WAIT,     b_clear,        NULL,           .label = "!b",   .waits = true},
};
#define COUNTER(states_, arcs_, n) \
    {.name = "Counter", .purpose = "counts", .states = (states_), .state_count = 2, .arcs = (arcs_), \
     .arc_count = (n), .cells = counter_cells, .cell_count = 2, .initial = WAIT}
static const struct efsm_table immediate = COUNTER(immediate_states, counter_arcs, 4);
static const struct efsm_table delayed = COUNTER(delayed_states, delayed_arcs, 4);
static const struct efsm_table incomplete = COUNTER(immediate_states, counter_arcs, 3);
static const struct efsm_table overlapping = COUNTER(immediate_states, overlapping_arcs, 4);
/* clang-format on */

struct counter_row {
    const char *row;
    int b, p;
    int state, c, e;   /* at the beginning of the cycle */
    const char *fired; /* labels, joined by a comma */
    int next_state, next_c;
};

static void fired_labels(const struct efsm_table *table, const struct efsm *m, char *out,
                         size_t size)
{
    (void)snprintf(out, size, "%s%s%s",
                   m->fired_arc == EFSM_NO_ARC ? "(none)" : table->arcs[m->fired_arc].label,
                   m->fired_also == EFSM_NO_ARC ? "" : ",",
                   m->fired_also == EFSM_NO_ARC ? "" : table->arcs[m->fired_also].label);
}

static void check_cell(const char *row, bool defined, double got, int want)
{
    CHECK_INT(row, defined, want != UNDEF);
    if (defined && want != UNDEF) {
        CHECK_NEAR(row, got, want, 0.0, 0.0);
    }
}

static void run_counter(const struct efsm_table *table, const struct counter_row *rows,
                        size_t n)
{
    struct efsm m;
    int e = -1;

    efsm_reset(table, &m, 0);
    if (table == &delayed) {
        efsm_init_cell(&m, CELL_E, 0.0);
    }
    for (size_t i = 0; i < n; i++) {
        const struct counter_row *r = &rows[i];
        struct counter_in in = {r->b != 0, r->p};
        char fired[32];

        efsm_act(table, &m, &in, &e, (int64_t)i);
        CHECK_INT(r->row, m.state, r->state);
        check_cell(r->row, m.defined & 1U << CELL_C, m.cell[CELL_C], r->c);
        CHECK_INT(r->row, e, r->e);
        efsm_plan(table, &m, &in, (int64_t)i);
        fired_labels(table, &m, fired, sizeof fired);
        CHECK_TEXT(r->row, fired, r->fired);
        CHECK_INT(r->row, m.next, r->next_state);
        check_cell(r->row, (m.defined | m.written) & 1U << CELL_C, m.next_cell[CELL_C],
                   r->next_c);
        CHECK_INT(r->row, m.blocked, true);
        /* Nothing current has moved yet. */
        CHECK_INT(r->row, m.state, r->state);
        check_cell(r->row, m.defined & 1U << CELL_C, m.cell[CELL_C], r->c);
        efsm_update(table, &m, (int64_t)i, 0, NULL, NULL);
    }
    CHECK_INT(rows[n - 1].row, m.state, rows[n - 1].next_state);
    CHECK_INT(rows[n - 1].row, efsm_is_active(table, &m), m.state < EFSM_INCOMPLETE);
}

static void test_counter_immediate(void)
{
    /* clang-format off */
    static const struct counter_row rows[] = {
        {"7.1 cycle 0",  0, 3, WAIT,     UNDEF, 0, "!b",   WAIT,     UNDEF},
        {"7.1 cycle 1",  0, 3, WAIT,     UNDEF, 0, "!b",   WAIT,     UNDEF},
        {"7.1 cycle 2",  1, 3, WAIT,     UNDEF, 0, "b",    COUNTING, 2},
        {"7.1 cycle 3",  0, 3, COUNTING, 2,     0, "C>0",  COUNTING, 1},
        {"7.1 cycle 4",  1, 3, COUNTING, 1,     0, "C>0",  COUNTING, 0},
        {"7.1 cycle 5",  0, 3, COUNTING, 0,     1, "C<=0", WAIT,     0},
        {"7.1 cycle 6",  0, 3, WAIT,     0,     0, "!b",   WAIT,     0},
        {"7.1 cycle 7",  0, 3, WAIT,     0,     0, "!b",   WAIT,     0},
        {"7.1 cycle 8",  1, 1, WAIT,     0,     0, "b",    COUNTING, 0},
        {"7.1 cycle 9",  0, 1, COUNTING, 0,     1, "C<=0", WAIT,     0},
        {"7.1 cycle 10", 0, 1, WAIT,     0,     0, "!b",   WAIT,     0},
        {"7.1 cycle 11", 0, 1, WAIT,     0,     0, "!b",   WAIT,     0},
    };
    /* clang-format on */
    run_counter(&immediate, rows, COUNT(rows));
}

static void test_counter_delayed(void)
{
    /* clang-format off */
    static const struct counter_row rows[] = {
        {"7.1b cycle 0",  0, 3, WAIT,     UNDEF, 0, "!b",   WAIT,     UNDEF},
        {"7.1b cycle 1",  0, 3, WAIT,     UNDEF, 0, "!b",   WAIT,     UNDEF},
        {"7.1b cycle 2",  1, 3, WAIT,     UNDEF, 0, "b",    COUNTING, 2},
        {"7.1b cycle 3",  0, 3, COUNTING, 2,     0, "C>0",  COUNTING, 1},
        {"7.1b cycle 4",  1, 3, COUNTING, 1,     0, "C>0",  COUNTING, 0},
        {"7.1b cycle 5",  0, 3, COUNTING, 0,     0, "C<=0", WAIT,     0},
        {"7.1b cycle 6",  0, 3, WAIT,     0,     1, "!b",   WAIT,     0},
        {"7.1b cycle 7",  0, 3, WAIT,     0,     0, "!b",   WAIT,     0},
        {"7.1b cycle 8",  1, 1, WAIT,     0,     0, "b",    COUNTING, 0},
        {"7.1b cycle 9",  0, 1, COUNTING, 0,     0, "C<=0", WAIT,     0},
        {"7.1b cycle 10", 0, 1, WAIT,     0,     1, "!b",   WAIT,     0},
        {"7.1b cycle 11", 0, 1, WAIT,     0,     0, "!b",   WAIT,     0},
    };
    /* clang-format on */
    run_counter(&delayed, rows, COUNT(rows));
}

static void test_counter_zero(void)
{
    static const struct counter_row rows[] = {
        {"P=0 cycle 0", 1, 0, WAIT, UNDEF, 0, "b", COUNTING, -1},
        {"P=0 cycle 1", 0, 0, COUNTING, -1, 1, "C<=0", WAIT, -1},
        {"P=0 cycle 2", 0, 0, WAIT, -1, 0, "!b", WAIT, -1},
    };
    run_counter(&immediate, rows, COUNT(rows));
}

static void test_counter_incomplete(void)
{
    static const struct counter_row rows[] = {
        {"7.2 cycle 0", 1, 2, WAIT, UNDEF, 0, "b", COUNTING, 1},
        {"7.2 cycle 1", 0, 2, COUNTING, 1, 0, "C>0", COUNTING, 0},
        {"7.2 cycle 2", 0, 2, COUNTING, 0, 1, "C<=0", WAIT, 0},
        {"7.2 cycle 3", 0, 2, WAIT, 0, 0, "(none)", EFSM_INCOMPLETE, 0},
    };
    run_counter(&incomplete, rows, COUNT(rows));
}

static void test_counter_non_deterministic(void)
{
    static const struct counter_row rows[] = {
        {"7.3 cycle 0", 1, 3, WAIT, UNDEF, 0, "b", COUNTING, 2},
        {"7.3 cycle 1", 0, 3, COUNTING, 2, 0, "C>0", COUNTING, 1},
        {"7.3 cycle 2", 0, 3, COUNTING, 1, 0, "C>0", COUNTING, 0},
        {"7.3 cycle 3", 0, 3, COUNTING, 0, 1, "C>0,C<=0", EFSM_NON_DETERMINISTIC, 0},
    };
    run_counter(&overlapping, rows, COUNT(rows));
}

/* ---- swap: delayed assignment, whatever the order ------------------------------------------
 */

static void take_other(const struct efsm_view *v)
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
        {0, 0, NULL, take_other, .label = "t", .waits = true}};
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
            CHECK_INT(row, efsm_settle(&net, (int64_t)k), 1);
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
    struct efsm m;
    struct counter_in in = {false, 1};
    int e = 0;
    const struct efsm_machine machine = {&immediate, &m, NULL, 0, &in, &e};
    const struct efsm_network net = {.machines = &machine, .count = 1};
    struct efsm_executive x = {.period_us = 25};
    int64_t t_us = 0;

    efsm_reset(&immediate, &m, 0);
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

/* ---- EFS2M: the stack ----------------------------------------------------------------------
 */

enum { START, P1_1, P1_2, P1_3, GOAL };
enum { NOTHING, PLAN1, NEXT, SKIP, ABORT };

static int event_of(const struct efsm_view *v)
{
    return *(const int *)v->in;
}

static bool is_plan1(const struct efsm_view *v)
{
    return event_of(v) == PLAN1;
}

static bool no_plan1(const struct efsm_view *v)
{
    return event_of(v) != PLAN1;
}

static bool is_next(const struct efsm_view *v)
{
    return event_of(v) == NEXT;
}

static bool is_skip(const struct efsm_view *v)
{
    return event_of(v) == SKIP;
}

static bool is_abort(const struct efsm_view *v)
{
    return event_of(v) == ABORT;
}

static bool is_stay(const struct efsm_view *v)
{
    return !is_next(v) && !is_skip(v) && !is_abort(v);
}

/* clang-format off */
#define STEP(S) \
    {S, EFSM_POP, is_next,  NULL, .label = "next"}, \
    {S, EFSM_POP, is_skip,  NULL, .label = "skip", .pops = 1}, \
    {S, START,    is_abort, NULL, .label = "abort", .empties = true}, \
    {S, S,        is_stay,  NULL, .label = "stay", .waits = true}
static const struct efsm_arc plan_arcs[] = {
    {START, P1_1,  is_plan1, NULL, .label = "plan1", .push_count = 3, .push = {GOAL, P1_3, P1_2}},
    {START, START, no_plan1, NULL, .label = "!plan1", .waits = true},
    STEP(P1_1), STEP(P1_2), STEP(P1_3),
    {GOAL,  START, NULL,     NULL, .label = "t"},
};
/* clang-format on */
static const struct efsm_state plan_states[] = {
    {.name = "START"}, {.name = "P1_1"}, {.name = "P1_2"}, {.name = "P1_3"}, {.name = "GOAL"}};
static const struct efsm_table plan_table = {.name = "Plans",
                                             .purpose = "follows a plan kept on the stack",
                                             .states = plan_states,
                                             .state_count = COUNT(plan_states),
                                             .arcs = plan_arcs,
                                             .arc_count = COUNT(plan_arcs)};

struct plan_row {
    const char *row;
    int event, state, depth, stack[3];
    const char *fired;
    int next_state, next_depth, next_stack[3];
};

static void check_stack(const char *row, const struct efsm *m, int depth, const int *want)
{
    CHECK_INT(row, m->depth, depth);
    for (int i = 0; i < depth && i < m->depth; i++) {
        CHECK_INT(row, m->stack[i], want[i]);
    }
}

static void run_plans(const struct plan_row *rows, size_t n)
{
    struct efsm m;

    efsm_reset(&plan_table, &m, 0);
    for (size_t i = 0; i < n; i++) {
        const struct plan_row *r = &rows[i];
        char fired[32];

        CHECK_INT(r->row, m.state, r->state);
        check_stack(r->row, &m, r->depth, r->stack);
        efsm_plan(&plan_table, &m, &r->event, (int64_t)i);
        fired_labels(&plan_table, &m, fired, sizeof fired);
        CHECK_TEXT(r->row, fired, r->fired);
        check_stack(r->row, &m, r->depth, r->stack); /* plan leaves it alone */
        efsm_update(&plan_table, &m, (int64_t)i, 0, NULL, NULL);
        CHECK_INT(r->row, m.state, r->next_state);
        check_stack(r->row, &m, r->next_depth, r->next_stack);
    }
}

/* clang-format off */
static void test_plan_nominal(void)
{
    static const struct plan_row rows[] = {
        {"7.7 nominal 0", NOTHING, START, 0, {0},                "!plan1", START, 0, {0}},
        {"7.7 nominal 1", PLAN1,   START, 0, {0},                "plan1",  P1_1,  3, {GOAL, P1_3, P1_2}},
        {"7.7 nominal 2", NEXT,    P1_1,  3, {GOAL, P1_3, P1_2}, "next",   P1_2,  2, {GOAL, P1_3}},
        {"7.7 nominal 3", NOTHING, P1_2,  2, {GOAL, P1_3},       "stay",   P1_2,  2, {GOAL, P1_3}},
        {"7.7 nominal 4", NEXT,    P1_2,  2, {GOAL, P1_3},       "next",   P1_3,  1, {GOAL}},
        {"7.7 nominal 5", NEXT,    P1_3,  1, {GOAL},             "next",   GOAL,  0, {0}},
        {"7.7 nominal 6", NOTHING, GOAL,  0, {0},                "t",      START, 0, {0}},
        {"7.7 nominal 7", NOTHING, START, 0, {0},                "!plan1", START, 0, {0}},
    };
    run_plans(rows, COUNT(rows));
}

static void test_plan_skip_abort(void)
{
    static const struct plan_row rows[] = {
        {"7.7 skip 0", PLAN1,   START, 0, {0},                "plan1",  P1_1,  3, {GOAL, P1_3, P1_2}},
        {"7.7 skip 1", SKIP,    P1_1,  3, {GOAL, P1_3, P1_2}, "skip",   P1_3,  1, {GOAL}},
        {"7.7 skip 2", NEXT,    P1_3,  1, {GOAL},             "next",   GOAL,  0, {0}},
        {"7.7 skip 3", NOTHING, GOAL,  0, {0},                "t",      START, 0, {0}},
        {"7.7 skip 4", PLAN1,   START, 0, {0},                "plan1",  P1_1,  3, {GOAL, P1_3, P1_2}},
        {"7.7 skip 5", NEXT,    P1_1,  3, {GOAL, P1_3, P1_2}, "next",   P1_2,  2, {GOAL, P1_3}},
        {"7.7 skip 6", ABORT,   P1_2,  2, {GOAL, P1_3},       "abort",  START, 0, {0}},
        {"7.7 skip 7", NOTHING, START, 0, {0},                "!plan1", START, 0, {0}},
    };
    run_plans(rows, COUNT(rows));
}

static void test_plan_pop_empty(void)
{
    static const struct plan_row rows[] = {
        {"7.7 empty 0", PLAN1, START, 0, {0},                "plan1", P1_1, 3, {GOAL, P1_3, P1_2}},
        {"7.7 empty 1", NEXT,  P1_1,  3, {GOAL, P1_3, P1_2}, "next",  P1_2, 2, {GOAL, P1_3}},
        {"7.7 empty 2", NEXT,  P1_2,  2, {GOAL, P1_3},       "next",  P1_3, 1, {GOAL}},
        {"7.7 empty 3", SKIP,  P1_3,  1, {GOAL},             "skip",  EFSM_STACK_EMPTY, 1, {GOAL}},
    };
    run_plans(rows, COUNT(rows));
}
/* clang-format on */

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
        (void)efsm_settle(&net, (int64_t)k);
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
    CU_pSuite suite = CU_add_suite("efsm golden traces", NULL, NULL);
    CU_ADD_TEST(suite, test_counter_immediate);
    CU_ADD_TEST(suite, test_counter_delayed);
    CU_ADD_TEST(suite, test_counter_zero);
    CU_ADD_TEST(suite, test_counter_incomplete);
    CU_ADD_TEST(suite, test_counter_non_deterministic);
    CU_ADD_TEST(suite, test_swap);
    CU_ADD_TEST(suite, test_events_gated);
    CU_ADD_TEST(suite, test_events_not_gated);
    CU_ADD_TEST(suite, test_catch_up);
    CU_ADD_TEST(suite, test_plan_nominal);
    CU_ADD_TEST(suite, test_plan_skip_abort);
    CU_ADD_TEST(suite, test_plan_pop_empty);
    CU_ADD_TEST(suite, test_handshakes);
    return check_run();
}
