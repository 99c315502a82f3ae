/* One machine: faults, stop and reset, history, what bytes may be run. */
#include "tests/support/check.h"
#include "tests/support/efsm_check.h"
#include "tests/support/sample_machine.h"

static void test_faults(void)
{
    static const struct {
        const char *row;
        int before, ask;
        int sink;
        const char *words;
    } rows[] = {
        {"nothing holds", STAY, NONE, EFSM_INCOMPLETE,
         "Sample: INCOMPLETE in A at 12.5 s: none of 'stay', 'move', 'loop', 'x > 0', 'x <= "
         "0', "
         "'x+ = y', 'push', 'push 8', 'pop', 'top', 'last', 'add', 'replace' holds"},
        {"two hold", STAY, BOTH, EFSM_NON_DETERMINISTIC,
         "Sample: NON_DETERMINISTIC in A at 12.5 s: 'move' and 'loop' hold at once"},
        {"guard reads undefined", STAY, READ_X, EFSM_UNDEFINED,
         "Sample: UNDEFINED in A at 12.5 s: 'x > 0' read x, which has no value yet"},
        {"action reads undefined", STAY, SET_X_READ_Y, EFSM_UNDEFINED,
         "Sample: UNDEFINED in A at 12.5 s: 'x+ = y' read y, which has no value yet"},
        {"pop empty", STAY, POP_ONE, EFSM_STACK_EMPTY,
         "Sample: STACK_EMPTY in A at 12.5 s: 'pop' pops more states than the 0 on the stack"},
        {"top of empty", STAY, GO_TOP, EFSM_STACK_EMPTY,
         "Sample: STACK_EMPTY in A at 12.5 s: 'top' pops more states than the 0 on the stack"},
        {"push on 16", PUSH_8, PUSH, EFSM_STACK_FULL,
         "Sample: STACK_FULL in A at 12.5 s: 'push' pushes on a stack that holds 16 of 16"},
        {"push 8 on 16", PUSH_8, PUSH_8, EFSM_STACK_FULL,
         "Sample: STACK_FULL in A at 12.5 s: 'push 8' pushes on a stack that holds 16 of 16"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct efsm m;
        char words[256];

        efsm_reset(&table, &m, 0);
        run(&m, rows[i].before, 1);
        run(&m, rows[i].before, 2);
        efsm_describe_fault(&table, &m, words, sizeof words);
        CHECK_TEXT(rows[i].row, words, "");
        CHECK(rows[i].row, efsm_is_active(&table, &m));
        struct efsm before = m;
        efsm_plan(&table, &m, &rows[i].ask, 3);
        CHECK_INT(rows[i].row, m.next, rows[i].sink);
        CHECK_INT(rows[i].row, m.blocked, true);
        efsm_update(&table, &m, 12500000, 0, NULL, NULL);
        CHECK_INT(rows[i].row, m.state, rows[i].sink);
        CHECK(rows[i].row, !efsm_is_active(&table, &m));
        CHECK_INT(rows[i].row, m.depth, before.depth);
        CHECK(rows[i].row, same_bytes(m.stack, before.stack, sizeof m.stack));
        CHECK_INT(rows[i].row, m.defined, before.defined); /* nothing assigned */
        CHECK(rows[i].row, same_bytes(m.cell, before.cell, sizeof m.cell));
        CHECK(rows[i].row, same_bytes(m.next_cell, before.cell, sizeof m.cell));
        /* There it stays, and remembers why. */
        before = m;
        run(&m, MOVE, 13000000);
        CHECK(rows[i].row, is_same(&m, &before));
        efsm_describe_fault(&table, &m, words, sizeof words);
        CHECK_TEXT(rows[i].row, words, rows[i].words);
    }
}

static void test_fault_words_cut(void)
{
    struct efsm m;
    char words[16];

    efsm_reset(&table, &m, 0);
    run(&m, NONE, 0);
    memset(words, '#', sizeof words);
    efsm_describe_fault(&table, &m, words, 10);
    CHECK_TEXT("cut", words, "Sample: I");
    CHECK_INT("cut", words[10], '#');
    efsm_describe_fault(&table, &m, words, 0);
    CHECK_TEXT("nothing written", words, "Sample: I");
}

static void test_undefined(void)
{
    struct efsm m;

    efsm_reset(&table, &m, 0);
    run(&m, PUSH, 1); /* x+ = 5 */
    CHECK_INT("defined by an action", m.defined, 1 << X);
    run(&m, READ_X, 2);
    CHECK_INT("can be read in the next cycle", m.state, B);
    efsm_reset(&table, &m, 3);
    CHECK_INT("a reset removes the value", m.defined, 0);
    efsm_init_cell(&m, X, -1.0);
    run(&m, READ_X, 4);
    CHECK_INT("initialised from outside", m.state, A);
    CHECK_NEAR("initialised from outside", m.cell[X], -1.0, 0.0, 0.0);
    /* NaN is a value, not the lack of one. */
    efsm_init_cell(&m, X, nan(""));
    run(&m, READ_X, 5);
    CHECK_INT("not a number", m.state, A);
}

static void test_plan_is_idempotent(void)
{
    static const int asks[] = {PUSH, PUSH_8, GO_TOP, ADD, MOVE, NONE, BOTH, POP_ONE, REPLACE};

    for (size_t i = 0; i < COUNT(asks); i++) {
        for (size_t k = 0; k < COUNT(asks); k++) {
            struct efsm once;
            struct efsm twice;
            efsm_reset(&table, &once, 0);
            efsm_init_cell(&once, X, 0.0);
            run(&once, PUSH, 1);
            twice = once;
            efsm_plan(&table, &once, &asks[k], 2);
            efsm_plan(&table, &twice, &asks[i], 2);
            efsm_plan(&table, &twice, &asks[k], 2);
            efsm_update(&table, &once, 2, 0, NULL, NULL);
            efsm_update(&table, &twice, 2, 0, NULL, NULL);
            /* Only memory above the top of the stack may differ. */
            memset(once.stack + once.depth, 0, sizeof once.stack - once.depth);
            memset(twice.stack + twice.depth, 0, sizeof twice.stack - twice.depth);
            memset(once.next_stack, 0, sizeof once.next_stack);
            memset(twice.next_stack, 0, sizeof twice.next_stack);
            CHECK("planning twice", is_same(&once, &twice));
        }
    }
    struct efsm m;
    efsm_reset(&table, &m, 0);
    run(&m, MOVE, 1);
    const struct efsm before = m;
    efsm_update(&table, &m, 2, 0, NULL, NULL);
    CHECK("update without plan", is_same(&m, &before));
}

/* Events, assignments without an action, and what arcs and states share. */
static void set_says(const struct efsm_view *v)
{
    efsm_set(v, 2, v->arc->says);
}

static void show_state(const struct efsm_view *v)
{
    *(uint8_t *)v->out = v->now->state;
}

static void test_declared(void)
{
    static const struct efsm_state two[] = {{.name = "A"}, {.name = "B"}};
    static const struct efsm_arc own_arcs[] = {
        {0, 1, .label = "1, 3", .on = BIT(1) | BIT(3), .raises = BIT(0), .counts = BIT(1),
         .says = 7},
        {0, 0, .label = "0", .on = BIT(0), .waits = true},
        {1, 0, .label = "2", .on = BIT(2), .clears = BIT(0), .counts = BIT(1)},
        {1, 1, .label = "4", .on = BIT(4), .counts = BIT(3), .waits = true},
    };
    static const char *const own_cells[] = {"flag", "count", "said", "undefined"};
    static const struct efsm_table declared = {.name = "declared",
                                               .purpose = "test",
                                               EFSM_STATES(two),
                                               EFSM_ARCS(own_arcs),
                                               EFSM_CELLS(own_cells),
                                               .zeros = BIT(0) | BIT(1),
                                               .always = set_says,
                                               .output = show_state};
    static const struct {
        unsigned event;
        uint8_t state;
        double flag, count, published;
    } rows[] = {{0, 0, 0, 0, 0},
                {3, 1, 1, 1, 7},
                {2, 0, 0, 2, 0},
                {1, 1, 1, 3, 7},
                {4, EFSM_UNDEFINED, 1, 3, 7}};
    struct efsm m;
    efsm_reset(&declared, &m, 0);
    CHECK_INT("zeros", m.defined, 3);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t shown = 99;
        efsm_plan(&declared, &m, &rows[i].event, 1);
        efsm_update(&declared, &m, 1, 0, NULL, NULL);
        efsm_act(&declared, &m, &rows[i].event, &shown, 1);
        CHECK_INT("state", m.state, rows[i].state);
        CHECK_INT("shown", shown, m.state < 2 ? m.state : 99);
        CHECK_NEAR("flag", m.cell[0], rows[i].flag, 0.0, 0.0);
        CHECK_NEAR("count", m.cell[1], rows[i].count, 0.0, 0.0);
        CHECK_NEAR("said", m.cell[2], rows[i].published, 0.0, 0.0);
    }
    efsm_reset(&declared, &m, 0);
    efsm_plan(&declared, &m, &rows[2].event, 1);
    CHECK_INT("no arc is for the event", m.next, EFSM_INCOMPLETE);
}

static void test_stop_and_reset(void)
{
    struct efsm m;
    int shown = 0;
    const int ask = PUSH;

    efsm_reset(&table, &m, 0);
    efsm_init_cell(&m, X, 1.0);
    efsm_plan(&table, &m, &ask, 1);
    efsm_stop(&m);
    CHECK("stopped", !efsm_is_active(&table, &m));
    efsm_update(&table, &m, 1, 0, NULL, NULL);
    CHECK_INT("the plan was dropped", m.depth, 0);
    CHECK_NEAR("the plan was dropped", m.cell[X], 1.0, 0.0, 0.0);
    run(&m, MOVE, 2);
    CHECK_INT("no longer plans", m.state, A);
    efsm_act(&table, &m, NULL, &shown, 2);
    CHECK_INT("no longer acts", shown, 0);
    efsm_reset(&table, &m, 3);
    CHECK("active again", efsm_is_active(&table, &m));
    run(&m, MOVE, 4);
    efsm_act(&table, &m, NULL, &shown, 4);
    CHECK_INT("acts again", shown, 1);
    struct efsm stopped = m;
    efsm_stop(&stopped);
    efsm_act(&table, &stopped, NULL, &shown, 4);
    CHECK_INT("a stopped machine does not act", shown, 1);
    CHECK_INT("entered", m.entered_us, 4);
}

static void test_final_state(void)
{
    struct efsm m;

    efsm_reset(&table, &m, 0);
    run(&m, TO_LAST, 1);
    CHECK_INT("final", m.state, LAST);
    CHECK_INT("final blocks at once", m.blocked, true);
    CHECK("final is not active", !efsm_is_active(&table, &m));
    const struct efsm before = m;
    run(&m, MOVE, 2);
    CHECK("nothing leaves it", is_same(&m, &before));
}

static void test_history(void)
{
    struct efsm m;
    struct efsm_stats stats = {.faults = 0};
    struct efsm_trace trace = {0};
    static const int asks[] = {STAY, MOVE, STAY, MOVE, LOOP, NONE, NONE};

    efsm_reset(&table, &m, 100);
    for (size_t i = 0; i < COUNT(asks); i++) {
        efsm_plan(&table, &m, &asks[i], 0);
        efsm_update(&table, &m, 100 + 10 * (int64_t)(i + 1), 7, &stats, &trace);
    }
    CHECK_INT("waiting loops are left out", trace.count, 4);
    static const struct efsm_step want[] = {{120, 7, A, B, 1},
                                            {140, 7, B, A, COUNT(arcs) - 1},
                                            {150, 7, A, A, 2},
                                            {160, 7, A, EFSM_INCOMPLETE, EFSM_NO_ARC}};
    for (size_t i = 0; i < COUNT(want); i++) {
        CHECK_INT("trace", trace.step[i].t_us, want[i].t_us);
        CHECK_INT("trace", trace.step[i].machine, want[i].machine);
        CHECK_INT("trace", trace.step[i].from, want[i].from);
        CHECK_INT("trace", trace.step[i].to, want[i].to);
        CHECK_INT("trace", trace.step[i].arc, want[i].arc);
    }
    CHECK_INT("visits", stats.visits[A], 1);
    CHECK_INT("visits", stats.visits[B], 1);
    CHECK_INT("stay", stats.stay_us[A], 20 + 20);
    CHECK_INT("stay", stats.stay_us[B], 20);
    CHECK_INT("faults", stats.faults, 1);
    CHECK_INT("entered the sink", m.entered_us, 160);
}

static void test_fault_in_trace(void)
{
    static const int asks[] = {NONE, BOTH, READ_X, POP_ONE};

    for (size_t i = 0; i < COUNT(asks); i++) {
        struct efsm m;
        struct efsm_trace trace = {0};
        efsm_reset(&table, &m, 0);
        efsm_plan(&table, &m, &asks[i], 1);
        efsm_update(&table, &m, 1, 0, NULL, &trace);
        CHECK_INT("no arc leads into a sink", trace.step[0].arc, EFSM_NO_ARC);
    }
}

static void test_trace_wraps(void)
{
    struct efsm m;
    struct efsm_trace trace = {0};
    const int ask = MOVE;
    enum { STEPS = 2 * EFSM_TRACE_MAX + 5 };

    efsm_reset(&table, &m, 0);
    for (int i = 0; i < STEPS; i++) {
        efsm_plan(&table, &m, &ask, i);
        efsm_update(&table, &m, i, 0, NULL, &trace);
    }
    CHECK_INT("count", trace.count, STEPS);
    for (unsigned back = 1; back <= EFSM_TRACE_MAX; back++) {
        const struct efsm_step *step = &trace.step[(trace.count - back) % EFSM_TRACE_MAX];
        CHECK_INT("ring", step->t_us, STEPS - (int)back);
    }
}

static void test_sound(void)
{
    struct efsm good;
    efsm_reset(&table, &good, 0);
    run(&good, PUSH, 1);
    CHECK("good", efsm_is_sound(&table, &good));
    struct efsm sunk = good;
    run(&sunk, NONE, 2);
    CHECK("a sink is sound", efsm_is_sound(&table, &sunk));

    struct efsm bad = good;
    bad.state = 3;
    bad.next = 3;
    CHECK("state", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.state = EFSM_POP;
    bad.next = EFSM_POP;
    CHECK("popped state", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.next = B;
    CHECK("next state", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.next_depth = 0;
    CHECK("next depth", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.next_stack[3] = B;
    CHECK("next stack", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.next_cell[Y] = 1.0;
    CHECK("next cell", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.planned = true;
    CHECK("between plan and update", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.from = EFSM_INCOMPLETE;
    CHECK("from", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.fired_arc = COUNT(arcs);
    CHECK("arc", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.undefined_cell = 2;
    CHECK("cell", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.defined = 4;
    CHECK("defined", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.written = 1;
    CHECK("written without plan", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.depth = EFSM_STACK_MAX + 1;
    bad.next_depth = EFSM_STACK_MAX + 1;
    CHECK("depth", !efsm_is_sound(&table, &bad));
    bad = good;
    bad.stack[0] = 3;
    bad.next_stack[0] = 3;
    CHECK("stack", !efsm_is_sound(&table, &bad));
    bad = good;
    memset(&bad.stopped, 2, 1);
    CHECK("flag", !efsm_is_sound(&table, &bad));
}

static void test_names(void)
{
    CHECK_TEXT("name", efsm_state_name(&table, B), "B");
    CHECK_TEXT("name", efsm_state_name(&table, EFSM_INCOMPLETE), "__INCOMPLETE__");
    CHECK_TEXT("name", efsm_state_name(&table, EFSM_NON_DETERMINISTIC),
               "__NON_DETERMINISTIC__");
    CHECK_TEXT("name", efsm_state_name(&table, EFSM_UNDEFINED), "__UNDEFINED__");
    CHECK_TEXT("name", efsm_state_name(&table, EFSM_STACK_EMPTY), "__STACK_EMPTY__");
    CHECK_TEXT("name", efsm_state_name(&table, EFSM_STACK_FULL), "__STACK_FULL__");
    for (unsigned i = 0; i < 256; i++) {
        CHECK("never NULL", efsm_state_name(&table, (uint8_t)i) != NULL);
    }
}

static bool has_bit_0(const struct efsm_view *v)
{
    return (asked(v) & 1) != 0;
}

static bool has_bit_1(const struct efsm_view *v)
{
    return (asked(v) & 2) != 0;
}

static bool has_bit_2(const struct efsm_view *v)
{
    return (asked(v) & 4) != 0;
}

static bool reads_x(const struct efsm_view *v)
{
    return efsm_get(v, X) > 0.0;
}

/* An arc fires when its guard and all of also hold, and none of unless. */
static void test_conditions(void)
{
    static const struct efsm_arc conditions[] = {
        {A, B, has_bit_0, NULL, "0 and 1, not 2", .unless = {has_bit_2}, .also = {has_bit_1}},
        {A, A, NULL, NULL, "neither 0 nor 2", .waits = true, .unless = {has_bit_0, has_bit_2}},
        {A, LAST, has_bit_2, NULL, "2 alone", .unless = {has_bit_0, has_bit_1, reads_x}},
        {B, A, NULL, NULL, .label = "back"},
    };
    static const int fired[8] = {1, EFSM_NO_ARC, 1,           0,
                                 2, EFSM_NO_ARC, EFSM_NO_ARC, EFSM_NO_ARC};
    struct efsm_table own = table;
    own.arcs = conditions;
    own.arc_count = COUNT(conditions);
    CHECK("well formed", efsm_check_table(&own) == NULL);
    for (int ask = 0; ask < 8; ask++) {
        struct efsm m;
        efsm_reset(&own, &m, 0);
        efsm_init_cell(&m, X, 0.0);
        efsm_plan(&own, &m, &ask, 0);
        CHECK_INT("arc", m.fired_arc, fired[ask]);
        efsm_reset(&own, &m, 0);
        efsm_plan(&own, &m, &ask, 0);
        CHECK_INT("read only when it matters", m.undefined_cell, ask == 4 ? X : EFSM_NO_CELL);
    }
}

static bool if_input_1(const struct efsm_view *v)
{
    if (*(const int *)v->in < 0) {
        efsm_miss_input(v, 1);
    }
    return *(const int *)v->in == 1;
}

/* An input that is not connected, and a machine that stays where no arc holds. */
static void test_inputs(void)
{
    static const struct efsm_state one[] = {{.name = "A"}};
    static const struct efsm_arc own_arcs[] = {{0, 0, if_input_1, NULL, .label = "one"}};
    static const char *const names[] = {"zero", "one"};
    struct efsm_table own = {.name = "Own",
                             .purpose = "test",
                             EFSM_STATES(one),
                             EFSM_ARCS(own_arcs),
                             .inputs = names,
                             .input_count = COUNT(names)};
    struct efsm m;
    char words[256];
    for (int stays = 0; stays < 2; stays++) {
        own.stays = stays == 1;
        efsm_reset(&own, &m, 0);
        efsm_plan(&own, &m, &(int){0}, 1);
        efsm_update(&own, &m, 1, 0, NULL, NULL);
        CHECK_INT("nothing holds", m.state, stays ? 0 : EFSM_INCOMPLETE);
        CHECK_INT("it waits", m.blocked, true);
    }
    efsm_plan(&own, &m, &(int){1}, 2);
    efsm_update(&own, &m, 2, 0, NULL, NULL);
    CHECK_INT("it goes on from there", m.fired_arc, 0);
    CHECK_INT("it goes on from there", m.blocked, false);
    efsm_plan(&own, &m, &(int){-1}, 3);
    efsm_update(&own, &m, 3, 0, NULL, NULL);
    CHECK("sound", efsm_is_sound(&own, &m));
    efsm_describe_fault(&own, &m, words, sizeof words);
    CHECK_TEXT("not connected", words,
               "Own: UNDEFINED in A at 3e-06 s: 'one' read one, which has no value yet");
    m.undefined_cell++;
    CHECK("no such input", !efsm_is_sound(&own, &m));
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("efsm machine", NULL, NULL);
    CU_ADD_TEST(suite, test_faults);
    CU_ADD_TEST(suite, test_fault_words_cut);
    CU_ADD_TEST(suite, test_undefined);
    CU_ADD_TEST(suite, test_plan_is_idempotent);
    CU_ADD_TEST(suite, test_declared);
    CU_ADD_TEST(suite, test_stop_and_reset);
    CU_ADD_TEST(suite, test_final_state);
    CU_ADD_TEST(suite, test_history);
    CU_ADD_TEST(suite, test_fault_in_trace);
    CU_ADD_TEST(suite, test_trace_wraps);
    CU_ADD_TEST(suite, test_sound);
    CU_ADD_TEST(suite, test_names);
    CU_ADD_TEST(suite, test_conditions);
    CU_ADD_TEST(suite, test_inputs);
    return check_run();
}
