/* Tables: every malformed kind is found, and the Graphviz text. */
#include "tests/support/check.h"
#include "tests/support/efsm_check.h"
#include "tests/support/sample_machine.h"

static void test_check_table(void)
{
    static const struct efsm_state two[] = {{.name = "A"}, {.name = "B"}};
    static const struct efsm_state ends[] = {{.name = "A"}, {.name = "B", .final = true}};
    static const struct efsm_state nameless[] = {{.name = "A"}, {.name = ""}};
    static const struct efsm_state doubled[] = {{.name = "A"}, {.name = "A"}};
    static const struct efsm_state reserved[] = {{.name = "A"}, {.name = "__B"}};
    static const char *const good_cells[] = {"x", "y"};
    static const char *const nameless_cells[] = {"x", NULL};
    static const char *const doubled_cells[] = {"x", "x"};
/* clang-format off */
#define THERE {0, 1, .label = "there"}
#define BACK  {1, 0, .label = "back"}
#define ARCS (const struct efsm_arc[])
    const struct {
        const char *wrong; /* NULL: well formed */
        struct efsm_table table;
    } rows[] = {
#define ROW(wrong_, states_, arcs_, n_, ...)                                                   \
    {.wrong = (wrong_), .table = {.name = "M", .purpose = "p", .states = (states_), .state_count = 2, \
     .arcs = (arcs_), .arc_count = (n_), __VA_ARGS__}}
        ROW(NULL, two, (ARCS{THERE, BACK}), 2, .cells = good_cells, .cell_count = 2),
        ROW(NULL, ends, (ARCS{THERE}), 1, .initial = 0),
        ROW(NULL, two, (ARCS{{0, EFSM_POP, .label = "go", .push_count = 1, .push = {1}}, BACK}), 2, .initial = 0),
        {.wrong = "the machine has no name", .table = {.purpose = "p", .states = two, .state_count = 2}},
        {.wrong = "the machine has no name", .table = {.name = "", .purpose = "p", .states = two, .state_count = 2}},
        {.wrong = "the machine has no purpose", .table = {.name = "M", .states = two, .state_count = 2}},
        {.wrong = "there is no state", .table = {.name = "M", .purpose = "p"}},
        {.wrong = "more states than EFSM_STATES_MAX", .table = {.name = "M", .purpose = "p", .states = two, .state_count = EFSM_STATES_MAX + 1}},
        ROW("the initial state is out of range", two, (ARCS{THERE, BACK}), 2, .initial = 2),
        ROW("a state has no name", nameless, (ARCS{THERE, BACK}), 2, .initial = 0),
        ROW("two states have the same name", doubled, (ARCS{THERE, BACK}), 2, .initial = 0),
        ROW("a state's name begins with __, as those of the engine's sinks do", reserved, (ARCS{THERE, BACK}), 2, .initial = 0),
        ROW("more variables than EFSM_CELLS_MAX", two, (ARCS{THERE, BACK}), 2, .cells = good_cells, .cell_count = EFSM_CELLS_MAX + 1),
        ROW("the variables have no names", two, (ARCS{THERE, BACK}), 2, .cell_count = 1),
        ROW("a variable has no name", two, (ARCS{THERE, BACK}), 2, .cells = nameless_cells, .cell_count = 2),
        ROW("two variables have the same name", two, (ARCS{THERE, BACK}), 2, .cells = doubled_cells, .cell_count = 2),
        ROW("more than 254 arcs", two, (ARCS{THERE, BACK}), EFSM_NO_ARC, .initial = 0),
        ROW("the arcs are missing", two, NULL, 2, .initial = 0),
        ROW("an arc comes from a state out of range", two, (ARCS{THERE, {2, 0, .label = "back"}}), 2, .initial = 0),
        ROW("an arc comes from a state out of range", two, (ARCS{THERE, {EFSM_POP, 0, .label = "back"}}), 2, .initial = 0),
        ROW("an arc goes to a state out of range", two, (ARCS{THERE, {1, 2, .label = "back"}}), 2, .initial = 0),
        ROW("an arc goes to a state out of range", two, (ARCS{THERE, {1, EFSM_INCOMPLETE, .label = "back"}}), 2, .initial = 0),
        ROW("an arc has no label", two, (ARCS{THERE, {1, 0, .label = ""}}), 2, .initial = 0),
        ROW("an arc pushes more than EFSM_PUSH_MAX states", two, (ARCS{THERE, {1, 0, .label = "b", .push_count = 9}}), 2, .initial = 0),
        ROW("an arc pushes a state out of range", two, (ARCS{THERE, {1, 0, .label = "b", .push_count = 1, .push = {2}}}), 2, .initial = 0),
        ROW("an arc empties the stack and pops from it", two, (ARCS{THERE, {1, 0, .label = "b", .empties = true, .pops = 1}}), 2, .initial = 0),
        ROW("an arc goes to the top of the stack that it has emptied", two, (ARCS{THERE, {1, EFSM_POP, .label = "b", .empties = true}}), 2, .initial = 0),
        ROW("an arc pops more than EFSM_STACK_MAX states", two, (ARCS{THERE, {1, 0, .label = "b", .pops = 17}}), 2, .initial = 0),
        ROW("an arc leaves a final state", ends, (ARCS{THERE, BACK}), 2, .initial = 0),
        ROW("an arc without guard is not the only one of its state", two, (ARCS{THERE, BACK, {1, 1, if_stay, .label = "b"}}), 3, .initial = 0),
        ROW("no arc leaves a state that is not final", two, (ARCS{THERE}), 1, .initial = 0),
        ROW("a state cannot be reached from the initial one", two, (ARCS{{0, 0, .label = "b"}, BACK}), 2, .initial = 0),
    };
    /* clang-format on */

    CHECK_TEXT("NULL", efsm_check_table(NULL), "there is no table");
    CHECK("sample", efsm_check_table(&table) == NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *wrong = efsm_check_table(&rows[i].table);
        CHECK_TEXT("check", wrong ? wrong : "", rows[i].wrong ? rows[i].wrong : "");
    }
}

/* States are found however the arcs are ordered, and through what arcs push. */
static void test_reachable(void)
{
    static const struct efsm_state three[] = {{.name = "A"}, {.name = "B"}, {.name = "C"}};
    static const struct efsm_arc chain[] = {
        {2, 0, .label = "last first"},
        {1, 2, .label = "then this"},
        {0, EFSM_POP, .label = "through the stack", .push_count = 1, .push = {1}}};
    struct efsm_table chained = {.name = "Chain",
                                 .purpose = "is checked",
                                 .states = three,
                                 .state_count = 3,
                                 .arcs = chain,
                                 .arc_count = COUNT(chain)};

    CHECK("all reached", efsm_check_table(&chained) == NULL);
    chained.initial = 2;
    CHECK("all reached", efsm_check_table(&chained) == NULL);
}

static void test_dot(void)
{
    static const struct efsm_state some[] = {{.name = "A \"1\""},
                                             {.name = "END", .final = true}};
    static const struct efsm_arc both[] = {
        {0, 0, .label = "x < 1 \\ y", .waits = true},
        {0, EFSM_POP, .label = "go", .pops = 2, .push_count = 2, .push = {1, 0}},
        {0, 1, .label = "end", .empties = true},
    };
    static const struct efsm_table dotted = {.name = "Small",
                                             .purpose = "is drawn",
                                             .states = some,
                                             .state_count = 2,
                                             .arcs = both,
                                             .arc_count = COUNT(both)};
    static const char want[] =
        "digraph \"Small\" {\n"
        "  bgcolor=transparent;\n"
        "  tooltip=\"is drawn\";\n"
        "  node [shape=ellipse, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=10];\n"
        "  start [shape=point];\n"
        "  s0 [id=\"Small.A \\\"1\\\"\", label=\"A \\\"1\\\"\", style=filled, "
        "fillcolor=\"#ffd75e\", class=\"lit\"];\n"
        "  s1 [id=\"Small.END\", label=\"END\", shape=doublecircle];\n"
        "  start -> s0;\n"
        "  s0 -> s0 [id=\"Small.arc.0\", label=\"x < 1 \\\\ y\", style=dashed];\n"
        "  pop1 [shape=hexagon, label=\"\", width=0.25, height=0.2];\n"
        "  s0 -> pop1 [id=\"Small.arc.1\", label=\"go\\npop 2\\npush END, A \\\"1\\\"\"];\n"
        "  s0 -> s1 [id=\"Small.arc.2\", label=\"end\\nempty the stack\"];\n"
        "}\n";
    char text[2048];

    CHECK_INT("lit", efsm_dot(&dotted, 0, text, sizeof text), sizeof want - 1);
    CHECK_TEXT("lit", text, want);
    (void)efsm_dot(&dotted, EFSM_INCOMPLETE, text, sizeof text);
    CHECK("a sink is drawn when lit", strstr(text, "label=\"__INCOMPLETE__\"") != NULL);
    (void)efsm_dot(&dotted, -1, text, sizeof text);
    CHECK("nothing lit", strstr(text, "lit") == NULL);
    /* Every shorter buffer gives a prefix and the same length. */
    bool ok = true;
    for (size_t size = 0; size < sizeof want; size++) {
        memset(text, '#', sizeof text);
        ok = ok && efsm_dot(&dotted, 0, text, size) == sizeof want - 1 && text[size] == '#';
        ok = ok &&
             (size == 0 || (strlen(text) == size - 1 && strncmp(text, want, size - 1) == 0));
    }
    CHECK("cut", ok);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("efsm table", NULL, NULL);
    CU_ADD_TEST(suite, test_check_table);
    CU_ADD_TEST(suite, test_reachable);
    CU_ADD_TEST(suite, test_dot);
    return check_run();
}
