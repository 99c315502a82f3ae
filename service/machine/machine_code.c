#include "service/machine/machine_code.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct code {
    FILE *out;
    const struct code_language *language;
    const struct machine *machine;
    int64_t period_us;
    struct code_writer writer;
    struct code_names machine_name, states, inputs, variables, outputs;
    bool stack, time; /* the machine uses them */
    bool uses[EXPRESSION_KIND_COUNT];
};

/* The meaning of tags at a place of a template: the member of each list around it. */
struct scope {
    const struct code *c;
    const char *text; /* the template's start */
    size_t arc, state;
    bool in_state;
    const struct machine_port *port;
    uint8_t pool_name;
    const char *name, *output; /* in the language */
    size_t number, output_number;
    uint16_t value;
    bool first;
};

static void render_text(const struct scope *s, const char *at, const char *end);

/* ---- lists --------------------------------------------------------------------------- */

enum list {
    LIST_STATES,
    LIST_FINALS,
    LIST_LEAVING,  /* states that have arcs */
    LIST_SPEAKING, /* states that set outputs, or whose arcs do */
    LIST_INITIAL,
    LIST_ARCS, /* of the state, or all */
    LIST_TO,   /* the state of the arc; none if it is popped */
    LIST_PUSHES,
    LIST_INPUTS,
    LIST_VARIABLES,
    LIST_OUTPUTS,
    LIST_VARIABLE, /* the variable that is this output */
    LIST_STARTS,
    LIST_SETS, /* of the arc, for the next cycle */
    LIST_STATE_OUTPUTS,
    LIST_ARC_OUTPUTS,
    LIST_COUNT
};

static const char *const list_names[LIST_COUNT] = {
    "states", "finals", "leaving",       "speaking",   "initial", "arcs",
    "to",     "pushes", "inputs",        "variables",  "outputs", "variable",
    "starts", "sets",   "state_outputs", "arc_outputs"};

static enum list find_list(const char *name)
{
    size_t list = 0;
    while (list < LIST_COUNT && strcmp(list_names[list], name) != 0) {
        list++;
    }
    return (enum list)list;
}

static struct machine_range single_member(size_t first)
{
    return (struct machine_range){(uint16_t)first, 1};
}

/* Members that enter_member() may refuse are among them. */
static struct machine_range list_members(const struct scope *s, enum list list)
{
    const struct machine *m = s->c->machine;
    switch (list) {
    case LIST_STATES:
    case LIST_FINALS:
    case LIST_LEAVING:
    case LIST_SPEAKING:
        return (struct machine_range){0, (uint16_t)m->table.state_count};
    case LIST_INITIAL:
        return single_member(m->table.initial);
    case LIST_ARCS:
        return (struct machine_range){0, (uint16_t)m->table.arc_count};
    case LIST_TO:
        return single_member(m->table.arcs[s->arc].to);
    case LIST_PUSHES:
        return (struct machine_range){0, m->table.arcs[s->arc].push_count};
    case LIST_INPUTS:
        return (struct machine_range){0, (uint16_t)m->input_count};
    case LIST_VARIABLES:
        return (struct machine_range){0, (uint16_t)m->variable_count};
    case LIST_OUTPUTS:
        return (struct machine_range){0, (uint16_t)m->output_count};
    case LIST_VARIABLE:
        return single_member(s->port->variable);
    case LIST_STARTS:
        return m->starts;
    case LIST_SETS:
        return m->arcs[s->arc].delayed;
    case LIST_STATE_OUTPUTS:
        return m->states[s->state].outputs;
    case LIST_ARC_OUTPUTS:
        return m->arcs[s->arc].outputs;
    case LIST_COUNT:
        break;
    }
    assert(list != LIST_COUNT);
    return (struct machine_range){0};
}

static bool has_arcs(const struct machine *m, size_t state)
{
    for (size_t i = 0; i < m->table.arc_count; i++) {
        if (m->table.arcs[i].from == state) {
            return true;
        }
    }
    return false;
}

static bool has_outputs(const struct machine *m, size_t state)
{
    bool found = m->states[state].outputs.count > 0;
    for (size_t i = 0; i < m->table.arc_count; i++) {
        found |= m->table.arcs[i].from == state && m->arcs[i].outputs.count > 0;
    }
    return found;
}

static bool enter_port(struct scope *s, const struct code_names *names,
                       const struct machine_port *ports, size_t i)
{
    s->port = &ports[i];
    s->pool_name = ports[i].name;
    s->name = names->names[i];
    s->number = i;
    return true;
}

static bool enter_assignment(struct scope *s, const struct code_names *names, size_t i)
{
    const struct machine_assignment *a = &s->c->machine->assignments[i];
    s->pool_name = a->name;
    s->value = a->value;
    s->name = names->names[a->to];
    s->number = a->to;
    return true;
}

static bool enter_state(struct scope *s, size_t i)
{
    s->state = s->number = i;
    s->in_state = true;
    return true;
}

/* False: i is no member of the list. */
static bool enter_member(struct scope *s, enum list list, size_t i)
{
    const struct code *c = s->c;
    const struct machine *m = c->machine;
    switch (list) {
    case LIST_STATES:
    case LIST_INITIAL:
        return enter_state(s, i);
    case LIST_FINALS:
        return m->table.states[i].final && enter_state(s, i);
    case LIST_LEAVING:
        return has_arcs(m, i) && enter_state(s, i);
    case LIST_SPEAKING:
        return has_outputs(m, i) && enter_state(s, i);
    case LIST_ARCS:
        s->arc = s->number = i;
        return !s->in_state || m->table.arcs[i].from == s->state;
    case LIST_TO:
        return i != EFSM_POP && enter_state(s, i);
    case LIST_PUSHES:
        return enter_state(s, m->table.arcs[s->arc].push[i]);
    case LIST_INPUTS:
        return enter_port(s, &c->inputs, m->inputs, i);
    case LIST_VARIABLES:
        return enter_port(s, &c->variables, m->variables, i);
    case LIST_OUTPUTS:
        s->output = c->outputs.names[i];
        s->output_number = i;
        return enter_port(s, &c->outputs, m->outputs, i);
    case LIST_VARIABLE:
        return i != MACHINE_NONE && enter_port(s, &c->variables, m->variables, i);
    case LIST_STARTS:
    case LIST_SETS:
        return enter_assignment(s, &c->variables, i);
    case LIST_STATE_OUTPUTS:
    case LIST_ARC_OUTPUTS:
        return enter_assignment(s, &c->outputs, i);
    case LIST_COUNT:
        break;
    }
    return false;
}

/* Renders a text for each member, or only asks whether there is one (at: NULL). */
static bool render_members(const struct scope *s, enum list list, const char *at,
                           const char *end)
{
    const struct machine_range range = list_members(s, list);
    bool any = false;
    for (size_t i = range.first; i < (size_t)range.first + range.count; i++) {
        struct scope member = *s;
        if (enter_member(&member, list, i)) {
            member.first = !any;
            any = true;
            if (at) {
                render_text(&member, at, end);
            }
        }
    }
    return any;
}

/* ---- flags and values ---------------------------------------------------------------- */

static bool find_flag(const struct scope *s, const char *name, bool *set)
{
    const struct code *c = s->c;
    const struct machine *m = c->machine;
    const struct efsm_arc *arc = &m->table.arcs[s->arc];
    const struct {
        const char *name;
        bool set;
    } flags[] = {
        {"first", s->first},
        {"stays", m->table.stays},
        {"stack", c->stack},
        {"time", c->time},
        {"readable", m->input_count + m->variable_count > 0},
        {"assignments", m->assignment_count > 0},
        {"final", m->table.states[s->state].final},
        {"guarded", m->arcs[s->arc].when != 0},
        {"waits", arc->waits},
        {"empties", arc->empties},
        {"pops", arc->pops > 0},
        {"input", m->roles[s->pool_name] == MACHINE_INPUT},
        {"truth", machine_type(m, s->pool_name) == EXPRESSION_TRUTH},
        {"has_otherwise", s->port && s->port->has_otherwise},
        {"uses_mod", c->uses[EXPRESSION_MODULO]},
        {"uses_sign", c->uses[EXPRESSION_SIGN]},
        {"uses_round", c->uses[EXPRESSION_ROUND]},
        {"uses_wrap", c->uses[EXPRESSION_WRAP]},
        {"uses_min", c->uses[EXPRESSION_MIN]},
        {"uses_max", c->uses[EXPRESSION_MAX]},
        {"uses_hypot", c->uses[EXPRESSION_HYPOT]},
        {"uses_clamp", c->uses[EXPRESSION_CLAMP]},
    };
    for (size_t i = 0; i < COUNT(flags); i++) {
        if (strcmp(flags[i].name, name) == 0) {
            *set = flags[i].set;
            return true;
        }
    }
    return false;
}

static bool is_set(const struct scope *s, const char *name)
{
    bool set = false;
    return find_flag(s, name, &set) ? set : render_members(s, find_list(name), NULL, NULL);
}

static void write_plain(FILE *out, const char *text)
{
    (void)fputs(text, out);
}

struct text {
    const char *name, *text;
    bool quoted;
};

static bool find_text(const struct scope *s, const char *name, struct text *found)
{
    const struct machine *m = s->c->machine;
    const struct text texts[] = {
        {"id", s->c->machine_name.names[0], false},
        {"machine", m->table.name, false},
        {"purpose_string", m->table.purpose, true},
        {"state", m->table.states[s->state].name, false},
        {"state_string", m->table.states[s->state].name, true},
        {"state_id", s->c->states.names[s->state], false},
        {"label_string", m->table.arcs[s->arc].label, true},
        {"name", s->name, false},
        {"name_string", machine_name(m, s->pool_name), true},
        {"output", s->output, false},
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (strcmp(texts[i].name, name) == 0) {
            *found = texts[i];
            return true;
        }
    }
    return false;
}

static bool find_count(const struct scope *s, const char *name, int64_t *found)
{
    const struct machine *m = s->c->machine;
    const struct efsm_arc *arc = &m->table.arcs[s->arc];
    const struct {
        const char *name;
        int64_t count;
    } counts[] = {
        {"number", (int64_t)s->number},
        {"output_number", (int64_t)s->output_number},
        {"from", arc->from},
        {"pops", arc->pops},
        {"push_count", arc->push_count},
        {"stack_max", EFSM_STACK_MAX},
        {"incomplete", EFSM_INCOMPLETE},
        {"input_count", (int64_t)m->input_count},
        /* C has no arrays without elements. */
        {"input_room", m->input_count > 0 ? (int64_t)m->input_count : 1},
        {"output_room", m->output_count > 0 ? (int64_t)m->output_count : 1},
        {"arc_room", m->table.arc_count > 0 ? (int64_t)m->table.arc_count : 1},
        {"period_us", s->c->period_us},
    };
    for (size_t i = 0; i < COUNT(counts); i++) {
        if (strcmp(counts[i].name, name) == 0) {
            *found = counts[i].count;
            return true;
        }
    }
    return false;
}

static void write_guard(const struct scope *s)
{
    const uint16_t when = s->c->machine->arcs[s->arc].when;
    if (when == 0) {
        (void)fputs(s->c->writer.style->truths[1], s->c->out);
    } else {
        code_expression(&s->c->writer, when);
    }
}

static void write_value(const struct scope *s)
{
    code_expression(&s->c->writer, s->value);
}

/* FROM -> TO: label, for a comment. */
static void write_arc(const struct scope *s)
{
    const struct efsm_table *table = &s->c->machine->table;
    const struct efsm_arc *a = &table->arcs[s->arc];
    code_comment(s->c->out, efsm_state_name(table, a->from));
    (void)fputs(" -> ", s->c->out);
    code_comment(s->c->out,
                 a->to == EFSM_POP ? "top of the stack" : efsm_state_name(table, a->to));
    (void)fputs(": ", s->c->out);
    code_comment(s->c->out, a->label);
}

/* The value of an output that no state or arc sets. */
static void write_otherwise(const struct scope *s)
{
    code_number(s->c->out, s->c->writer.style, s->port->otherwise);
}

static void write_otherwise_typed(const struct scope *s)
{
    if (machine_type(s->c->machine, s->pool_name) == EXPRESSION_TRUTH) {
        (void)fputs(s->c->writer.style->truths[s->port->otherwise > 0.0], s->c->out);
    } else {
        write_otherwise(s);
    }
}

static void write_otherwise_digits(const struct scope *s)
{
    (void)fprintf(s->c->out, "%.17g", s->port->otherwise);
}

/* The header of the step table. */
static void write_header(const struct scope *s)
{
    FILE *out = s->c->out;
    const struct machine *m = s->c->machine;
    (void)fputs("cycle,t", out);
    for (size_t i = 0; i < m->input_count; i++) {
        (void)fprintf(out, ",%s", machine_name(m, m->inputs[i].name));
    }
    (void)fputs(",state", out);
    for (size_t i = 0; i < m->variable_count; i++) {
        (void)fprintf(out, ",%s", machine_name(m, m->variables[i].name));
    }
    for (size_t i = 0; i < m->output_count; i++) {
        if (m->outputs[i].variable == MACHINE_NONE) {
            (void)fprintf(out, ",%s", machine_name(m, m->outputs[i].name));
        }
    }
    (void)fputs(",stack,arcs,next,blocked", out);
}

typedef void value_writer(const struct scope *s);

/* NULL: there is no such value. */
static value_writer *find_writer(const char *name)
{
    static const struct {
        const char *name;
        value_writer *write;
    } values[] = {{"guard", write_guard},
                  {"value", write_value},
                  {"arc", write_arc},
                  {"header", write_header},
                  {"otherwise", write_otherwise},
                  {"otherwise_typed", write_otherwise_typed},
                  {"otherwise_digits", write_otherwise_digits}};
    for (size_t i = 0; i < COUNT(values); i++) {
        if (strcmp(values[i].name, name) == 0) {
            return values[i].write;
        }
    }
    return NULL;
}

static void write_tag(const struct scope *s, const char *name)
{
    struct text text;
    int64_t count = 0;
    if (find_text(s, name, &text)) {
        (text.quoted ? code_string : write_plain)(s->c->out, text.text);
    } else if (find_count(s, name, &count)) {
        (void)fprintf(s->c->out, "%" PRId64, count);
    } else {
        value_writer *const write = find_writer(name);
        assert(write);
        write(s);
    }
}

/* ---- tags ---------------------------------------------------------------------------- */

struct tag {
    const char *begin, *end;
    char mark; /* 0: a value */
    char name[24];
};

/* The first tag from `at` on. */
static bool find_tag(const struct scope *s, const char *at, struct tag *tag)
{
    const char *open = strstr(at, "{{");
    if (!open) {
        return false;
    }
    while (open[2] == '{') {
        open++;
    }
    const char *name = open + 2;
    tag->mark = strchr("?!#|/>", *name) ? *name++ : '\0';
    tag->begin = open;
    tag->end = strstr(name, "}}") + 2;
    const char *last = tag->end - 2;
    while (last > name && strchr(" \n", last[-1])) {
        last--;
    }
    (void)snprintf(tag->name, sizeof tag->name, "%.*s", (int)(last - name), name);
    const char *line = open;
    while (line > at && line[-1] == ' ') {
        line--;
    }
    if (tag->mark && (line == s->text || line[-1] == '\n') && *tag->end == '\n') {
        tag->begin = line;
        tag->end++;
    }
    return true;
}

/* Returns the end of the section. */
static const char *render_section(const struct scope *s, const struct tag *tag)
{
    struct tag otherwise = {0};
    struct tag close = *tag;
    for (int depth = 1; depth > 0;) {
        const bool found = find_tag(s, close.end, &close);
        assert(found);
        (void)found;
        depth += (close.mark && strchr("?!#", close.mark)) - (close.mark == '/');
        if (depth == 1 && close.mark == '|') {
            otherwise = close;
        }
    }
    const char *const end = otherwise.mark ? otherwise.begin : close.begin;
    bool any = false;
    if (tag->mark == '#') {
        any = render_members(s, find_list(tag->name), tag->end, end);
    } else {
        any = is_set(s, tag->name) == (tag->mark == '?');
        render_text(s, tag->end, any ? end : tag->end);
    }
    if (!any && otherwise.mark) {
        render_text(s, otherwise.end, close.begin);
    }
    return close.end;
}

/* Another template by its name, or NULL. */
static const unsigned char *find_template(const char *name)
{
    return strcmp(name, "c_test") == 0      ? code_template_c_test
           : strcmp(name, "c_helpers") == 0 ? code_template_c_helpers
                                            : NULL;
}

static void render_template(const struct scope *s, const unsigned char *template)
{
    struct scope inner = *s;
    inner.text = (const char *)template;
    render_text(&inner, inner.text, inner.text + strlen(inner.text));
}

static void render_text(const struct scope *s, const char *at, const char *end)
{
    struct tag tag;
    while (find_tag(s, at, &tag) && tag.begin < end) {
        (void)fwrite(at, 1, (size_t)(tag.begin - at), s->c->out);
        at = tag.end;
        if (tag.mark == '>') {
            render_template(s, find_template(tag.name));
        } else if (tag.mark) {
            at = render_section(s, &tag);
        } else {
            write_tag(s, tag.name);
        }
    }
    (void)fwrite(at, 1, (size_t)(end - at), s->c->out);
}

static bool is_known(const struct scope *s, const struct tag *tag)
{
    struct text text;
    int64_t count = 0;
    bool set = false;
    switch (tag->mark) {
    case '\0':
        return find_text(s, tag->name, &text) || find_count(s, tag->name, &count) ||
               find_writer(tag->name);
    case '?':
    case '!':
        return find_flag(s, tag->name, &set) || find_list(tag->name) < LIST_COUNT;
    case '#':
        return find_list(tag->name) < LIST_COUNT;
    case '>':
        return find_template(tag->name) != NULL;
    default:
        return tag->name[0] == '\0';
    }
}

/* Returns the number of unknown tags, also in templates that this one contains. */
static size_t check_template(const struct scope *s, const char *template)
{
    struct scope inner = *s;
    struct tag tag;
    size_t unknown = 0;
    inner.text = template;
    for (const char *at = template; find_tag(&inner, at, &tag); at = tag.end) {
        if (!is_known(&inner, &tag)) {
            (void)fprintf(s->c->out, "%.*s\n", (int)(tag.end - tag.begin), tag.begin);
            unknown++;
        } else if (tag.mark == '>') {
            unknown += check_template(s, (const char *)find_template(tag.name));
        }
    }
    return unknown;
}

size_t code_check_tags(FILE *out, const struct code_language *language,
                       const struct machine *machine)
{
    const struct code c = {.out = out, .language = language, .machine = machine};
    const struct scope s = {.c = &c};
    return check_template(&s, (const char *)language->template) +
           check_template(&s, language->read) + check_template(&s, language->has);
}

/* ---- a program ----------------------------------------------------------------------- */

static void write_name(void *context, FILE *out, size_t name, bool asks)
{
    const struct code *c = context;
    const struct code_language *language = c->language;
    const uint8_t place = c->machine->places[name];
    if (c->machine->roles[name] == MACHINE_TIME) {
        (void)fputs(asks                        ? language->style->truths[1]
                    : name == MACHINE_TIME_NAME ? language->time
                                                : language->elapsed,
                    out);
        return;
    }
    const bool input = c->machine->roles[name] == MACHINE_INPUT;
    const struct scope s = {.c = c,
                            .pool_name = (uint8_t)name,
                            .number = place,
                            .name = (input ? &c->inputs : &c->variables)->names[place]};
    render_template(&s, (const unsigned char *)(asks ? language->has : language->read));
}

static void name_ports(struct code_names *names, const struct machine *machine,
                       const struct machine_port *ports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)code_identifier(names, machine_name(machine, ports[i].name));
    }
}

static void name_all(struct code *c)
{
    const struct machine *machine = c->machine;
    c->machine_name.words = c->inputs.words = c->variables.words = c->outputs.words =
        c->language->words;
    c->states.words = c->language->states_words;
    (void)code_identifier(&c->machine_name, machine->table.name);
    for (size_t i = 0; i < machine->table.state_count; i++) {
        (void)code_identifier(&c->states, machine->table.states[i].name);
    }
    name_ports(&c->inputs, machine, machine->inputs, machine->input_count);
    name_ports(&c->variables, machine, machine->variables, machine->variable_count);
    name_ports(&c->outputs, machine, machine->outputs, machine->output_count);
}

static void find_uses(struct code *c)
{
    const struct machine *m = c->machine;
    const struct expression_pool *pool = &m->draft.pool;
    for (size_t i = 0; i < m->table.arc_count; i++) {
        const struct efsm_arc *a = &m->table.arcs[i];
        c->stack |= a->empties || a->pops > 0 || a->push_count > 0 || a->to == EFSM_POP;
    }
    for (size_t i = 1; i < pool->count; i++) {
        const struct expression_node *n = &pool->nodes[i];
        c->uses[n->kind] = true;
        c->time |= n->kind == EXPRESSION_NAME && m->roles[n->name] == MACHINE_TIME;
    }
}

enum status code_write(FILE *out, const struct code_language *language,
                       const struct machine *machine, int64_t period_us)
{
    struct code *c = calloc(1, sizeof *c);
    if (!c) {
        return STATUS_E_NOMEM;
    }
    c->out = out;
    c->language = language;
    c->machine = machine;
    c->period_us = period_us;
    c->writer = (struct code_writer){out, &machine->draft.pool, language->style, write_name, c};
    name_all(c);
    find_uses(c);
    const struct scope s = {.c = c};
    render_template(&s, language->template);
    free(c);
    return STATUS_OK;
}
