/* config/machine/machine_yaml.c - reads a machine from YAML text into a draft. */
#include <string.h>

#include "base/numbers/number.h"
#include "config/machine/machine_file.h"
#include "config/options/option_file.h"
#include "twin/machine/machine_label.h"

struct machine_values {
    char name[MACHINE_NAME_MAX + 1], initial[MACHINE_NAME_MAX + 1];
    char purpose[MACHINE_PURPOSE_MAX];
    bool clocked;
    uint8_t otherwise;
};

struct state_values {
    bool final;
};

struct arc_values {
    char to[MACHINE_NAME_MAX + 1];
    bool empty, waits;
    uint8_t pop;
};

/* The owner of all items. */
struct yaml_reader {
    const struct tree *tree;
    struct option_reader options;
    struct machine_draft *draft;
    enum machine_role role;   /* of the ports that are read */
    struct machine_acts acts; /* those that are read; delayed: 1 all, 0 none, -1 as written */
    int delayed;
    const char *code, *refusal;
    struct machine_draft_state *state;
    struct machine_draft_arc *arc;
};

static void add_port(const struct option_reading *item, void *value, void *owner);
static void add_act(const struct option_reading *item, void *value, void *owner);
static void add_push(const struct option_reading *item, void *value, void *owner);
static void start_state(const struct option_reading *item, void *value, void *owner);
static void add_state(const struct option_reading *item, void *value, void *owner);
static void add_arc(const struct option_reading *item, void *value, void *owner);

#define BY_HAND     OPTION_MAP, "", "", OPTION_BY_HAND, ""
#define EACH(items) OPTION_EACH(items), ""
#define NAME        OPTION_WORD, "", "", 1.0, 0.0, ""

/* clang-format off */
static const struct option_items port_items = {.shape = OPTION_NAMED, .later = true, .add = add_port};
static const struct option_items act_items = {
    .shape = OPTION_LIST_OR_ONE, .later = true, .what = "assignments", .example = "['C+ = C + 1']", .add = add_act};
static const struct option_items push_items = {
    .shape = OPTION_LIST, .later = true, .what = "states", .example = "[A]", .add = add_push};

#define AT(m) OPTION_AT(struct arc_values, m), ""
static const struct option_row arc_rows[] = {
    {"when", BY_HAND},
    {"do", EACH(act_items)},
    {"to", NAME, OPTION_AT(struct arc_values, to), "the state to go to, or top"},
    {"empty", OPTION_BOOL, "", "false", OPTION_NO_RANGE, AT(empty)},
    {"pop", OPTION_INTEGER, "", "0", 0.0, EFSM_STACK_MAX, "", AT(pop)},
    {"push", EACH(push_items)},
    {"waits", OPTION_BOOL, "", "false", OPTION_NO_RANGE, AT(waits)},
};
#undef AT
static const struct option_items arc_items = {
    .shape = OPTION_LIST, .table = OPTION_TABLE(arc_rows), .required = "to", .bytes = sizeof(struct arc_values),
    .later = true, .what = "arcs", .example = "[{to: A}]", .add = add_arc};

static const struct option_row state_rows[] = {
    {"final", OPTION_BOOL, "", "false", OPTION_NO_RANGE, OPTION_AT(struct state_values, final), ""},
    {"outputs", EACH(act_items)},
    {"arcs", EACH(arc_items)},
};
static const struct option_items state_items = {
    .shape = OPTION_NAMED, .table = OPTION_TABLE(state_rows), .bytes = sizeof(struct state_values), .later = true,
    .what = "states", .start = start_state, .add = add_state};

#define AT(m) OPTION_AT(struct machine_values, m), ""
static const struct option_row root_rows[] = {
    {"machine", NAME, OPTION_AT(struct machine_values, name), "its name"},
    {"purpose", OPTION_TEXT, "", "", 0.0, MACHINE_PURPOSE_MAX - 1, "", AT(purpose)},
    {"clocked", OPTION_BOOL, "", "true", OPTION_NO_RANGE, AT(clocked)},
    {"otherwise", OPTION_CHOICE, "", "incomplete", 0.0, 0.0, "incomplete|stay", AT(otherwise)},
    {"constants", EACH(port_items)},
    {"inputs", EACH(port_items)},
    {"variables", EACH(port_items)},
    {"outputs", EACH(port_items)},
    {"initial", NAME, AT(initial)},
    {"start", EACH(act_items)},
    {"states", EACH(state_items)},
};
#undef AT
/* clang-format on */
static const struct option_table root_table = {root_rows, COUNT(root_rows)};

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
    return option_fault(&r->options, node, FAULT_UNEXPECTED_VALUE, "%s: '%.40s'; %s%s%s", shown,
                        text, types ? "truth or number is wanted" : "",
                        types && values ? ", or " : "",
                        values ? "a value: a number, true or false" : "");
}

static void add_port(const struct option_reading *item, void *value, void *owner)
{
    struct yaml_reader *r = owner;
    struct port_value port;
    (void)value;
    if (read_port_value(r, item->node, r->role != MACHINE_CONSTANT,
                        r->role == MACHINE_CONSTANT || r->role == MACHINE_OUTPUT, item->shown,
                        &port)) {
        (void)machine_draft_declare(r->draft, r->role, option_name(item), port.type,
                                    port.has_value ? &port.value : NULL,
                                    key_place(r, item->node));
    }
}

/* Reads the items below a key; one without a value has none. */
static void read_given_items(struct yaml_reader *r, const struct option_reading *reading,
                             const char *key)
{
    const uint32_t node = option_node(reading, key);
    if (node != TREE_NONE && !option_is_empty(r->tree, node)) {
        option_read_items(reading, key, r);
    }
}

/* ---- assignments ---- */

static void add_act(const struct option_reading *item, void *value, void *owner)
{
    struct yaml_reader *r = owner;
    const char *text = scalar_at(r, item->node, item->shown);
    struct machine_words rest = {text, text ? strlen(text) : 0};
    struct machine_words part;
    (void)value;
    while (machine_words_next(&rest, &part)) {
        const size_t before = r->acts.count;
        (void)machine_draft_assign(r->draft, part, place_of(r, item->node), r->code, r->refusal,
                                   &r->acts);
        if (r->acts.count == before) {
            continue;
        }
        struct machine_draft_assignment *act = &r->acts.items[before];
        if (r->delayed == 0 && act->delayed) {
            machine_diagnostics_add(&r->draft->diagnostics, r->code, act->place, "'%.*s'%s",
                                    (int)(part.bytes < 240 ? part.bytes : 240), part.text,
                                    r->refusal);
            r->acts.count = before;
        }
        act->delayed = r->delayed < 0 ? act->delayed : r->delayed > 0;
    }
}

/* Reads a list of assignments, or one text. */
static struct machine_draft_range read_acts(struct yaml_reader *r,
                                            const struct option_reading *reading,
                                            const char *key, const char *code,
                                            const char *refusal, int delayed)
{
    r->acts.count = 0;
    r->code = code;
    r->refusal = refusal;
    r->delayed = delayed;
    read_given_items(r, reading, key);
    return machine_draft_add_acts(r->draft, &r->acts);
}

/* ---- states and arcs ---- */

static const char *copy_text(struct yaml_reader *r, const char *text)
{
    return machine_draft_store_text(r->draft, text, strlen(text));
}

static void add_push(const struct option_reading *item, void *value, void *owner)
{
    struct yaml_reader *r = owner;
    const char *text = scalar_at(r, item->node, item->shown);
    (void)value;
    if (text && r->arc->push_count == EFSM_PUSH_MAX) {
        machine_diagnostics_add(&r->draft->diagnostics, "E-TOO-MANY", place_of(r, item->node),
                                "more than %d states are pushed at once", EFSM_PUSH_MAX);
    } else if (text) {
        r->arc->push[r->arc->push_count++] = copy_text(r, text);
    }
}

static void add_arc(const struct option_reading *item, void *value, void *owner)
{
    struct yaml_reader *r = owner;
    const struct arc_values *values = value;
    const uint32_t when = option_node(item, "when");
    struct machine_draft_arc *arc = machine_draft_add_arc(r->draft, place_of(r, item->node));
    if (!arc) {
        return;
    }
    r->arc = arc;
    arc->from = r->state->name;
    arc->to = strcmp(values->to, "top") == 0 ? NULL
              : values->to[0]                ? copy_text(r, values->to)
                                             : r->state->name;
    const char *text = when == TREE_NONE ? NULL : scalar_at(r, when, "when");
    if (text && !machine_draft_expression(r->draft, text, strlen(text), place_of(r, when),
                                          &arc->when)) {
        arc->when = 0;
    }
    arc->acts = read_acts(r, item, "do", "E-ACTION",
                          " is no assignment: name+ = value, or name = value of an output", -1);
    arc->empties = values->empty;
    arc->pops = values->pop;
    read_given_items(r, item, "push");
    arc->waits = option_node(item, "waits") == TREE_NONE ? MACHINE_WAITS_UNSAID
                 : values->waits                         ? MACHINE_WAITS
                                                         : MACHINE_WAITS_NOT;
}

static void start_state(const struct option_reading *item, void *value, void *owner)
{
    struct yaml_reader *r = owner;
    option_defaults(item->table, value);
    r->state = machine_draft_add_state(r->draft, key_place(r, item->node));
}

static void add_state(const struct option_reading *item, void *value, void *owner)
{
    struct yaml_reader *r = owner;
    const char *name = option_name(item);
    if (!r->state) {
        return;
    }
    if (!machine_is_name(name) || strcmp(name, "top") == 0) {
        machine_diagnostics_add(
            &r->draft->diagnostics, "E-STATE-NAME", key_place(r, item->node),
            "'%.40s' cannot be the name of a state: letters, digits and _%s", name,
            strcmp(name, "top") == 0 ? ", and not top" : "");
    }
    r->state->name = copy_text(r, name);
    r->state->final = ((const struct state_values *)value)->final;
    r->state->outputs =
        read_acts(r, item, "outputs", "E-STATE-TEXT",
                  " among the outputs of a state: only name = value is allowed there", 0);
    read_given_items(r, item, "arcs");
}

/* ---- the whole ---- */

static void read_heading(struct yaml_reader *r, const struct option_reading *root,
                         const struct machine_values *values)
{
    struct machine_draft *d = r->draft;
    const uint32_t name = option_node(root, "machine");
    const uint32_t initial = option_node(root, "initial");
    d->place = name == TREE_NONE ? (struct machine_place){0} : place_of(r, name);
    d->name = copy_text(r, values->name);
    d->purpose = copy_text(r, values->purpose);
    d->clocked = values->clocked;
    d->stays = values->otherwise == 1;
    d->closed = option_node(root, "inputs") != TREE_NONE;
    if (values->name[0] && !machine_is_name(values->name)) {
        machine_diagnostics_add(&d->diagnostics, "E-NAME", d->place,
                                "'%s' cannot be a name: letters, digits and _", values->name);
    }
    d->initial_place = initial == TREE_NONE ? d->place : place_of(r, initial);
    d->initial = values->initial[0] ? copy_text(r, values->initial) : NULL;
    if (initial == TREE_NONE) {
        machine_diagnostics_add(&d->diagnostics, "E-NO-START", d->place,
                                "no initial state: initial: and its name");
    }
}

static void read_machine(struct yaml_reader *r)
{
    static const char *const ports[] = {"constants", "inputs", "variables", "outputs"};
    static const enum machine_role roles[] = {MACHINE_CONSTANT, MACHINE_INPUT, MACHINE_VARIABLE,
                                              MACHINE_OUTPUT};
    struct machine_values values;
    uint32_t given[COUNT(root_rows)] = {0};
    const struct option_reading root = {&r->options, &root_table, given, TREE_ROOT,
                                        "",          0,           false};
    option_defaults(&root_table, &values);
    option_read(&root, "machine", &values);
    read_heading(r, &root, &values);
    for (size_t i = 0; i < COUNT(ports); i++) {
        r->role = roles[i];
        read_given_items(r, &root, ports[i]);
    }
    r->draft->starts =
        read_acts(r, &root, "start", "E-START-LABEL", ": the start has assignments only", 1);
    read_given_items(r, &root, "states");
    if (r->draft->state_count == 0 && !r->tree->partial) {
        machine_diagnostics_add(&r->draft->diagnostics, "E-NO-STATE", r->draft->place,
                                "there is no state: states: and, below, their names");
    }
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
