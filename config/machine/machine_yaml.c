/* config/machine/machine_yaml.c - reads a machine from YAML text into a draft. */
#include <string.h>

#include "base/numbers/number.h"
#include "config/machine/machine_file.h"
#include "config/options/option_file.h"
#include "twin/machine/machine_label.h"

struct machine_values {
    char purpose[MACHINE_PURPOSE_MAX];
    bool clocked;
    uint8_t otherwise;
};

struct state_values {
    bool final;
};

struct arc_values {
    bool empty, waits;
    uint8_t pop;
};

#define BY_HAND OPTION_BY_HAND, ""
#define AT(m)   OPTION_AT(struct machine_values, m), ""

/* clang-format off */
static const struct option_row root_rows[] = {
    {"machine", OPTION_MAP, "", "", BY_HAND},
    {"purpose", OPTION_TEXT, "", "", 0.0, MACHINE_PURPOSE_MAX - 1, "", AT(purpose)},
    {"clocked", OPTION_BOOL, "", "true", OPTION_NO_RANGE, AT(clocked)},
    {"otherwise", OPTION_CHOICE, "", "incomplete", 0.0, 0.0, "incomplete|stay", AT(otherwise)},
    {"constants", OPTION_MAP, "", "", BY_HAND},
    {"inputs", OPTION_MAP, "", "", BY_HAND},
    {"variables", OPTION_MAP, "", "", BY_HAND},
    {"outputs", OPTION_MAP, "", "", BY_HAND},
    {"initial", OPTION_MAP, "", "", BY_HAND},
    {"start", OPTION_MAP, "", "", BY_HAND},
    {"states", OPTION_MAP, "", "", BY_HAND},
};
#undef AT

#define AT(m) OPTION_AT(struct state_values, m), ""
static const struct option_row state_rows[] = {
    {"final", OPTION_BOOL, "", "false", OPTION_NO_RANGE, AT(final)},
    {"outputs", OPTION_MAP, "", "", BY_HAND},
    {"arcs", OPTION_MAP, "", "", BY_HAND},
};
#undef AT

#define AT(m) OPTION_AT(struct arc_values, m), ""
static const struct option_row arc_rows[] = {
    {"when", OPTION_MAP, "", "", BY_HAND},
    {"do", OPTION_MAP, "", "", BY_HAND},
    {"to", OPTION_MAP, "", "", BY_HAND},
    {"empty", OPTION_BOOL, "", "false", OPTION_NO_RANGE, AT(empty)},
    {"pop", OPTION_INTEGER, "", "0", 0.0, EFSM_STACK_MAX, "", AT(pop)},
    {"push", OPTION_MAP, "", "", BY_HAND},
    {"waits", OPTION_BOOL, "", "false", OPTION_NO_RANGE, AT(waits)},
};
#undef AT
/* clang-format on */

static const struct option_table root_table = {root_rows, COUNT(root_rows)};
static const struct option_table state_table = {state_rows, COUNT(state_rows)};
static const struct option_table arc_table = {arc_rows, COUNT(arc_rows)};

struct yaml_reader {
    const struct tree *tree;
    struct option_reader options;
    struct machine_draft *draft;
};

/* A map that is read by its table. */
struct yaml_map {
    struct option_reading reading;
    uint32_t given[OPTION_ROWS_MAX];
};

static void read_map(struct yaml_reader *r, struct yaml_map *map,
                     const struct option_table *table, uint32_t node, const char *shown,
                     void *values)
{
    *map = (struct yaml_map){{&r->options, table, map->given, node, shown, 0, false}, {0}};
    option_defaults(table, values);
    option_read(&map->reading, NULL, values);
}

static uint32_t node_of(const struct yaml_map *map, const char *key)
{
    return option_node(&map->reading, key);
}

static struct machine_place place_of(const struct yaml_reader *r, uint32_t node)
{
    const struct tree_node *n = &r->tree->nodes[node];
    return (struct machine_place){n->line, n->column, NULL};
}

static struct machine_place key_place(const struct yaml_reader *r, uint32_t node)
{
    const struct tree_node *n = &r->tree->nodes[node];
    return (struct machine_place){n->key_line, n->key_column, NULL};
}

/* Returns the first child of the map or list at node; TREE_NONE with a fault for any other
 * kind. */
static uint32_t enter_node(struct yaml_reader *r, uint32_t node, enum tree_kind kind,
                           const char *what)
{
    if (node == TREE_NONE || r->tree->nodes[node].kind == TREE_SKIPPED ||
        option_is_empty(r->tree, node)) {
        return TREE_NONE;
    }
    if (r->tree->nodes[node].kind != kind) {
        option_fault(&r->options, node,
                     kind == TREE_MAP ? FAULT_OBJECT_EXPECTED : FAULT_LIST_EXPECTED,
                     "%s: a %s is wanted", what, kind == TREE_MAP ? "map" : "list");
        return TREE_NONE;
    }
    return r->tree->nodes[node].first;
}

static uint32_t next_node(const struct yaml_reader *r, uint32_t node)
{
    return r->tree->nodes[node].next;
}

/* Returns a scalar's text; NULL with a fault when it is none. */
static const char *scalar_at(struct yaml_reader *r, uint32_t node, const char *what)
{
    if (r->tree->nodes[node].kind == TREE_SCALAR) {
        return tree_text(r->tree, node);
    }
    if (r->tree->nodes[node].kind != TREE_SKIPPED) {
        option_fault(&r->options, node, FAULT_TEXT_EXPECTED, "%s: a text is wanted", what);
    }
    return NULL;
}

/* ---- ports ---- */

struct port_value {
    enum expression_type type;
    bool has_value;
    double value;
};

/* Reads a type (truth, number) or a value. */
static bool read_port_value(struct yaml_reader *r, uint32_t node, bool types, bool values,
                            const char *shown, struct port_value *out)
{
    const char *text = scalar_at(r, node, shown);
    *out = (struct port_value){.type = EXPRESSION_NUMBER};
    if (!text) {
        return false;
    }
    const bool truth = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    if (types && (strcmp(text, "truth") == 0 || strcmp(text, "number") == 0)) {
        out->type = text[0] == 't' ? EXPRESSION_TRUTH : EXPRESSION_NUMBER;
        return true;
    }
    out->has_value = true;
    out->type = truth ? EXPRESSION_TRUTH : EXPRESSION_NUMBER;
    out->value = strcmp(text, "true") == 0 ? 1.0 : 0.0;
    if (values && (truth || number_parse_real(text, &out->value) == NUMBER_FINE)) {
        return true;
    }
    option_fault(&r->options, node, FAULT_UNEXPECTED_VALUE, "%s: '%.40s'; %s%s%s", shown, text,
                 types ? "truth or number is wanted" : "", types && values ? ", or " : "",
                 values ? "a value: a number, true or false" : "");
    return false;
}

static void read_ports(struct yaml_reader *r, const struct yaml_map *root, const char *key,
                       enum machine_role role)
{
    const uint32_t section = node_of(root, key);
    for (uint32_t i = enter_node(r, section, TREE_MAP, key); i != TREE_NONE;
         i = next_node(r, i)) {
        struct port_value value;
        char shown[OPTION_PREFIX_MAX];
        (void)snprintf(shown, sizeof shown, "%s.%.40s", key, tree_key(r->tree, i));
        if (read_port_value(r, i, role != MACHINE_CONSTANT,
                            role == MACHINE_CONSTANT || role == MACHINE_OUTPUT, shown,
                            &value)) {
            (void)machine_draft_declare(r->draft, role, tree_key(r->tree, i), value.type,
                                        value.has_value ? &value.value : NULL, key_place(r, i));
        }
    }
}

/* ---- assignments ---- */

/* Reads a list of assignments, or one text. delayed: 1 all are delayed, 0 none may be, -1 as
 * written. */
static struct machine_draft_range read_acts(struct yaml_reader *r, uint32_t node,
                                            const char *what, const char *code,
                                            const char *refusal, int delayed)
{
    struct machine_acts acts = {.count = 0};
    const bool one = node != TREE_NONE && r->tree->nodes[node].kind == TREE_SCALAR;
    for (uint32_t i = one ? node : enter_node(r, node, TREE_LIST, what); i != TREE_NONE;
         i = one ? TREE_NONE : next_node(r, i)) {
        const char *text = scalar_at(r, i, what);
        struct machine_words rest = {text, text ? strlen(text) : 0};
        struct machine_words part;
        while (machine_words_next(&rest, &part)) {
            const size_t before = acts.count;
            (void)machine_draft_assign(r->draft, part, place_of(r, i), code, refusal, &acts);
            if (acts.count == before) {
                continue;
            }
            struct machine_draft_assignment *act = &acts.items[before];
            if (delayed == 0 && act->delayed) {
                machine_diagnostics_add(&r->draft->diagnostics, code, act->place, "'%.*s'%s",
                                        (int)(part.bytes < 240 ? part.bytes : 240), part.text,
                                        refusal);
                acts.count = before;
            }
            act->delayed = delayed < 0 ? act->delayed : delayed > 0;
        }
    }
    return machine_draft_add_acts(r->draft, &acts);
}

/* ---- states and arcs ---- */

static const char *copy_text(struct yaml_reader *r, const char *text)
{
    return machine_draft_store_text(r->draft, text, strlen(text));
}

/* Returns the name at a key, even if YAML would read it as a truth (OFF). NULL with a fault
 * when there is none. */
static const char *read_name(struct yaml_reader *r, const struct yaml_map *map, const char *key,
                             uint32_t whole, const char *wanted)
{
    const uint32_t node = node_of(map, key);
    const char *text = node == TREE_NONE ? NULL : scalar_at(r, node, key);
    if (text && text[0] != '\0' && strlen(text) <= MACHINE_NAME_MAX) {
        return copy_text(r, text);
    }
    if (node == TREE_NONE) {
        option_fault(&r->options, whole, FAULT_MISSING_KEY, "%s is missing: %s", key, wanted);
    } else if (text) {
        option_fault(&r->options, node, FAULT_BAD_NAME, "%s: %s, of 1 to %d bytes", key, wanted,
                     MACHINE_NAME_MAX);
    }
    return NULL;
}

static void read_guard(struct yaml_reader *r, struct machine_draft_arc *arc, uint32_t node)
{
    const char *text = node == TREE_NONE ? NULL : scalar_at(r, node, "when");
    if (text && !machine_draft_expression(r->draft, text, strlen(text), place_of(r, node),
                                          &arc->when)) {
        arc->when = 0;
    }
}

static void read_pushes(struct yaml_reader *r, struct machine_draft_arc *arc, uint32_t node)
{
    for (uint32_t i = enter_node(r, node, TREE_LIST, "push"); i != TREE_NONE;
         i = next_node(r, i)) {
        const char *text = scalar_at(r, i, "push");
        if (text && arc->push_count == EFSM_PUSH_MAX) {
            machine_diagnostics_add(&r->draft->diagnostics, "E-TOO-MANY", place_of(r, i),
                                    "more than %d states are pushed at once", EFSM_PUSH_MAX);
            return;
        }
        if (text) {
            arc->push[arc->push_count++] = copy_text(r, text);
        }
    }
}

static void read_arc(struct yaml_reader *r, const char *state, uint32_t node)
{
    struct arc_values values = {.pop = 0};
    struct yaml_map map;
    read_map(r, &map, &arc_table, node, "arcs.", &values);
    struct machine_draft_arc *arc = machine_draft_add_arc(r->draft, place_of(r, node));
    if (!arc) {
        return;
    }
    arc->from = state;
    const char *to = read_name(r, &map, "to", node, "the state to go to, or top");
    arc->to = to && strcmp(to, "top") == 0 ? NULL : to ? to : state;
    read_guard(r, arc, node_of(&map, "when"));
    arc->acts = read_acts(r, node_of(&map, "do"), "do", "E-ACTION",
                          " is no assignment: name+ = value, or name = value of an output", -1);
    arc->empties = values.empty;
    arc->pops = values.pop;
    read_pushes(r, arc, node_of(&map, "push"));
    arc->waits = node_of(&map, "waits") == TREE_NONE ? MACHINE_WAITS_UNSAID
                 : values.waits                      ? MACHINE_WAITS
                                                     : MACHINE_WAITS_NOT;
}

static void read_state(struct yaml_reader *r, uint32_t node)
{
    const char *name = tree_key(r->tree, node);
    struct state_values values = {.final = false};
    struct yaml_map map;
    char shown[OPTION_PREFIX_MAX];
    (void)snprintf(shown, sizeof shown, "states.%.40s.", name);
    read_map(r, &map, &state_table, node, shown, &values);
    struct machine_draft_state *state = machine_draft_add_state(r->draft, key_place(r, node));
    if (!state) {
        return;
    }
    if (!machine_is_name(name) || strcmp(name, "top") == 0) {
        machine_diagnostics_add(
            &r->draft->diagnostics, "E-STATE-NAME", key_place(r, node),
            "'%.40s' cannot be the name of a state: letters, digits and _%s", name,
            strcmp(name, "top") == 0 ? ", and not top" : "");
    }
    state->name = copy_text(r, name);
    state->final = values.final;
    state->outputs =
        read_acts(r, node_of(&map, "outputs"), "outputs", "E-STATE-TEXT",
                  " among the outputs of a state: only name = value stands there", 0);
    for (uint32_t i = enter_node(r, node_of(&map, "arcs"), TREE_LIST, "arcs"); i != TREE_NONE;
         i = next_node(r, i)) {
        read_arc(r, state->name, i);
    }
}

static void read_states(struct yaml_reader *r, uint32_t node)
{
    for (uint32_t i = enter_node(r, node, TREE_MAP, "states"); i != TREE_NONE;
         i = next_node(r, i)) {
        if (r->tree->nodes[i].kind != TREE_SKIPPED) {
            read_state(r, i);
        }
    }
    if (r->draft->state_count == 0 && !r->tree->partial) {
        machine_diagnostics_add(&r->draft->diagnostics, "E-NO-STATE", r->draft->place,
                                "there is no state: states: and, below, their names");
    }
}

/* ---- the whole ---- */

static void read_heading(struct yaml_reader *r, const struct yaml_map *map,
                         const struct machine_values *values)
{
    struct machine_draft *d = r->draft;
    const uint32_t name = node_of(map, "machine");
    const char *text = read_name(r, map, "machine", TREE_NONE, "its name");
    d->place = name == TREE_NONE ? (struct machine_place){0} : place_of(r, name);
    d->name = text ? text : "";
    d->purpose = copy_text(r, values->purpose);
    d->clocked = values->clocked;
    d->stays = values->otherwise == 1;
    d->closed = node_of(map, "inputs") != TREE_NONE;
    if (text && !machine_is_name(text)) {
        machine_diagnostics_add(&d->diagnostics, "E-NAME", d->place,
                                "'%s' cannot be a name: letters, digits and _", text);
    }
}

static void read_start(struct yaml_reader *r, const struct yaml_map *map)
{
    struct machine_draft *d = r->draft;
    const uint32_t node = node_of(map, "initial");
    d->initial_place = node == TREE_NONE ? d->place : place_of(r, node);
    if (node == TREE_NONE) {
        machine_diagnostics_add(&d->diagnostics, "E-NO-START", d->place,
                                "no initial state: initial: and its name");
    } else {
        d->initial = read_name(r, map, "initial", TREE_NONE, "the state to begin in");
    }
    d->starts = read_acts(r, node_of(map, "start"), "start", "E-START-LABEL",
                          ": the start has assignments only", 1);
}

static void read_machine(struct yaml_reader *r)
{
    struct machine_values values = {.clocked = true};
    struct yaml_map map;
    read_map(r, &map, &root_table, TREE_ROOT, "", &values);
    read_heading(r, &map, &values);
    read_ports(r, &map, "constants", MACHINE_CONSTANT);
    read_ports(r, &map, "inputs", MACHINE_INPUT);
    read_ports(r, &map, "variables", MACHINE_VARIABLE);
    read_ports(r, &map, "outputs", MACHINE_OUTPUT);
    read_start(r, &map);
    read_states(r, node_of(&map, "states"));
}

/* Adds the faults of the YAML text itself. */
static void add_faults(struct machine_draft *draft, const struct err_list *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        const struct err *e = &errors->items[i];
        machine_diagnostics_add(&draft->diagnostics, "E-FILE",
                                (struct machine_place){e->line, e->column, NULL}, "%s",
                                e->text);
    }
    if (errors->more > 0) {
        machine_diagnostics_add(&draft->diagnostics, "E-FILE", (struct machine_place){0},
                                "%zu more faults", errors->more);
    }
}

void machine_yaml_read(const char *text, size_t bytes, struct machine_draft *draft)
{
    struct err_list errors = {0};
    struct tree tree = {0};
    const enum status status = tree_parse(text, bytes, "", &tree, &errors);
    if (status != STATUS_E_NOMEM && tree.count > 0) {
        struct yaml_reader r = {.tree = &tree,
                                .options = {&tree, "", &errors, status != STATUS_OK, NULL},
                                .draft = draft};
        read_machine(&r);
    } else if (errors.count == 0) {
        const bool lack = status == STATUS_E_NOMEM;
        (void)err_list_add(&errors, STATUS_E_PARSE, lack ? FAULT_NO_MEMORY : FAULT_EMPTY_FILE,
                           "", 1, 1, "%s",
                           lack ? "not enough memory to read it"
                                : "the file is empty, a machine has at least machine, initial "
                                  "and states");
    }
    add_faults(draft, &errors);
    tree_finish(&tree);
}
