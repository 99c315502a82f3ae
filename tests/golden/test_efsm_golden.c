/* The golden traces of docs/model/efsm.md that one machine makes: one row per cycle, every
 * column checked. */
#include "tests/support/check.h"

#include "twin/efsm/efsm.h"

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
    CU_ADD_TEST(suite, test_plan_nominal);
    CU_ADD_TEST(suite, test_plan_skip_abort);
    CU_ADD_TEST(suite, test_plan_pop_empty);
    return check_run();
}
