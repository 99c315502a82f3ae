/* twin/machine/machine_names.c - decides from declarations and uses which name is an input, a
 * variable or an output, and its type.
 */
#include <stdio.h>
#include <string.h>

#include "base/text/edit_distance.h"
#include "twin/machine/machine_parts.h"

/* ---- names of an expression ---- */

void machine_list_names(const struct expression_pool *pool, uint16_t root, bool defined,
                        struct machine_names *names)
{
    const struct expression_node *n = &pool->nodes[root];
    uint64_t seen = 0;
    for (size_t i = 0; i < names->count; i++) {
        seen |= UINT64_C(1) << names->name[i];
    }
    if ((n->reads & ~seen) == 0 || (n->kind == EXPRESSION_DEFINED && !defined)) {
        return;
    }
    if (n->kind == EXPRESSION_NAME) {
        names->name[names->count++] = n->name;
        return;
    }
    for (size_t i = 0; i < EXPRESSION_ARGUMENTS_MAX; i++) {
        machine_list_names(pool, n->arguments[i], defined, names);
    }
}

/* ---- ports ---- */

struct port_list {
    struct machine_port *ports;
    size_t *count, most;
    const char *what;
};

static struct port_list list_of(struct machine *m, enum machine_role role)
{
    switch (role) {
    case MACHINE_CONSTANT:
        return (struct port_list){m->constants, &m->constant_count, COUNT(m->constants),
                                  "constants"};
    case MACHINE_VARIABLE:
        return (struct port_list){m->variables, &m->variable_count, COUNT(m->variables),
                                  "variables"};
    case MACHINE_OUTPUT:
        return (struct port_list){m->outputs, &m->output_count, COUNT(m->outputs), "outputs"};
    case MACHINE_INPUT:
    case MACHINE_UNKNOWN:
    case MACHINE_TIME:
    case MACHINE_ROLE_COUNT:
    default:
        return (struct port_list){m->inputs, &m->input_count, COUNT(m->inputs), "inputs"};
    }
}

/* A variable that is also an output is read as a variable. */
static void add_port(struct machine *m, enum machine_role role, struct machine_port port)
{
    const struct port_list list = list_of(m, role);
    if (*list.count == list.most) {
        machine_diagnostics_add(&m->draft.diagnostics, "E-TOO-MANY", m->draft.place,
                                "more than %zu %s", list.most, list.what);
        return;
    }
    const uint8_t place = (uint8_t)*list.count;
    list.ports[(*list.count)++] = port;
    if (role != MACHINE_OUTPUT || m->roles[port.name] != MACHINE_VARIABLE) {
        m->roles[port.name] = role;
        m->places[port.name] = place;
    }
}

static void find_port(struct machine *m, enum machine_role role, uint8_t name,
                      struct machine_place place)
{
    add_port(m, role,
             (struct machine_port){
                 .name = name, .found = true, .variable = MACHINE_NONE, .place = place});
}

/* Returns its index among the outputs, or MACHINE_NONE. */
static uint8_t find_output(const struct machine *m, uint8_t name)
{
    for (size_t i = 0; i < m->output_count; i++) {
        if (m->outputs[i].name == name) {
            return (uint8_t)i;
        }
    }
    return MACHINE_NONE;
}

static void add_declarations(struct machine *m)
{
    struct expression_pool *pool = &m->draft.pool;
    for (size_t i = 0; i < m->draft.port_count; i++) {
        const struct machine_draft_port *p = &m->draft.ports[i];
        add_port(
            m, p->role,
            (struct machine_port){.name = p->name,
                                  .has_otherwise = p->role == MACHINE_OUTPUT && p->has_value,
                                  .otherwise = p->value,
                                  .variable = MACHINE_NONE,
                                  .place = p->place});
        if (p->role == MACHINE_CONSTANT) {
            pool->names[p->name].constant = true;
            pool->names[p->name].value = p->value;
        }
    }
}

/* ---- assigned names ---- */

struct use { /* One use of an expression. */
    uint16_t root;
    uint8_t name; /* assigned name; MACHINE_NONE: it is a guard */
    bool delayed;
    size_t at; /* position: assignments, then guards of arcs */
    struct machine_place place;
    const char *label; /* label of the arc; the state's name; "" */
};

typedef void visit_use(struct machine *m, const struct use *use, void *context);

static void visit_range(struct machine *m, struct machine_range range, struct use use,
                        visit_use *visit, void *context)
{
    for (size_t i = range.first; i < (size_t)range.first + range.count; i++) {
        use.root = m->assignments[i].value;
        use.name = m->assignments[i].name;
        use.at = i;
        visit(m, &use, context);
    }
}

/* Visits arcs, each with its guard first; then states, then the start. */
static void visit_uses(struct machine *m, visit_use *visit, void *context)
{
    for (size_t i = 0; i < m->draft.arc_count; i++) {
        const struct machine_arc *arc = &m->arcs[i];
        struct use use = {.root = arc->when,
                          .name = MACHINE_NONE,
                          .at = MACHINE_ASSIGNMENTS_MAX + i,
                          .place = arc->place,
                          .label = m->table_arcs[i].label};
        if (arc->when != 0) {
            visit(m, &use, context);
        }
        use.delayed = true;
        visit_range(m, arc->delayed, use, visit, context);
        use.delayed = false;
        visit_range(m, arc->outputs, use, visit, context);
    }
    for (size_t i = 0; i < m->draft.state_count; i++) {
        const struct use use = {.place = m->states[i].place, .label = m->draft.states[i].name};
        visit_range(m, m->states[i].outputs, use, visit, context);
    }
    const struct use use = {.delayed = true, .place = m->draft.initial_place, .label = ""};
    visit_range(m, m->starts, use, visit, context);
}

static void find_variable(struct machine *m, const struct use *use, void *context)
{
    (void)context;
    if (use->name == MACHINE_NONE) {
        return;
    }
    const enum machine_role role = m->roles[use->name];
    if (role == MACHINE_INPUT || role == MACHINE_CONSTANT) {
        machine_diagnostics_add(&m->draft.diagnostics, "E-INPUT-ASSIGNED", use->place,
                                "'%s' gives a value to the %s %s", use->label,
                                role == MACHINE_INPUT ? "input" : "constant",
                                machine_name(m, use->name));
    } else if (use->delayed && role != MACHINE_VARIABLE) {
        const uint8_t output = find_output(m, use->name);
        find_port(m, MACHINE_VARIABLE, use->name, use->place);
        m->draft.pool.names[use->name].constant = false;
        if (output != MACHINE_NONE) {
            m->outputs[output].variable = m->places[use->name];
        }
    }
}

/* Call it after all variables are known. */
static void find_output_of(struct machine *m, const struct use *use, void *context)
{
    (void)context;
    if (use->name == MACHINE_NONE || use->delayed) {
        return;
    }
    if (m->roles[use->name] == MACHINE_VARIABLE && find_output(m, use->name) == MACHINE_NONE) {
        char text[128];
        const char *name = machine_name(m, use->name);
        (void)expression_print_wide(&m->draft.pool, use->root, text, sizeof text);
        machine_diagnostics_add(&m->draft.diagnostics, "E-AT-ONCE", use->place,
                                "'%s = %s' gives the variable %s no value: write %s+ = %s, or "
                                "declare %s as an output, too",
                                name, text, name, name, text, name);
    } else if (m->roles[use->name] == MACHINE_UNKNOWN) {
        find_port(m, MACHINE_OUTPUT, use->name, use->place);
    }
}

/* ---- read names ---- */

static void refuse_name(struct machine *m, uint8_t name, struct machine_place place)
{
    struct edit_guess guess = {0};
    char meant[EDIT_GUESS_MAX];
    for (size_t i = 0; i < m->draft.pool.name_count; i++) {
        edit_guess_try(&guess, machine_name(m, name),
                       m->roles[i] == MACHINE_UNKNOWN ? NULL : machine_name(m, (uint8_t)i));
    }
    machine_diagnostics_add(&m->draft.diagnostics, "E-NAME", place,
                            "there is no %s%s: declare it among the inputs, variables or "
                            "constants",
                            machine_name(m, name), edit_guess_text(&guess, meant));
}

static void find_inputs(struct machine *m, const struct use *use, void *context)
{
    struct machine_names names = {.count = 0};
    (void)context;
    machine_list_names(&m->draft.pool, use->root, true, &names);
    for (size_t i = 0; i < names.count; i++) {
        const uint8_t name = names.name[i];
        if (m->roles[name] == MACHINE_OUTPUT) {
            machine_diagnostics_add(&m->draft.diagnostics, "E-OUTPUT-READ", use->place,
                                    "'%s' reads the output %s: outputs are written only; make "
                                    "it a variable (%s+ = ...)",
                                    use->label, machine_name(m, name), machine_name(m, name));
        } else if (m->roles[name] == MACHINE_UNKNOWN && m->draft.closed) {
            refuse_name(m, name, use->place);
        } else if (m->roles[name] == MACHINE_UNKNOWN) {
            find_port(m, MACHINE_INPUT, name, use->place);
        }
    }
}

static void report_inputs(struct machine *m)
{
    for (size_t i = 0; i < m->input_count; i++) {
        if (m->inputs[i].found) {
            machine_diagnostics_add(&m->draft.diagnostics, "N-INPUT",
                                    (struct machine_place){0, 0, NULL},
                                    "%s: %s is used as an input (nothing assigns it)",
                                    m->draft.name, machine_name(m, m->inputs[i].name));
        }
    }
}

/* Sets the target of an assignment, once ports have their indices. */
static void place_assignment(struct machine *m, const struct use *use, void *context)
{
    (void)context;
    if (use->name != MACHINE_NONE) {
        m->assignments[use->at].to =
            use->delayed ? m->places[use->name] : find_output(m, use->name);
    }
}

void machine_find_roles(struct machine *m)
{
    m->constant_count = m->input_count = m->variable_count = m->output_count = 0;
    memset(m->roles, 0, sizeof m->roles);
    m->roles[MACHINE_TIME_NAME] = m->roles[MACHINE_ELAPSED_NAME] = MACHINE_TIME;
    add_declarations(m);
    for (size_t i = 0; i < m->output_count; i++) {
        struct machine_port *p = &m->outputs[i];
        p->variable = m->roles[p->name] == MACHINE_VARIABLE ? m->places[p->name] : MACHINE_NONE;
    }
    visit_uses(m, find_variable, NULL);
    visit_uses(m, find_output_of, NULL);
    visit_uses(m, find_inputs, NULL);
    visit_uses(m, place_assignment, NULL);
    report_inputs(m);
}

/* ---- types ---- */

static void declare_types(struct machine *m)
{
    struct expression_name *names = m->draft.pool.names;
    for (size_t i = 0; i < m->draft.port_count; i++) {
        const struct machine_draft_port *p = &m->draft.ports[i];
        enum expression_type *type = &names[p->name].type;
        if (*type != EXPRESSION_ANY && p->type != EXPRESSION_ANY && *type != p->type) {
            machine_diagnostics_add(&m->draft.diagnostics, "E-TYPE", p->place,
                                    "'%s' is declared as a number and as a truth value",
                                    names[p->name].text);
        }
        *type = p->type != EXPRESSION_ANY ? p->type : *type;
    }
}

/* Each fault is reported once. */
struct typing {
    bool bad[MACHINE_ASSIGNMENTS_MAX + MACHINE_ARCS_MAX];
};

static void find_type(struct machine *m, const struct use *use, void *context)
{
    struct typing *typing = context;
    struct expression_name *names = m->draft.pool.names;
    struct err err = {0};
    enum expression_type type = EXPRESSION_ANY;
    const bool guard = use->name == MACHINE_NONE;
    if (typing->bad[use->at]) {
        return;
    }
    if (expression_infer(&m->draft.pool, use->root,
                         guard ? EXPRESSION_TRUTH : names[use->name].type, &type,
                         &err) != STATUS_OK) {
        typing->bad[use->at] = true;
        machine_diagnostics_add(&m->draft.diagnostics, "E-TYPE", use->place, "'%s': %s",
                                use->label, err.text);
    } else if (!guard && names[use->name].type == EXPRESSION_ANY) {
        names[use->name].type = type;
    }
}

void machine_find_types(struct machine *m)
{
    enum { ROUNDS = 4 }; /* each round passes types from one name to the next */
    struct typing typing = {{false}};
    declare_types(m);
    for (int i = 0; i < ROUNDS; i++) {
        visit_uses(m, find_type, &typing);
    }
    for (size_t i = 0; i < m->draft.pool.name_count; i++) {
        struct expression_name *name = &m->draft.pool.names[i];
        name->type = name->type == EXPRESSION_ANY ? EXPRESSION_NUMBER : name->type;
    }
}
