/* service/machine/code_c.c - generates a machine as C99, for microcontrollers and computers. */
#include <stdlib.h>

#include "service/machine/machine_code.h"

/* No port may have these names: keywords of C, and names defined by microcontroller headers. */
const char *const code_c_words[] = {
    "auto",       "break",    "case",      "char",         "const",     "continue", "default",
    "do",         "double",   "else",      "enum",         "extern",    "float",    "for",
    "goto",       "if",       "inline",    "int",          "long",      "register", "restrict",
    "return",     "short",    "signed",    "sizeof",       "static",    "struct",   "switch",
    "typedef",    "union",    "unsigned",  "void",         "volatile",  "while",    "bool",
    "true",       "false",    "asm",       "typeof",       "linux",     "unix",     "class",
    "new",        "delete",   "this",      "private",      "public",    "virtual",  "operator",
    "template",   "using",    "try",       "catch",        "throw",     "friend",   "and",
    "or",         "xor",      "not",       "namespace",    "protected", "typename", "export",
    "explicit",   "min",      "max",       "abs",          "round",     "PI",       "INPUT",
    "OUTPUT",     "HIGH",     "LOW",       "NAN",          "NULL",      "EOF",      "INFINITY",
    "errno",      "stdin",    "stdout",    "stderr",       "F",         "bit",      "word",
    "DEFAULT",    "EXTERNAL", "DEC",       "HEX",          "OCT",       "BIN",      "unused",
    "efsm_value", "nullptr",  "constexpr", "alignas",      "mutable",   "assert",   "isnan",
    "isinf",      "main",     "signbit",   "interrupts",   "sq",        "radians",  "degrees",
    "constrain",  "_Bool",    "_Complex",  "thread_local", "wchar_t",   "noexcept", NULL};

/* No state may have these names: generated names have the same prefix. */
static const char *const states_words[] = {"INCOMPLETE", "NON_DETERMINISTIC",
                                           "UNDEFINED",  "STACK_EMPTY",
                                           "STACK_FULL", "init",
                                           "plan",       "update",
                                           "monitor",    "write_outputs",
                                           "active",     "fault",
                                           "state_name", "read",
                                           NULL};

const struct code_style code_c_style = {.no = "!",
                                        .both = " && ",
                                        .either = " || ",
                                        .unequal = " != ",
                                        .truths = {"false", "true"},
                                        .infinity = "INFINITY",
                                        .prefix = "",
                                        .words = {[EXPRESSION_MODULO] = "efsm_mod",
                                                  [EXPRESSION_POWER] = "pow",
                                                  [EXPRESSION_ABS] = "fabs",
                                                  [EXPRESSION_SIGN] = "efsm_sign",
                                                  [EXPRESSION_ROUND] = "efsm_round",
                                                  [EXPRESSION_WRAP] = "efsm_wrap",
                                                  [EXPRESSION_MIN] = "efsm_min",
                                                  [EXPRESSION_MAX] = "efsm_max",
                                                  [EXPRESSION_HYPOT] = "efsm_hypot",
                                                  [EXPRESSION_CLAMP] = "efsm_clamp"},
                                        .choice = {"(", " ? ", " : ", ")"}};

static const struct {
    enum expression_kind kind;
    const char *text;
} helpers[] = {
    {EXPRESSION_MODULO, "efsm_mod(double a, double b)\n"
                        "{\n"
                        "    const double r = fmod(a, b);\n"
                        "    return r * b < 0.0 ? r + b : r;\n"
                        "}\n"},
    {EXPRESSION_SIGN, "efsm_sign(double x)\n"
                      "{\n"
                      "    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;\n"
                      "}\n"},
    {EXPRESSION_ROUND, "efsm_round(double x)\n"
                       "{\n"
                       "    return floor(x + 0.5);\n"
                       "}\n"},
    {EXPRESSION_WRAP, "efsm_wrap(double x)\n"
                      "{\n"
                      "    const double pi = 3.14159265358979323846;\n"
                      "    return x - 2.0 * pi * floor((x + pi) / (2.0 * pi));\n"
                      "}\n"},
    {EXPRESSION_MIN, "efsm_min(double a, double b)\n"
                     "{\n"
                     "    return b < a ? b : a;\n"
                     "}\n"},
    {EXPRESSION_MAX, "efsm_max(double a, double b)\n"
                     "{\n"
                     "    return b > a ? b : a;\n"
                     "}\n"},
    {EXPRESSION_HYPOT, "efsm_hypot(double a, double b)\n"
                       "{\n"
                       "    return sqrt(a * a + b * b);\n"
                       "}\n"},
    {EXPRESSION_CLAMP, "efsm_clamp(double x, double a, double b)\n"
                       "{\n"
                       "    return x < a ? a : x > b ? b : x;\n"
                       "}\n"},
};

static const char *id_of(const struct code *c)
{
    return c->machine_name.names[0];
}

static void name_value(void *context, FILE *out, size_t name, bool asks)
{
    const struct code *c = context;
    const uint8_t place = c->machine->places[name];
    const bool input = c->machine->roles[name] == MACHINE_INPUT;
    if (c->machine->roles[name] == MACHINE_TIME) {
        (void)fputs(asks                        ? "true"
                    : name == MACHINE_TIME_NAME ? "t_s"
                                                : "(t_s - m->entered_s)",
                    out);
        return;
    }
    const char *text = input ? c->inputs.names[place] : c->variables.names[place];
    if (asks) {
        (void)fprintf(out, "m->%s.%s.defined", input ? "in" : "v", text);
        return;
    }
    const bool truth = machine_type(c->machine, (uint8_t)name) == EXPRESSION_TRUTH;
    (void)fprintf(out, "%s%s_read(m, &m->%s.%s)", truth ? "(bool)" : "", id_of(c),
                  input ? "in" : "v", text);
}

void code_c_helpers(const struct code *c)
{
    for (size_t i = 0; i < COUNT(helpers); i++) {
        if (code_uses(c, helpers[i].kind)) {
            code_print(c, "static inline double %s\n", helpers[i].text);
        }
    }
}

/* ---- the struct, and how its values are read and written ----------------------------- */

static void write_fields(const struct code *c, const struct code_names *names,
                         const char *field)
{
    code_print(c, "    struct {\n        struct efsm_value ");
    for (size_t i = 0; i < names->count; i++) {
        code_print(c, "%s%s", i > 0 ? ", " : "", names->names[i]);
    }
    code_print(c, "%s;\n    } %s;\n", names->count > 0 ? "" : "none", field);
}

static void write_struct(const struct code *c)
{
    const char *id = id_of(c);
    const size_t arcs = c->machine->table.arc_count;
    code_print(c,
               "struct efsm_value {\n    double now, next;\n    bool defined, next_defined;\n"
               "};\n\nenum {\n");
    for (size_t i = 0; i < c->states.count; i++) {
        code_print(c, "    %s_%s,\n", id, code_state(c, i));
    }
    code_print(
        c,
        "    %s_INCOMPLETE = %d,\n    %s_NON_DETERMINISTIC,\n    %s_UNDEFINED,\n"
        "    %s_STACK_EMPTY,\n    %s_STACK_FULL\n};\n\nstruct %s {\n    int state, next;\n",
        id, EFSM_INCOMPLETE, id, id, id, id, id);
    write_fields(c, &c->inputs, "in");
    write_fields(c, &c->variables, "v");
    write_fields(c, &c->outputs, "out");
    if (code_uses_stack(c)) {
        code_print(c,
                   "    unsigned char stack[%d], next_stack[%d];\n    int depth, next_depth;\n",
                   EFSM_STACK_MAX, EFSM_STACK_MAX);
    }
    code_print(c,
               "    unsigned char fired[%zu]; /* the arrows that fired in the last plan */\n"
               "    int fired_count;\n    double entered_s;\n"
               "    bool undefined, blocked, planned;\n};\n\n",
               arcs > 0 ? arcs : 1);
}

static void write_access(const struct code *c)
{
    const char *id = id_of(c);
    if (c->machine->input_count + c->machine->variable_count > 0) {
        code_print(c,
                   "static inline double %s_read(struct %s *m, const struct efsm_value *x)\n"
                   "{\n    m->undefined = m->undefined || !x->defined;\n"
                   "    return x->defined ? x->now : NAN;\n}\n\n",
                   id, id);
    }
    if (c->machine->variable_count > 0) {
        code_print(c, "static inline void efsm_next(struct efsm_value *x, double v)\n{\n"
                      "    x->next = v;\n    x->next_defined = true;\n}\n\n");
    }
    if (c->machine->assignment_count > 0) {
        code_print(c,
                   "static inline void efsm_give(struct efsm_value *x, double v, bool "
                   "defined)\n{\n    x->now = defined ? v : 0.0;\n    x->defined = defined;\n"
                   "}\n\n");
    }
}

static void write_stack_copy(const struct code *c)
{
    if (code_uses_stack(c)) {
        code_print(c, "    m->next_depth = m->depth;\n"
                      "    memcpy(m->next_stack, m->stack, sizeof m->stack);\n");
    }
}

static void drop_next(const struct code *c)
{
    for (size_t i = 0; i < c->variables.count; i++) {
        code_print(c, "    m->v.%s.next_defined = false;\n", c->variables.names[i]);
    }
}

static void write_assignment(const struct code *c, const char *indent, const char *field,
                             const char *name, uint16_t value)
{
    code_print(c, "%sm->undefined = false;\n%sx = ", indent, indent);
    code_expression(&c->writer, value);
    code_print(c, ";\n%sefsm_give(&m->%s.%s, x, !m->undefined);\n", indent, field, name);
}

static void write_init(const struct code *c)
{
    const char *id = id_of(c);
    const struct machine *m = c->machine;
    code_print(
        c,
        "void %s_init(struct %s *m, double t_s)\n{\n"
        "    memset(m, 0, sizeof *m); /* every value undefined: nothing has a default */\n"
        "    m->state = m->next = %s_%s;\n    m->entered_s = t_s;\n",
        id, id, id, code_state(c, m->table.initial));
    code_print(c, "%s", m->starts.count > 0 ? "    double x = 0.0;\n" : "");
    for (size_t k = 0; k < m->starts.count; k++) {
        const struct machine_assignment *a = &m->assignments[m->starts.first + k];
        write_assignment(c, "    ", "v", c->variables.names[a->to], a->value);
    }
    code_print(c, "    m->undefined = false;\n}\n\n");
}

static void write_active(const struct code *c)
{
    const char *id = id_of(c);
    code_print(c,
               "/* Neither at a fault nor in a final state. */\n"
               "bool %s_active(const struct %s *m)\n{\n    return m->state < %s_INCOMPLETE",
               id, id, id);
    for (size_t i = 0; i < c->machine->table.state_count; i++) {
        if (c->machine->table.states[i].final) {
            code_print(c, " && m->state != %s_%s", id, code_state(c, i));
        }
    }
    code_print(c, ";\n}\n\n");
    code_print(c,
               "static void %s_fault(struct %s *m, int sink)\n{\n    m->next = sink;\n"
               "    m->blocked = true;\n",
               id, id);
    write_stack_copy(c);
    drop_next(c);
    code_print(c, "}\n\n");
    code_print(c,
               "/* Exactly one arrow has to fire. */\n"
               "static bool %s_monitor(struct %s *m)\n{\n"
               "    if (m->fired_count != 1%s) {\n"
               "        %s_fault(m, m->fired_count == 0 ? %s_INCOMPLETE : "
               "%s_NON_DETERMINISTIC);\n    }\n    return m->fired_count == 1;\n}\n\n",
               id, id, c->machine->table.stays ? " && m->fired_count != 0" : "", id, id, id);
}

/* ---- plan ---- */

static void write_guards(const struct code *c)
{
    const char *id = id_of(c);
    code_print(c, "    switch (m->state) {\n");
    for (size_t s = 0; s < c->states.count; s++) {
        if (!code_has_arcs(c, s)) {
            continue;
        }
        code_print(c, "    case %s_%s:\n", id, code_state(c, s));
        for (size_t i = 0; i < c->machine->table.arc_count; i++) {
            if (c->machine->table.arcs[i].from != s) {
                continue;
            }
            code_print(c, "        /* ");
            code_arc(c, i);
            code_print(c, " */\n        if (");
            code_guard(c, i);
            code_print(c, ") {\n            m->fired[m->fired_count++] = %zu;\n        }\n", i);
            if (c->machine->arcs[i].when != 0) {
                code_print(c,
                           "        if (m->undefined) {\n            m->fired[0] = %zu;\n"
                           "            m->fired_count = 1;\n            %s_fault(m, "
                           "%s_UNDEFINED);\n            return;\n        }\n",
                           i, id, id);
            }
        }
        code_print(c, "        break;\n");
    }
    code_print(c, "    default:\n        break;\n    }\n");
}

static void write_stack(const struct code *c, const struct efsm_arc *arc)
{
    const char *id = id_of(c);
    code_print(c, "%s", arc->empties ? "        m->next_depth = 0;\n" : "");
    if (arc->pops > 0) {
        code_print(
            c,
            "        if (m->next_depth < %d) {\n            %s_fault(m, %s_STACK_EMPTY);\n"
            "            return;\n        }\n        m->next_depth -= %d;\n",
            arc->pops, id, id, arc->pops);
    }
    if (arc->push_count > 0) {
        code_print(c,
                   "        if (m->next_depth + %d > %d) {\n            %s_fault(m, "
                   "%s_STACK_FULL);\n            return;\n        }\n",
                   arc->push_count, EFSM_STACK_MAX, id, id);
    }
    for (size_t i = 0; i < arc->push_count; i++) {
        code_print(c, "        m->next_stack[m->next_depth++] = %s_%s;\n", id,
                   code_state(c, arc->push[i]));
    }
    if (arc->to == EFSM_POP) {
        code_print(
            c,
            "        if (m->next_depth == 0) {\n            %s_fault(m, %s_STACK_EMPTY);\n"
            "            return;\n        }\n"
            "        m->next = m->next_stack[--m->next_depth];\n",
            id, id);
    } else {
        code_print(c, "        m->next = %s_%s;\n", id, code_state(c, arc->to));
    }
}

static void write_arcs(const struct code *c)
{
    const char *id = id_of(c);
    const struct machine *m = c->machine;
    code_print(c, "    switch (m->fired[0]) {\n");
    for (size_t i = 0; i < m->table.arc_count; i++) {
        const struct machine_range delayed = m->arcs[i].delayed;
        code_print(c, "    case %zu: /* ", i);
        code_arc(c, i);
        code_print(c, " */\n");
        for (size_t k = 0; k < delayed.count; k++) {
            const struct machine_assignment *a = &m->assignments[delayed.first + k];
            code_print(c, "        efsm_next(&m->v.%s, ", c->variables.names[a->to]);
            code_expression(&c->writer, a->value);
            code_print(c, ");\n");
        }
        if (delayed.count > 0) {
            code_print(c,
                       "        if (m->undefined) {\n            %s_fault(m, %s_UNDEFINED);\n"
                       "            return;\n        }\n",
                       id, id);
        }
        write_stack(c, &m->table.arcs[i]);
        code_print(c, "        m->blocked = %s;\n        break;\n",
                   m->table.arcs[i].waits ? "true" : "false");
    }
    code_print(c, "    default:\n        break;\n    }\n");
    for (size_t i = 0; i < m->table.state_count; i++) {
        if (m->table.states[i].final) {
            code_print(c, "    m->blocked = m->blocked || m->next == %s_%s;\n", id,
                       code_state(c, i));
        }
    }
}

static void write_plan(const struct code *c)
{
    const char *id = id_of(c);
    code_print(c,
               "/* Plans the next state from the present values. */\n"
               "void %s_plan(struct %s *m, double t_s)\n{\n    (void)t_s;\n"
               "    m->next = m->state;\n    m->blocked = true;\n    m->planned = false;\n"
               "    m->fired_count = 0;\n    m->undefined = false;\n",
               id, id);
    write_stack_copy(c);
    drop_next(c);
    code_print(c, "    if (!%s_active(m)) {\n        return;\n    }\n    m->planned = true;\n",
               id);
    write_guards(c);
    code_print(c, "    if (!%s_monitor(m)) {\n        return;\n    }\n", id);
    write_arcs(c);
    code_print(c, "}\n\n");
}

/* ---- update, outputs ---- */

static void write_update(const struct code *c)
{
    const char *id = id_of(c);
    code_print(
        c,
        "/* Makes the plan the present state. */\n"
        "void %s_update(struct %s *m, double t_s)\n{\n    if (!m->planned) {\n"
        "        return;\n    }\n    m->planned = false;\n    if (m->next != m->state) {\n"
        "        m->entered_s = t_s;\n    }\n    m->state = m->next;\n",
        id, id);
    if (code_uses_stack(c)) {
        code_print(c, "    m->depth = m->next_depth;\n"
                      "    memcpy(m->stack, m->next_stack, sizeof m->stack);\n");
    }
    for (size_t i = 0; i < c->variables.count; i++) {
        const char *name = c->variables.names[i];
        code_print(
            c,
            "    if (m->v.%s.next_defined) {\n        m->v.%s.now = m->v.%s.next;\n"
            "        m->v.%s.defined = true;\n        m->v.%s.next_defined = false;\n    "
            "}\n",
            name, name, name, name, name);
    }
    code_print(c, "}\n\n");
}

static void write_range(const struct code *c, const char *indent, struct machine_range range)
{
    for (size_t k = 0; k < range.count; k++) {
        const struct machine_assignment *a = &c->machine->assignments[range.first + k];
        write_assignment(c, indent, "out", c->outputs.names[a->to], a->value);
    }
}

static void write_state_outputs(const struct code *c, size_t s)
{
    const struct machine *m = c->machine;
    code_print(c, "    case %s_%s:\n", id_of(c), code_state(c, s));
    write_range(c, "        ", m->states[s].outputs);
    for (size_t i = 0; i < m->table.arc_count; i++) {
        if (m->table.arcs[i].from != s || m->arcs[i].outputs.count == 0) {
            continue;
        }
        code_print(c, "        m->undefined = false; /* ");
        code_arc(c, i);
        code_print(c, " */\n        if (");
        code_guard(c, i);
        code_print(c, ") {\n            if (!m->undefined) {\n");
        write_range(c, "                ", m->arcs[i].outputs);
        code_print(c, "            }\n        }\n");
    }
    code_print(c, "        break;\n");
}

/* Writes the value of an output that no state or arc sets. */
static void write_default(const struct code *c, size_t output)
{
    const struct machine_port *port = &c->machine->outputs[output];
    const char *name = c->outputs.names[output];
    if (port->variable != MACHINE_NONE) {
        code_print(c, "    m->out.%s = m->v.%s;\n", name, c->variables.names[port->variable]);
    } else {
        code_print(c, "    m->out.%s.now = ", name);
        code_number(c->out, &code_c_style, port->otherwise);
        code_print(c, ";\n    m->out.%s.defined = %s;\n", name,
                   port->has_otherwise ? "true" : "false");
    }
}

static void write_outputs(const struct code *c)
{
    const char *id = id_of(c);
    const struct machine *m = c->machine;
    bool any = false;
    for (size_t s = 0; s < m->table.state_count; s++) {
        any |= code_has_outputs(c, s);
    }
    code_print(c,
               "/* Outputs of the state and its variables; at a fault none has a value. */\n"
               "void %s_write_outputs(struct %s *m, double t_s)\n{\n    (void)t_s;\n%s",
               id, id, any ? "    double x = 0.0;\n" : "");
    for (size_t k = 0; k < m->output_count; k++) {
        write_default(c, k);
    }
    for (size_t s = 0; any && s < m->table.state_count; s++) {
        code_print(c, "%s", s == 0 ? "    switch (m->state) {\n" : "");
        if (code_has_outputs(c, s)) {
            write_state_outputs(c, s);
        }
    }
    code_print(c, "%s", any ? "    default:\n        break;\n    }\n" : "");
    if (m->output_count > 0) {
        code_print(c, "    if (m->state >= %s_INCOMPLETE) {\n", id);
    }
    for (size_t k = 0; k < m->output_count; k++) {
        code_print(c, "        m->out.%s.defined = false;\n", c->outputs.names[k]);
    }
    code_print(c, "%s", m->output_count > 0 ? "    }\n" : "");
    code_print(c, "    (void)m;\n}\n\n");
}

static void write_names(const struct code *c)
{
    const char *id = id_of(c);
    code_print(
        c,
        "const char *%s_state_name(int state)\n{\n    static const char *const names[] = "
        "{",
        id);
    for (size_t i = 0; i < c->machine->table.state_count; i++) {
        code_print(c, "%s", i > 0 ? ", " : "");
        code_string(c->out, c->machine->table.states[i].name);
    }
    code_print(c,
               "};\n    static const char *const sinks[] = {\"__INCOMPLETE__\", "
               "\"__NON_DETERMINISTIC__\", \"__UNDEFINED__\",\n        \"__STACK_EMPTY__\", "
               "\"__STACK_FULL__\"};\n    return state >= %s_INCOMPLETE ? sinks[state - "
               "%s_INCOMPLETE] : names[state];\n}\n",
               id, id);
}

/* ---- the test: reads inputs as CSV from standard input, writes the step table to standard
 * output  */

const char code_c_test[] =
    "static void print_number(bool defined, double x)\n{\n"
    "    if (!defined) {\n        fputs(\",-\", stdout);\n    } else if (isnan(x)) {\n"
    "        fputs(\",nan\", stdout);\n    } else {\n        printf(\",%.17g\", x);\n    "
    "}\n}\n\n"
    "static inline bool read_number(char **rest, double *x)\n{\n"
    "    const size_t n = strcspn(*rest, \",\\r\\n\");\n"
    "    const bool defined = n > 0 && !(n == 1 && **rest == '-');\n"
    "    *x = defined ? strtod(*rest, NULL) : 0.0;\n"
    "    *rest += n;\n    *rest += **rest == ',';\n    return defined;\n}\n\n";

static void test_cycle(const struct code *c)
{
    const char *id = id_of(c);
    for (size_t i = 0; i < c->inputs.count; i++) {
        const char *name = c->inputs.names[i];
        code_print(c, "        m.in.%s.defined = read_number(&rest, &m.in.%s.now);\n", name,
                   name);
    }
    code_print(c,
               "        %s_write_outputs(&m, t_s);\n        printf(\"%%ld\", k);\n"
               "        print_number(true, t_s);\n",
               id);
    for (size_t i = 0; i < c->inputs.count; i++) {
        const char *name = c->inputs.names[i];
        code_print(c, "        print_number(m.in.%s.defined, m.in.%s.now);\n", name, name);
    }
    code_print(c, "        printf(\",%%s\", %s_state_name(m.state));\n", id);
    for (size_t i = 0; i < c->variables.count; i++) {
        const char *name = c->variables.names[i];
        code_print(c, "        print_number(m.v.%s.defined, m.v.%s.now);\n", name, name);
    }
    for (size_t i = 0; i < c->outputs.count; i++) {
        const char *name = c->outputs.names[i];
        if (code_is_own(c, i)) {
            code_print(c, "        print_number(m.out.%s.defined, m.out.%s.now);\n", name,
                       name);
        }
    }
    code_print(c, "        putchar(',');\n");
    if (code_uses_stack(c)) {
        code_print(c,
                   "        for (int i = 0; i < m.depth; i++) {\n            printf(i ? \" "
                   "%%s\" : \"%%s\", %s_state_name(m.stack[i]));\n        }\n",
                   id);
    }
    code_print(c,
               "        %s_plan(&m, t_s);\n        putchar(',');\n"
               "        for (int i = 0; i < m.fired_count; i++) {\n"
               "            printf(i ? \" %%d\" : \"%%d\", m.fired[i]);\n        }\n"
               "        %s_update(&m, t_s);\n"
               "        printf(\",%%s,%%d\\n\", %s_state_name(m.state), m.blocked);\n",
               id, id, id);
}

static void write_test(const struct code *c)
{
    const char *id = id_of(c);
    code_print(c,
               "\n#ifdef EFSM_TEST /* inputs as CSV on standard input, a header line first */\n"
               "#include <stdio.h>\n#include <stdlib.h>\n\n%s",
               code_c_test);
    code_print(c,
               "int main(void)\n{\n    static char line[65536];\n    static struct %s m;\n"
               "    %s_init(&m, 0.0);\n    puts(\"",
               id, id);
    code_header(c->out, c->machine);
    code_print(c,
               "\");\n    if (!fgets(line, sizeof line, stdin)) {\n        return 1;\n    }\n"
               "    for (long k = 0; fgets(line, sizeof line, stdin) && %s_active(&m); k++) {\n"
               "        const double t_s = (double)k * %lld.0 / 1e6;\n"
               "        char *rest = line;\n        (void)rest;\n",
               id, (long long)c->period_us);
    test_cycle(c);
    code_print(c, "    }\n    return 0;\n}\n#endif\n");
}

void code_write_c(FILE *out, const struct machine *machine, int64_t period_us)
{
    struct code *c = code_start(out, machine, period_us, &code_c_style, name_value,
                                code_c_words, states_words);
    if (!c) {
        return;
    }
    code_print(
        c,
        "/* Generated by `tandem machines generate` from the machine %s: change that, not "
        "this.\n * One block of plan() is one arrow. */\n#include <math.h>\n#include "
        "<stdbool.h>\n#include <string.h>\n\n",
        machine->table.name);
    write_struct(c);
    write_access(c);
    code_c_helpers(c);
    write_init(c);
    write_active(c);
    write_plan(c);
    write_update(c);
    write_outputs(c);
    write_names(c);
    write_test(c);
    free(c);
}
