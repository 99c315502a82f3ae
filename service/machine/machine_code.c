#include "service/machine/machine_code.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "service/machine/machine_steps.h"

struct code {
    const struct code_language *language;
    const struct machine *machine;
    struct code_writer writer; /* writer.out: the text in progress, text[bytes] */
    char *text;
    size_t bytes;
    json_t *root;             /* the machine as a document, which gives tags their meaning */
    struct code_names *names; /* of the list in progress */
};

/* The objects of the document around a place of a template; the innermost one counts. */
struct scope {
    const json_t *object;
    const struct scope *outer; /* NULL: this is the whole document */
    bool first;                /* the object is the first of its list */
    const char *template;      /* start */
    FILE *out;
};

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
    if (tag->mark && (line == s->template || line[-1] == '\n') && *tag->end == '\n') {
        tag->begin = line;
        tag->end++;
    }
    return true;
}

static const json_t *find_value(const struct scope *s, const char *name)
{
    const json_t *found = strcmp(name, "first") != 0 ? NULL
                          : s->first                 ? json_true()
                                                     : json_false();
    for (; s && !found; s = s->outer) {
        found = json_object_get(s->object, name);
    }
    return found;
}

static bool is_set(const struct scope *s, const char *name)
{
    const json_t *value = find_value(s, name);
    return json_is_array(value) ? json_array_size(value) > 0 : json_is_true(value);
}

static void render_text(const struct scope *s, const char *at, const char *end);

static bool render_members(const struct scope *s, const char *name, const char *at,
                           const char *end)
{
    const json_t *list = find_value(s, name);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const struct scope member = {json_array_get(list, i), s, i == 0, s->template, s->out};
        render_text(&member, at, end);
    }
    return json_array_size(list) > 0;
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
        any = render_members(s, tag->name, tag->end, end);
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
    inner.template = (const char *)template;
    render_text(&inner, inner.template, inner.template + strlen(inner.template));
}

static void write_tag(const struct scope *s, const char *name)
{
    const json_t *value = find_value(s, name);
    assert(json_is_string(value) || json_is_integer(value));
    if (json_is_string(value)) {
        (void)fputs(json_string_value(value), s->out);
    } else {
        (void)fprintf(s->out, "%" PRId64, (int64_t)json_integer_value(value));
    }
}

static void render_text(const struct scope *s, const char *at, const char *end)
{
    struct tag tag;
    while (find_tag(s, at, &tag) && tag.begin < end) {
        (void)fwrite(at, 1, (size_t)(tag.begin - at), s->out);
        at = tag.end;
        if (tag.mark == '>') {
            render_template(s, find_template(tag.name));
        } else if (tag.mark) {
            at = render_section(s, &tag);
        } else {
            write_tag(s, tag.name);
        }
    }
    (void)fwrite(at, 1, (size_t)(end - at), s->out);
}

/* ---- the machine as a document ------------------------------------------------------- */

/* Takes the text in progress. Names of a machine may hold any byte. */
static json_t *end_text(struct code *c)
{
    (void)fflush(c->writer.out);
    json_t *text = json_stringn_nocheck(c->text, c->bytes);
    rewind(c->writer.out);
    return text;
}

static json_t *quote_text(struct code *c, const char *text)
{
    code_string(c->writer.out, text);
    return end_text(c);
}

static json_t *make_expression(struct code *c, uint16_t root)
{
    code_expression(&c->writer, root);
    return end_text(c);
}

static json_t *member_at(const struct code *c, const char *list, size_t i)
{
    return json_array_get(json_object_get(c->root, list), i);
}

/* The value of an output that no state or arc sets. */
static json_t *make_otherwise(struct code *c, const struct machine_port *port, bool truth)
{
    const struct code_style *style = c->language->style;
    if (truth) {
        return json_string(style->truths[port->otherwise > 0.0]);
    }
    code_number(c->writer.out, style, port->otherwise);
    return end_text(c);
}

/* An output may be a variable, too. */
static json_t *make_output(struct code *c, const struct machine_port *p, const json_t *port)
{
    const bool truth = json_is_true(json_object_get(port, "truth"));
    return json_pack("{s:O, s:O, s:b, s:o, s:o}", "output", json_object_get(port, "name"),
                     "output_number", json_object_get(port, "number"), "has_otherwise",
                     p->has_otherwise, "otherwise", make_otherwise(c, p, truth), "variable",
                     p->variable != MACHINE_NONE
                         ? json_pack("[O]", member_at(c, "variables", p->variable))
                         : json_array());
}

static void add_ports(struct code *c, const char *list, const struct machine_port *ports,
                      size_t count)
{
    json_t *array = json_array();
    c->names->count = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = machine_name(c->machine, ports[i].name);
        json_t *port = json_pack("{s:i, s:b, s:b, s:o, s:o}", "number", (int)i, "input",
                                 ports == c->machine->inputs, "truth",
                                 machine_type(c->machine, ports[i].name) == EXPRESSION_TRUTH,
                                 "name", json_string_nocheck(code_identifier(c->names, name)),
                                 "name_string", quote_text(c, name));
        if (ports == c->machine->outputs) {
            (void)json_object_update_new(port, make_output(c, &ports[i], port));
        }
        (void)json_array_append_new(array, port);
    }
    (void)json_object_set_new(c->root, list, array);
}

/* Each item is the port that gets the value, and the value. */
static json_t *make_assignments(struct code *c, struct machine_range range, const char *list)
{
    json_t *array = json_array();
    for (size_t i = range.first; i < (size_t)range.first + range.count; i++) {
        const struct machine_assignment *a = &c->machine->assignments[i];
        json_t *item = json_copy(member_at(c, list, a->to));
        (void)json_object_set_new(item, "value", make_expression(c, a->value));
        (void)json_array_append_new(array, item);
    }
    return array;
}

/* The states alone, by which arcs name them. */
static json_t *make_states(struct code *c)
{
    const struct efsm_table *table = &c->machine->table;
    json_t *array = json_array();
    c->names->count = 0;
    c->names->words = c->language->states_words;
    for (size_t i = 0; i < table->state_count; i++) {
        const struct efsm_state *s = &table->states[i];
        (void)json_array_append_new(
            array,
            json_pack("{s:i, s:b, s:o, s:o, s:o}", "number", (int)i, "final", s->final, "state",
                      json_string_nocheck(s->name), "state_string", quote_text(c, s->name),
                      "state_id", json_string_nocheck(code_identifier(c->names, s->name))));
    }
    return array;
}

/* FROM -> TO: label, for a comment. */
static json_t *make_title(struct code *c, const struct efsm_arc *a)
{
    const struct efsm_table *table = &c->machine->table;
    code_comment(c->writer.out, efsm_state_name(table, a->from));
    (void)fputs(" -> ", c->writer.out);
    code_comment(c->writer.out,
                 a->to == EFSM_POP ? "top of the stack" : efsm_state_name(table, a->to));
    (void)fputs(": ", c->writer.out);
    code_comment(c->writer.out, a->label);
    return end_text(c);
}

static json_t *make_arc(struct code *c, size_t i, const json_t *states)
{
    const struct efsm_arc *a = &c->machine->table.arcs[i];
    const struct machine_arc *own = &c->machine->arcs[i];
    json_t *pushes = json_array();
    json_t *to = json_array();
    for (size_t k = 0; k < a->push_count; k++) {
        (void)json_array_append(pushes, json_array_get(states, a->push[k]));
    }
    if (a->to != EFSM_POP) {
        (void)json_array_append(to, json_array_get(states, a->to));
    }
    json_t *guard = own->when != 0 ? make_expression(c, own->when)
                                   : json_string(c->language->style->truths[1]);
    return json_pack(
        "{s:i, s:i, s:b, s:b, s:b, s:b, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "number",
        (int)i, "from", a->from, "guarded", own->when != 0, "waits", a->waits, "empties",
        a->empties, "popping", a->pops > 0, "pops", a->pops, "push_count", a->push_count,
        "pushes", pushes, "to", to, "guard", guard, "arc", make_title(c, a), "label_string",
        quote_text(c, a->label), "sets", make_assignments(c, own->delayed, "variables"),
        "arc_outputs", make_assignments(c, own->outputs, "outputs"));
}

static void append_to(const struct code *c, const char *list, bool wanted, json_t *item)
{
    if (wanted) {
        (void)json_array_append(json_object_get(c->root, list), item);
    }
}

/* Arcs, and states with their arcs and outputs. */
static void add_network(struct code *c)
{
    static const char *const lists[] = {"states", "finals", "leaving", "speaking", "arcs"};
    const struct machine *m = c->machine;
    json_t *states = make_states(c);
    for (size_t i = 0; i < COUNT(lists); i++) {
        (void)json_object_set_new(c->root, lists[i], json_array());
    }
    (void)json_object_set_new(c->root, "initial",
                              json_pack("[O]", json_array_get(states, m->table.initial)));
    for (size_t i = 0; i < m->table.arc_count; i++) {
        json_t *arc = make_arc(c, i, states);
        append_to(c, "arcs", true, arc);
        json_decref(arc);
    }
    for (size_t i = 0; i < m->table.state_count; i++) {
        json_t *state = json_copy(json_array_get(states, i));
        json_t *arcs = json_array();
        bool speaks = m->states[i].outputs.count > 0;
        for (size_t k = 0; k < m->table.arc_count; k++) {
            if (m->table.arcs[k].from == i) {
                (void)json_array_append(arcs, member_at(c, "arcs", k));
                speaks = speaks || m->arcs[k].outputs.count > 0;
            }
        }
        (void)json_object_set_new(state, "state_outputs",
                                  make_assignments(c, m->states[i].outputs, "outputs"));
        append_to(c, "states", true, state);
        append_to(c, "finals", m->table.states[i].final, state);
        append_to(c, "leaving", json_array_size(arcs) > 0, state);
        append_to(c, "speaking", speaks, state);
        (void)json_object_set_new(state, "arcs", arcs);
        json_decref(state);
    }
    json_decref(states);
}

/* The header of the step table. */
static json_t *make_header(struct code *c)
{
    const struct machine *m = c->machine;
    (void)fputs("cycle,t", c->writer.out);
    for (size_t i = 0; i < m->input_count; i++) {
        (void)fprintf(c->writer.out, ",%s", machine_name(m, m->inputs[i].name));
    }
    steps_write_columns(m, "", c->writer.out);
    return end_text(c);
}

/* Sets flags for what the machine uses: helpers, the stack, the time. */
static void add_uses(struct code *c)
{
    static const struct {
        const char *name;
        enum expression_kind kind;
    } helpers[] = {{"uses_mod", EXPRESSION_MODULO},  {"uses_sign", EXPRESSION_SIGN},
                   {"uses_round", EXPRESSION_ROUND}, {"uses_wrap", EXPRESSION_WRAP},
                   {"uses_min", EXPRESSION_MIN},     {"uses_max", EXPRESSION_MAX},
                   {"uses_hypot", EXPRESSION_HYPOT}, {"uses_clamp", EXPRESSION_CLAMP}};
    const struct machine *m = c->machine;
    const struct expression_pool *pool = &m->draft.pool;
    bool uses[EXPRESSION_KIND_COUNT] = {false};
    bool stack = false;
    bool time = false;
    for (size_t i = 0; i < m->table.arc_count; i++) {
        const struct efsm_arc *a = &m->table.arcs[i];
        stack = stack || a->empties || a->pops > 0 || a->push_count > 0 || a->to == EFSM_POP;
    }
    for (size_t i = 1; i < pool->count; i++) {
        const struct expression_node *n = &pool->nodes[i];
        uses[n->kind] = true;
        time = time || (n->kind == EXPRESSION_NAME && m->roles[n->name] == MACHINE_TIME);
    }
    (void)json_object_set_new(c->root, "stack", json_boolean(stack));
    (void)json_object_set_new(c->root, "time", json_boolean(time));
    for (size_t i = 0; i < COUNT(helpers); i++) {
        (void)json_object_set_new(c->root, helpers[i].name,
                                  json_boolean(uses[helpers[i].kind]));
    }
}

/* C has no arrays without elements. */
static int room_of(size_t count)
{
    return count > 0 ? (int)count : 1;
}

static void write_name(void *context, FILE *out, size_t name, bool asks)
{
    const struct code *c = context;
    const struct code_language *language = c->language;
    if (c->machine->roles[name] == MACHINE_TIME) {
        (void)fputs(asks                        ? language->style->truths[1]
                    : name == MACHINE_TIME_NAME ? language->time
                                                : language->elapsed,
                    out);
        return;
    }
    const bool input = c->machine->roles[name] == MACHINE_INPUT;
    const struct scope root = {.object = c->root};
    const struct scope s = {
        .object = member_at(c, input ? "inputs" : "variables", c->machine->places[name]),
        .outer = &root,
        .out = out};
    render_template(&s, (const unsigned char *)(asks ? language->has : language->read));
}

struct json_t *code_document(const struct code_language *language, const struct machine *m,
                             int64_t period_us)
{
    struct code c = {.language = language, .machine = m, .names = calloc(1, sizeof *c.names)};
    FILE *out = open_memstream(&c.text, &c.bytes);
    if (c.names && out) {
        c.names->words = language->words;
        c.writer = (struct code_writer){out, &m->draft.pool, language->style, write_name, &c};
        c.root = json_pack(
            "{s:o, s:o, s:o, s:o, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:b, s:b}", "id",
            json_string_nocheck(code_identifier(c.names, m->table.name)), "machine",
            json_string_nocheck(m->table.name), "purpose_string",
            quote_text(&c, m->table.purpose), "header", make_header(&c), "period_us",
            (json_int_t)period_us, "stack_max", EFSM_STACK_MAX, "incomplete", EFSM_INCOMPLETE,
            "input_count", (int)m->input_count, "input_room", room_of(m->input_count),
            "output_room", room_of(m->output_count), "arc_room", room_of(m->table.arc_count),
            "stays", m->table.stays, "readable", m->input_count + m->variable_count > 0,
            "assignments", m->assignment_count > 0);
        add_uses(&c);
        add_ports(&c, "inputs", m->inputs, m->input_count);
        add_ports(&c, "variables", m->variables, m->variable_count);
        add_ports(&c, "outputs", m->outputs, m->output_count);
        (void)json_object_set_new(c.root, "starts",
                                  make_assignments(&c, m->starts, "variables"));
        add_network(&c);
    }
    if (out) {
        (void)fclose(out);
    }
    free(c.text);
    free(c.names);
    return c.root;
}

/* ---- a program ----------------------------------------------------------------------- */

enum status code_write(FILE *out, const struct code_language *language,
                       const struct machine *machine, int64_t period_us)
{
    json_t *document = code_document(language, machine, period_us);
    if (!document) {
        return STATUS_E_NOMEM;
    }
    const struct scope s = {.object = document, .out = out};
    render_template(&s, language->template);
    json_decref(document);
    return STATUS_OK;
}
