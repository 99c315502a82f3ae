#include "twin/machine/machine_checks.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/names.h"
#include "twin/machine/machine_checks_parts.h"

/* ---- reachable states, and states with an exit ---- */

static uint64_t targets_of(const struct efsm_arc *arc)
{
    uint64_t states = arc->to == EFSM_POP ? 0 : UINT64_C(1) << arc->to;
    for (size_t i = 0; i < arc->push_count; i++) {
        states |= UINT64_C(1) << arc->push[i];
    }
    return states;
}

static void find_reached(struct checks *c)
{
    const struct efsm_table *table = &c->machine->table;
    uint64_t before = 0;
    c->reached = UINT64_C(1) << table->initial;
    while (c->reached != before) {
        before = c->reached;
        for (size_t i = 0; i < table->arc_count; i++) {
            if (c->reached >> table->arcs[i].from & 1U) {
                c->reached |= targets_of(&table->arcs[i]);
            }
        }
    }
}

static size_t count_arcs(const struct checks *c, uint8_t state)
{
    size_t count = 0;
    for (size_t i = 0; i < c->machine->table.arc_count; i++) {
        count += c->machine->table_arcs[i].from == state ? 1 : 0;
    }
    return count;
}

static void check_state(struct checks *c, uint8_t state)
{
    const struct machine *m = c->machine;
    const struct machine_place place = m->states[state].place;
    const char *name = checks_state(c, state);
    const size_t arcs = count_arcs(c, state);
    if (!(c->reached >> state & 1U)) {
        machine_diagnostics_add(checks_list(c), "E-UNREACHABLE", place,
                                "%s cannot be reached from %s", name,
                                checks_state(c, m->table.initial));
    }
    if (arcs == 0 && !m->table_states[state].final) {
        machine_diagnostics_add(
            checks_list(c), "E-SINK", place,
            checks_is_drawn(c)
                ? "no arrow leaves %s: draw it with a double border if the machine ends there"
                : "no arc leaves %s: write final: true if the machine ends there",
            name);
    }
    if (arcs > 0 && m->table_states[state].final) {
        machine_diagnostics_add(checks_list(c), "E-FINAL", place,
                                "%s is final, but an %s leaves it", name,
                                checks_is_drawn(c) ? "arrow" : "arc");
    }
    if (arcs > 0 && c->reached >> state & 1U) {
        check_guards(c, state);
    }
}

/* ---- outputs: of states and variables, not of inputs ---- */

/* Returns the first input that an expression reads, or MACHINE_NONE. */
static uint8_t find_input(const struct machine *m, uint16_t root)
{
    struct machine_names names = {.count = 0};
    machine_list_names(&m->draft.pool, root, false, &names);
    for (size_t i = 0; i < names.count; i++) {
        if (m->roles[names.name[i]] == MACHINE_INPUT) {
            return names.name[i];
        }
    }
    return MACHINE_NONE;
}

static void check_arc_outputs(struct checks *c, size_t arc)
{
    const struct machine *m = c->machine;
    const struct machine_range range = m->arcs[arc].outputs;
    for (size_t i = range.first; i < (size_t)range.first + range.count; i++) {
        const uint8_t by_guard = find_input(m, m->arcs[arc].when);
        const uint8_t input =
            by_guard != MACHINE_NONE ? by_guard : find_input(m, m->assignments[i].value);
        const char *name = machine_name(m, m->assignments[i].name);
        if (input != MACHINE_NONE) {
            machine_diagnostics_add(
                checks_list(c), "E-MEALY", m->arcs[arc].place,
                "%s: the output %s of '%.200s' depends on the input %s in the same cycle: make "
                "it delayed (%s+ = ...), or write %s = ... in a state",
                checks_state(c, m->table_arcs[arc].from), name, m->table_arcs[arc].label,
                machine_name(m, input), name, name);
        }
    }
}

static bool assigns_name(const struct machine *m, struct machine_range range, uint8_t name)
{
    for (size_t i = range.first; i < (size_t)range.first + range.count; i++) {
        if (m->assignments[i].name == name) {
            return true;
        }
    }
    return false;
}

static bool arcs_assign(const struct checks *c, uint8_t state, uint8_t name)
{
    const struct machine *m = c->machine;
    for (size_t i = 0; i < m->table.arc_count; i++) {
        if (m->table_arcs[i].from == state && assigns_name(m, m->arcs[i].outputs, name)) {
            return true;
        }
    }
    return false;
}

static void check_state_outputs(struct checks *c, uint8_t state)
{
    const struct machine *m = c->machine;
    const struct machine_range range = m->states[state].outputs;
    for (size_t i = range.first; i < (size_t)range.first + range.count; i++) {
        const uint8_t input = find_input(m, m->assignments[i].value);
        const char *name = machine_name(m, m->assignments[i].name);
        if (input != MACHINE_NONE) {
            machine_diagnostics_add(checks_list(c), "E-MEALY", m->states[state].place,
                                    "%s: the output %s depends on the input %s in the same "
                                    "cycle",
                                    checks_state(c, state), name, machine_name(m, input));
        }
        if (arcs_assign(c, state, m->assignments[i].name)) {
            machine_diagnostics_add(checks_list(c), "E-CONFLICT", m->states[state].place,
                                    checks_is_drawn(c)
                                        ? "%s: the output %s is given below the name and on an "
                                          "arrow"
                                        : "%s: the output %s is given in the state and on an "
                                          "arc",
                                    checks_state(c, state), name);
        }
    }
}

/* Can the state leave an output without a value? Arcs that depend on inputs cannot guarantee
 * one, so all other arcs must assign it. */
static bool leaves_open(const struct checks *c, uint8_t state, uint8_t name)
{
    const struct machine *m = c->machine;
    size_t giving = 0;
    size_t able = 0;
    for (size_t i = 0; i < m->table.arc_count; i++) {
        if (m->table_arcs[i].from == state) {
            giving += assigns_name(m, m->arcs[i].outputs, name) ? 1 : 0;
            able += find_input(m, m->arcs[i].when) == MACHINE_NONE ? 1 : 0;
        }
    }
    return giving == 0 || giving < able;
}

static void check_open_outputs(struct checks *c, const struct machine_port *output)
{
    const struct machine *m = c->machine;
    if (output->variable != MACHINE_NONE || output->has_otherwise) {
        return;
    }
    const char *name = machine_name(m, output->name);
    for (size_t i = 0; i < m->draft.state_count; i++) {
        if (c->reached >> i & 1U && !assigns_name(m, m->states[i].outputs, output->name) &&
            leaves_open(c, (uint8_t)i, output->name)) {
            machine_diagnostics_add(
                checks_list(c), "W-OUTPUT-OPEN", m->states[i].place,
                checks_is_drawn(c)
                    ? "%s: the output %s has no value there (it stays undefined); give it one, "
                      "or 'outputs: %s = false' in the note"
                    : "%s: the output %s has no value there (it stays undefined); give it one, "
                      "or write %s: false among the outputs",
                checks_state(c, (uint8_t)i), name, name);
        }
    }
}

/* ---- variables: does every read have a value? ---- */

struct flow { /* per state: bits of variables with a value on entry */
    bool known[EFSM_STATES_MAX];
    uint32_t surely[EFSM_STATES_MAX], possibly[EFSM_STATES_MAX];
};

static uint32_t variables_of(const struct machine *m, struct machine_range range)
{
    uint32_t bits = 0;
    for (size_t i = range.first; i < (size_t)range.first + range.count; i++) {
        bits |= UINT32_C(1) << m->assignments[i].to;
    }
    return bits;
}

/* Returns the names that an expression reads whenever it is computed: branches are lazy. */
static uint64_t sure_reads(const struct expression_pool *pool, uint16_t node)
{
    const struct expression_node *n = &pool->nodes[node];
    uint64_t reads = 0;
    if (n->reads == 0 || n->kind == EXPRESSION_DEFINED) {
        return 0;
    }
    if (n->kind == EXPRESSION_NAME) {
        return UINT64_C(1) << n->name;
    }
    if (n->kind == EXPRESSION_AND || n->kind == EXPRESSION_OR) {
        return sure_reads(pool, n->arguments[0]);
    }
    if (n->kind == EXPRESSION_IF) {
        return sure_reads(pool, n->arguments[0]) |
               (sure_reads(pool, n->arguments[1]) & sure_reads(pool, n->arguments[2]));
    }
    for (size_t i = 0; i < EXPRESSION_ARGUMENTS_MAX; i++) {
        reads |= sure_reads(pool, n->arguments[i]);
    }
    return reads;
}

/* Can the arc be completed where only these variables may have a value? One that reads another
 * leads to the sink, so it assigns nothing. */
static bool can_complete(const struct machine *m, const struct machine_arc *arc,
                         uint32_t possibly)
{
    uint64_t names = sure_reads(&m->draft.pool, arc->when);
    for (size_t i = 0; i < arc->delayed.count; i++) {
        names |= sure_reads(&m->draft.pool, m->assignments[arc->delayed.first + i].value);
    }
    for (size_t name = 0; names != 0; name++, names >>= 1) {
        if ((names & 1U) && m->roles[name] == MACHINE_VARIABLE &&
            !(possibly >> m->places[name] & 1U)) {
            return false;
        }
    }
    return true;
}

/* After a mistake on the way the checks go on as if it were corrected: surely counts what the
 * arc assigns, possibly only what it can. */
static bool flow_into(struct flow *f, uint8_t from, uint8_t to, uint32_t assigned,
                      bool completes)
{
    const uint32_t surely = f->surely[from] | assigned;
    const uint32_t met = f->known[to] ? f->surely[to] & surely : surely;
    const uint32_t possibly = f->possibly[to] | f->possibly[from] | (completes ? assigned : 0);
    const bool changed = !f->known[to] || met != f->surely[to] || possibly != f->possibly[to];
    f->known[to] = true;
    f->surely[to] = met;
    f->possibly[to] = possibly;
    return changed;
}

static void find_flow(const struct checks *c, uint32_t starts, struct flow *f)
{
    const struct efsm_table *table = &c->machine->table;
    uint64_t pushed = 0;
    bool changed = true;
    for (size_t i = 0; i < table->arc_count; i++) {
        for (size_t k = 0; k < table->arcs[i].push_count; k++) {
            pushed |= UINT64_C(1) << table->arcs[i].push[k];
        }
    }
    f->known[table->initial] = true;
    f->surely[table->initial] = f->possibly[table->initial] = starts;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < table->arc_count; i++) {
            const struct efsm_arc *arc = &table->arcs[i];
            const uint32_t assigned = variables_of(c->machine, c->machine->arcs[i].delayed);
            const uint64_t to = arc->to == EFSM_POP ? pushed : UINT64_C(1) << arc->to;
            const bool completes =
                can_complete(c->machine, &c->machine->arcs[i], f->possibly[arc->from]);
            for (uint8_t s = 0; s < table->state_count && f->known[arc->from]; s++) {
                changed = (to >> s & 1U && flow_into(f, arc->from, s, assigned, completes)) ||
                          changed;
            }
        }
    }
}

/* Does an expression test with defined() whether a name has a value? Then its author handles
 * that case. */
static bool asks_defined(const struct expression_pool *pool, uint16_t node, uint8_t name)
{
    const struct expression_node *n = &pool->nodes[node];
    if (!(n->reads >> name & 1U)) {
        return false;
    }
    if (n->kind == EXPRESSION_DEFINED) {
        return true;
    }
    for (size_t i = 0; i < EXPRESSION_ARGUMENTS_MAX; i++) {
        if (asks_defined(pool, n->arguments[i], name)) {
            return true;
        }
    }
    return false;
}

/* A place that reads variables: the label of an arc, or an output of a state. */
struct reader {
    uint8_t state;
    struct machine_place place;
    const char *what, *text; /* "the output " */
};

static void check_reads(struct checks *c, const struct reader *reader, uint16_t root,
                        const struct flow *f, uint32_t *reported)
{
    const struct machine *m = c->machine;
    const uint8_t from = reader->state;
    struct machine_names names = {.count = 0};
    machine_list_names(&m->draft.pool, root, false, &names);
    for (size_t i = 0; i < names.count; i++) {
        const uint8_t name = names.name[i];
        const uint32_t bit = UINT32_C(1) << (m->places[name] & 31U);
        if (m->roles[name] != MACHINE_VARIABLE || f->surely[from] & bit || *reported & bit ||
            asks_defined(&m->draft.pool, root, name)) {
            continue;
        }
        const bool never = !(f->possibly[from] & bit);
        *reported |= bit;
        machine_diagnostics_add(
            checks_list(c), never ? "E-UNDEFINED" : "W-UNDEFINED", reader->place,
            "%s: %s'%.240s' reads %s, which has no value yet %s", checks_state(c, from),
            reader->what, reader->text, machine_name(m, name),
            never ? "there" : "when the machine came there by a path that does not set it");
    }
}

/* Starts are computed in order, before any input exists. Returns the variables with a value
 * then. */
static uint32_t check_starts(struct checks *c)
{
    const struct machine *m = c->machine;
    uint32_t there = 0;
    for (size_t i = m->starts.first; i < (size_t)m->starts.first + m->starts.count; i++) {
        const struct machine_assignment *a = &m->assignments[i];
        struct machine_names names = {.count = 0};
        bool fine = true;
        machine_list_names(&m->draft.pool, a->value, false, &names);
        for (size_t k = 0; k < names.count; k++) {
            const uint8_t name = names.name[k];
            const bool variable = m->roles[name] == MACHINE_VARIABLE;
            const bool lacks =
                variable ? !(there >> m->places[name] & 1U) : m->roles[name] == MACHINE_INPUT;
            if (lacks && !asks_defined(&m->draft.pool, a->value, name)) {
                fine = false;
                machine_diagnostics_add(
                    checks_list(c), "E-UNDEFINED", m->draft.initial_place,
                    "the start of %s reads %s, which has no value yet there",
                    machine_name(m, a->name), machine_name(m, name));
            }
        }
        there |= fine ? UINT32_C(1) << a->to : 0;
    }
    return there;
}

static void check_values(struct checks *c)
{
    const struct machine *m = c->machine;
    struct flow flow = {.known = {false}};
    uint32_t reported[EFSM_STATES_MAX] = {0};
    find_flow(c, check_starts(c), &flow);
    for (size_t i = 0; i < m->table.arc_count; i++) {
        const uint8_t from = m->table_arcs[i].from;
        const struct reader arc = {from, m->arcs[i].place, "", m->table_arcs[i].label};
        const struct machine_range ranges[] = {m->arcs[i].delayed, m->arcs[i].outputs};
        if (!flow.known[from]) {
            continue;
        }
        check_reads(c, &arc, m->arcs[i].when, &flow, &reported[from]);
        for (size_t r = 0; r < COUNT(ranges); r++) {
            for (size_t k = 0; k < ranges[r].count; k++) {
                check_reads(c, &arc, m->assignments[ranges[r].first + k].value, &flow,
                            &reported[from]);
            }
        }
    }
    for (uint8_t s = 0; s < m->table.state_count; s++) {
        const struct machine_range outputs = m->states[s].outputs;
        for (size_t k = 0; flow.known[s] && k < outputs.count; k++) {
            const struct machine_assignment *a = &m->assignments[outputs.first + k];
            const struct reader output = {s, m->states[s].place, "the output ",
                                          machine_name(m, a->name)};
            check_reads(c, &output, a->value, &flow, &reported[s]);
        }
    }
}

/* ---- states that are pushed but never popped; similar names; circles ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_pops(struct checks *c)
{
    const struct efsm_table *table = &c->machine->table;
    const char *names[EFSM_STATES_MAX];
    size_t count = 0;
    char text[MACHINE_DIAGNOSTIC_MAX] = "";
    for (size_t s = 0; s < table->state_count; s++) {
        bool pushed = false;
        for (size_t i = 0; i < table->arc_count; i++) {
            if (table->arcs[i].to == EFSM_POP) {
                return;
            }
            for (size_t k = 0; k < table->arcs[i].push_count; k++) {
                pushed = pushed || table->arcs[i].push[k] == s;
            }
        }
        if (pushed) {
            names[count++] = checks_state(c, (uint8_t)s);
        }
    }
    qsort(names, count, sizeof names[0], compare_names);
    for (size_t i = 0; i < count; i++) {
        names_append(text, sizeof text, names[i]);
    }
    if (count > 0) {
        machine_diagnostics_add(checks_list(c), "W-NEVER-POPPED", (struct machine_place){0},
                                "%s pushed, but no %s goes to the top of the stack", text,
                                checks_is_drawn(c) ? "arrow" : "arc");
    }
}

static char to_small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Do the names differ only in capitals, or in the order of their letters? */
static bool looks_alike(const char *a, const char *b)
{
    int counts[256] = {0};
    const size_t n = strlen(a);
    bool same = n == strlen(b);
    bool moved = same;
    for (size_t i = 0; i < n && same; i++) {
        same = to_small(a[i]) == to_small(b[i]);
    }
    for (size_t i = 0; moved && i < n; i++) {
        counts[(unsigned char)a[i]]++;
        counts[(unsigned char)b[i]]--;
    }
    for (size_t i = 0; i < COUNT(counts); i++) {
        moved = moved && counts[i] == 0;
    }
    return same || moved;
}

static bool warn_alike(struct checks *c, const struct machine_port *input,
                       const struct machine_port *ports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = machine_name(c->machine, ports[i].name);
        if (ports[i].name != input->name && !(ports == c->machine->inputs && ports[i].found) &&
            looks_alike(machine_name(c->machine, input->name), name)) {
            machine_diagnostics_add(checks_list(c), "W-NAME", (struct machine_place){0},
                                    "the input %s looks like %s: a slip?",
                                    machine_name(c->machine, input->name), name);
            return true;
        }
    }
    return false;
}

static void check_names(struct checks *c)
{
    const struct machine *m = c->machine;
    for (size_t i = 0; i < m->input_count; i++) {
        const struct machine_port *p = &m->inputs[i];
        if (p->found) {
            (void)(warn_alike(c, p, m->variables, m->variable_count) ||
                   warn_alike(c, p, m->constants, m->constant_count) ||
                   warn_alike(c, p, m->inputs, m->input_count));
        }
    }
}

/* Finds a circle of arcs that never wait and always hold: returns the first arc that leads back
 * to state. */
static const struct machine_arc *find_circle(const struct machine *m, uint8_t state)
{
    uint64_t seen = UINT64_C(1) << state;
    uint64_t before = 0;
    while (seen != before) {
        before = seen;
        for (size_t i = 0; i < m->table.arc_count; i++) {
            const struct efsm_arc *arc = &m->table_arcs[i];
            if (arc->waits || m->arcs[i].when != 0 || arc->to == EFSM_POP ||
                !(seen >> arc->from & 1U)) {
                continue;
            }
            if (arc->to == state) {
                return &m->arcs[i];
            }
            seen |= UINT64_C(1) << arc->to;
        }
    }
    return NULL;
}

static void check_livelock(struct checks *c)
{
    const struct machine *m = c->machine;
    for (size_t i = 0; !m->draft.clocked && i < m->draft.state_count; i++) {
        const struct machine_arc *arc = find_circle(m, (uint8_t)i);
        if (arc) {
            machine_diagnostics_add(checks_list(c), "W-LIVELOCK", arc->place,
                                    checks_is_drawn(c)
                                        ? "%s: a circle of arrows that do not wait: the period "
                                          "never ends (mark one dashed)"
                                        : "%s: a circle of arcs that do not wait: the period "
                                          "never ends (one wants waits: true)",
                                    checks_state(c, (uint8_t)i));
        }
    }
}

size_t machine_checks_bytes(void)
{
    return sizeof(struct checks);
}

void machine_check(struct machine *machine, void *memory)
{
    struct checks *c = memory;
    c->machine = machine;
    c->work = 0.0;
    find_reached(c);
    for (size_t i = 0; i < machine->draft.state_count; i++) {
        check_state(c, (uint8_t)i);
        check_state_outputs(c, (uint8_t)i);
    }
    for (size_t i = 0; i < machine->draft.arc_count; i++) {
        check_arc_outputs(c, i);
    }
    for (size_t i = 0; i < machine->output_count; i++) {
        check_open_outputs(c, &machine->outputs[i]);
    }
    check_values(c);
    check_stack(c);
    check_pops(c);
    check_names(c);
    check_livelock(c);
}
