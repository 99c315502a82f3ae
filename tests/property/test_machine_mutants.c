/* Correct machines with random faults: the checks predict every failure of a later simulation.
 * The simulation walks the trees itself. For random guards that share names, every reported
 * fault can happen, and unreported ones were not found by trying. */
#include "tests/support/check.h"

#include "base/numbers/random.h"
#include "config/machine/machine_file.h"
#include "twin/machine/machine_checks.h"

enum { MUTANTS = 60, RUNS = 4, CYCLES = 150, GUARDS = 40, TRIES = 3000 };

static struct random_source source;
static void *memory;

static size_t draw_below(size_t count)
{
    return (size_t)(random_uniform(&source) * (double)count);
}

static bool draw_chance(double chance)
{
    return random_uniform(&source) < chance;
}

/* ---- machines ---- */

static struct machine *read_machine(const char *text, size_t bytes)
{
    struct machine *m = calloc(1, sizeof *m);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    machine_draft_start(&m->draft);
    machine_yaml_read(text, bytes, &m->draft);
    CU_ASSERT_EQUAL_FATAL(m->draft.diagnostics.severity_count[MACHINE_ERROR], 0);
    return m;
}

static struct machine *read_golden(const char *name)
{
    static char text[1 << 16];
    char path[512];
    (void)snprintf(path, sizeof path, "%s/tests/fuzz/corpus/machine_file/%s", TANDEM_SOURCE_DIR,
                   name);
    FILE *in = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    const size_t bytes = fread(text, 1, sizeof text - 1, in);
    (void)fclose(in);
    text[bytes] = '\0';
    return read_machine(text, bytes);
}

static bool has_diagnostic(const struct machine *m, const char *code)
{
    const struct machine_diagnostics *reported = &m->draft.diagnostics;
    for (size_t i = 0; i < reported->count; i++) {
        if (strcmp(reported->items[i].code, code) == 0) {
            return true;
        }
    }
    return reported->more > 0;
}

/* ---- an interpreter ---- */

struct values {
    double of[EXPRESSION_NAMES_MAX];
    uint64_t there;
    bool missed; /* out: something without a value was read */
};

static double walk_tree(const struct expression_pool *pool, uint16_t node, struct values *v)
{
    const struct expression_node *n = &pool->nodes[node];
    double of[EXPRESSION_ARGUMENTS_MAX] = {0.0};
    switch (n->kind) {
    case EXPRESSION_CONSTANT:
    case EXPRESSION_VALUE:
        return n->number;
    case EXPRESSION_NAME:
        if (pool->names[n->name].constant) {
            return pool->names[n->name].value;
        }
        v->missed = v->missed || !(v->there >> n->name & 1U);
        return v->of[n->name];
    case EXPRESSION_DEFINED:
        return v->there >> pool->nodes[n->arguments[0]].name & 1U ? 1.0 : 0.0;
    case EXPRESSION_AND:
        return walk_tree(pool, n->arguments[0], v) > 0.0 &&
                       walk_tree(pool, n->arguments[1], v) > 0.0
                   ? 1.0
                   : 0.0;
    case EXPRESSION_OR:
        return walk_tree(pool, n->arguments[0], v) > 0.0 ||
                       walk_tree(pool, n->arguments[1], v) > 0.0
                   ? 1.0
                   : 0.0;
    case EXPRESSION_IF:
        return walk_tree(pool, n->arguments[walk_tree(pool, n->arguments[0], v) > 0.0 ? 1 : 2],
                         v);
    default:
        for (size_t i = 0; i < COUNT(of); i++) {
            of[i] = n->arguments[i] != 0 ? walk_tree(pool, n->arguments[i], v) : 0.0;
        }
        return expression_apply((enum expression_kind)n->kind, of[0], of[1], of[2]);
    }
}

struct walk {
    const struct machine *m;
    struct values v;
    uint8_t state, depth, stack[EFSM_STACK_MAX];
    double entered_s;
};

static void set_value(struct walk *w, uint8_t name, double value)
{
    w->v.of[name] = value;
    w->v.there |= UINT64_C(1) << name;
}

static void draw_inputs(struct walk *w, double t_s)
{
    static const double common[] = {0.0, 1.0, 2.0, 3.0, 5.0, -1.0, 0.5};
    set_value(w, MACHINE_TIME_NAME, t_s);
    set_value(w, MACHINE_ELAPSED_NAME, t_s - w->entered_s);
    for (size_t i = 0; i < w->m->input_count; i++) {
        const uint8_t name = w->m->inputs[i].name;
        const double number =
            draw_chance(0.7) ? common[draw_below(COUNT(common))] : 4.0 * random_normal(&source);
        set_value(w, name,
                  machine_type(w->m, name) == EXPRESSION_TRUTH ? (double)draw_below(2)
                                                               : number);
    }
}

/* NULL, or the code that must have predicted the failure. */
static const char *fire_arc(struct walk *w, size_t i, double t_s)
{
    const struct machine *m = w->m;
    const struct efsm_arc *arc = &m->table_arcs[i];
    const struct machine_range range = m->arcs[i].delayed;
    struct values next = w->v;
    for (size_t k = range.first; k < (size_t)range.first + range.count; k++) {
        const uint8_t name = m->assignments[k].name;
        next.of[name] = walk_tree(&m->draft.pool, m->assignments[k].value, &w->v);
        next.there |= UINT64_C(1) << name;
    }
    if (w->v.missed) {
        return "UNDEFINED";
    }
    w->depth = arc->empties ? 0 : w->depth;
    if (w->depth < arc->pops ||
        (arc->to == EFSM_POP && w->depth - arc->pops + arc->push_count < 1)) {
        return "W-STACK-EMPTY";
    }
    w->depth = (uint8_t)(w->depth - arc->pops);
    if (w->depth + arc->push_count > EFSM_STACK_MAX) {
        return "W-STACK-FULL";
    }
    for (size_t k = 0; k < arc->push_count; k++) {
        w->stack[w->depth++] = arc->push[k];
    }
    const uint8_t to = arc->to == EFSM_POP ? w->stack[--w->depth] : arc->to;
    w->entered_s = to == w->state ? w->entered_s : t_s;
    w->state = to;
    w->v = next;
    return NULL;
}

static const char *walk_cycle(struct walk *w, double t_s)
{
    const struct machine *m = w->m;
    size_t leaving = 0;
    size_t holding = 0;
    size_t arc = 0;
    draw_inputs(w, t_s);
    for (size_t i = 0; i < m->table.arc_count; i++) {
        const uint16_t when = m->arcs[i].when;
        if (m->table_arcs[i].from != w->state) {
            continue;
        }
        leaving++;
        if (when == 0 || walk_tree(&m->draft.pool, when, &w->v) > 0.0) {
            arc = i;
            holding++;
        }
        if (w->v.missed) {
            return "UNDEFINED";
        }
    }
    return leaving == 0   ? "E-SINK"
           : holding == 0 ? "E-INCOMPLETE"
           : holding > 1  ? "E-OVERLAP"
                          : fire_arc(w, arc, t_s);
}

static const char *walk_machine(const struct machine *m)
{
    struct walk w = {.m = m, .state = m->table.initial};
    const char *fault = NULL;
    for (size_t k = m->starts.first; k < (size_t)m->starts.first + m->starts.count; k++) {
        set_value(&w, m->assignments[k].name,
                  walk_tree(&m->draft.pool, m->assignments[k].value, &w.v));
    }
    for (int i = 0; i < CYCLES && !fault && !m->table_states[w.state].final; i++) {
        fault = walk_cycle(&w, 0.025 * i);
    }
    return fault;
}

/* ---- mutants ---- */

static uint16_t mutate_tree(struct expression_pool *pool, uint16_t node)
{
    const struct expression_node n = pool->nodes[node];
    const bool joins = n.kind == EXPRESSION_AND || n.kind == EXPRESSION_OR;
    if (n.kind >= EXPRESSION_LESS && n.kind <= EXPRESSION_GREATER_EQUAL && draw_chance(0.6)) {
        return expression_make(pool, (enum expression_kind)(EXPRESSION_LESS + draw_below(4)),
                               n.arguments[0], n.arguments[1], 0);
    }
    if (joins && draw_chance(0.3)) {
        return expression_make(pool, n.kind == EXPRESSION_AND ? EXPRESSION_OR : EXPRESSION_AND,
                               n.arguments[0], n.arguments[1], 0);
    }
    if (joins && draw_chance(0.3)) {
        return n.arguments[draw_below(2)];
    }
    if (joins || (n.kind == EXPRESSION_NOT && draw_chance(0.5))) {
        const size_t side = joins ? draw_below(2) : 0;
        uint16_t of[2] = {n.arguments[0], n.arguments[1]};
        of[side] = mutate_tree(pool, of[side]);
        return expression_make(pool, (enum expression_kind)n.kind, of[0], of[1], 0);
    }
    if (n.kind == EXPRESSION_NOT) {
        return n.arguments[0];
    }
    return n.kind == EXPRESSION_NAME ? expression_make(pool, EXPRESSION_NOT, node, 0, 0) : node;
}

/* One guard changed, one arc left out, one assignment or one start forgotten. */
static void mutate_draft(struct machine_draft *d)
{
    const size_t at = draw_below(d->arc_count);
    const double kind = random_uniform(&source);
    if (kind < 0.2) {
        d->arcs[at] = d->arcs[--d->arc_count];
    } else if (kind < 0.3) {
        d->arcs[at].acts.count = 0;
    } else if (kind < 0.35) {
        d->starts.count = 0;
    } else if (kind < 0.45) {
        d->arcs[at].pops += 1;
    } else if (d->arcs[at].when != 0) {
        d->arcs[at].when = mutate_tree(&d->pool, d->arcs[at].when);
    }
}

/* A state without arcs has one diagnostic for all cases. */
static bool is_predicted(const struct machine *m, const char *fault)
{
    if (fault && strcmp(fault, "UNDEFINED") == 0) {
        return has_diagnostic(m, "E-UNDEFINED") || has_diagnostic(m, "W-UNDEFINED");
    }
    const bool fine = !fault || has_diagnostic(m, fault);
    if (!fine) {
        (void)printf("%s was met\n", fault);
    }
    return fine;
}

static void test_mutants(void)
{
    static const char *const names[] = {"Counter_counter", "Plans_plans",
                                        "Sweep_sweep",     "Lamp_lamp",
                                        "Arith_arith",     "Executive_executive"};
    size_t met = 0;
    for (size_t i = 0; i < MUTANTS; i++) {
        const char *name = names[draw_below(COUNT(names))];
        struct machine *m = read_golden(name);
        mutate_draft(&m->draft);
        if (machine_build(m) == STATUS_OK) {
            machine_check(m, memory);
            for (size_t k = 0; k < RUNS; k++) {
                const char *fault = walk_machine(m);
                met += fault ? 1 : 0;
                CHECK(name, is_predicted(m, fault));
            }
        }
        free(m);
    }
    CHECK("faults were met", met > MUTANTS / 2);
}

/* ---- guards that share names ---- */

static void draw_comparison(FILE *out)
{
    static const char *const terms[] = {"x",       "y",      "x + y",     "x - y",
                                        "2*x + y", "abs(x)", "max(x, y)", "x*y"};
    static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
    (void)fprintf(out, "%s %s ", terms[draw_below(COUNT(terms))],
                  signs[draw_below(COUNT(signs))]);
    if (draw_chance(0.3)) {
        (void)fputs(terms[draw_below(COUNT(terms))], out);
    } else {
        (void)fprintf(out, "%zu", draw_below(4));
    }
}

static void draw_guard(FILE *out, int depth)
{
    const double kind = random_uniform(&source);
    if (depth > 2 || kind < 0.5) {
        if (draw_chance(0.75)) {
            draw_comparison(out);
        } else {
            (void)fputs("b", out);
        }
        return;
    }
    (void)fputs(kind < 0.6 ? "!((" : "((", out);
    draw_guard(out, depth + 1);
    (void)fputs(kind < 0.8 ? ") && (" : ") || (", out);
    draw_guard(out, depth + 1);
    (void)fputs("))", out);
}

static struct machine *draw_machine(void)
{
    char text[8192] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    (void)fputs("machine: M\ninputs: {x: number, y: number, b: truth}\ninitial: A\nstates:\n"
                "  A:\n    arcs:\n",
                out);
    for (int i = 0; i < 2; i++) {
        (void)fputs("    - {when: '", out);
        draw_guard(out, 0);
        (void)fputs("', to: A}\n", out);
    }
    CU_ASSERT_EQUAL_FATAL(fclose(out), 0);
    return read_machine(text, strlen(text));
}

/* Near the numbers of the guards, often on each other. */
static void draw_point(struct walk *w)
{
    for (size_t i = 0; i < w->m->input_count; i++) {
        const uint8_t name = w->m->inputs[i].name;
        set_value(w, name,
                  machine_type(w->m, name) == EXPRESSION_TRUTH
                      ? (double)draw_below(2)
                      : (double)draw_below(29) / 4.0 - 3.5);
    }
}

static void test_shared_names(void)
{
    for (int i = 0; i < GUARDS; i++) {
        struct machine *m = draw_machine();
        struct walk w = {.m = m};
        CU_ASSERT_EQUAL_FATAL(machine_build(m), STATUS_OK);
        machine_check(m, memory);
        for (int k = 0; k < TRIES; k++) {
            draw_point(&w);
            const bool one = walk_tree(&m->draft.pool, m->arcs[0].when, &w.v) > 0.0;
            const bool other = walk_tree(&m->draft.pool, m->arcs[1].when, &w.v) > 0.0;
            const bool fine =
                one != other || has_diagnostic(m, one ? "E-OVERLAP" : "E-INCOMPLETE");
            CHECK(m->table_arcs[0].label, fine);
            CHECK(m->table_arcs[1].label, fine);
        }
        free(m);
    }
}

int main(void)
{
    source = random_stream(check_seed(1), 0);
    memory = malloc(machine_checks_bytes());
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("machine mutants", NULL, NULL);
    CU_add_test(suite, "mutants", test_mutants);
    CU_add_test(suite, "shared names", test_shared_names);
    const int result = memory ? check_run() : EXIT_FAILURE;
    free(memory);
    return result;
}
