/* service/machine/code_table.c - generates a machine as a table for Tandem's own engine, in
 * C. */
#include <stdlib.h>

#include "service/machine/machine_code.h"

static const char *id_of(const struct code *c)
{
    return c->machine_name.names[0];
}

static void name_value(void *context, FILE *out, size_t name, bool asks)
{
    const struct code *c = context;
    const size_t place = c->machine->places[name];
    if (c->machine->roles[name] == MACHINE_TIME) {
        (void)fputs(asks                        ? "true"
                    : name == MACHINE_TIME_NAME ? "seconds_of(v->t_us)"
                                                : "(seconds_of(v->t_us) - "
                                                  "seconds_of(v->now->entered_us))",
                    out);
        return;
    }
    const bool truth = machine_type(c->machine, (uint8_t)name) == EXPRESSION_TRUTH;
    (void)fputs(truth && !asks ? "(bool)" : "", out);
    if (c->machine->roles[name] == MACHINE_INPUT) {
        (void)fprintf(out, asks ? "has_input(v, %zu)" : "read_input(v, %zu)", place);
    } else {
        (void)fprintf(out, asks ? "efsm_is_defined(v, %zu)" : "efsm_get(v, %zu)", place);
    }
}

static void write_struct(const struct code *c, const char *what, const struct code_names *names)
{
    code_print(c,
               "struct %s_%s { /* %s: value[k], and bit k of there when it has one */\n"
               "    uint64_t there;\n    double value[%zu];\n};\n\n",
               id_of(c), what, what[0] == 'i' ? "inputs" : "outputs",
               names->count > 0 ? names->count : 1);
}

static void write_helpers(const struct code *c)
{
    const char *id = id_of(c);
    if (code_uses_time(c)) {
        code_print(c, "static double seconds_of(int64_t t_us)\n{\n    return (double)t_us / "
                      "1e6;\n}\n\n");
    }
    if (c->inputs.count > 0) {
        code_print(c,
                   "static inline bool has_input(const struct efsm_view *v, size_t k)\n{\n"
                   "    return (((const struct %s_in *)v->in)->there >> k & 1U) != 0;\n}\n\n"
                   "static inline double read_input(const struct efsm_view *v, size_t k)\n{\n"
                   "    if (!has_input(v, k)) {\n        efsm_miss_input(v, k);\n"
                   "        return nan(\"\");\n    }\n"
                   "    return ((const struct %s_in *)v->in)->value[k];\n}\n\n",
                   id, id);
    }
    code_c_helpers(c);
}

static void write_functions(const struct code *c)
{
    const struct machine *m = c->machine;
    for (size_t i = 0; i < m->table.arc_count; i++) {
        const struct machine_range delayed = m->arcs[i].delayed;
        if (m->arcs[i].when != 0) {
            code_print(c, "static bool guard_%zu(const struct efsm_view *v) /* ", i);
            code_arc(c, i);
            code_print(c, " */\n{\n    (void)v;\n    return ");
            code_guard(c, i);
            code_print(c, ";\n}\n\n");
        }
        if (delayed.count > 0) {
            code_print(c, "static void act_%zu(const struct efsm_view *v)\n{\n", i);
        }
        for (size_t k = 0; k < delayed.count; k++) {
            const struct machine_assignment *a = &m->assignments[delayed.first + k];
            code_print(c, "    efsm_set(v, %d, ", a->to);
            code_expression(&c->writer, a->value);
            code_print(c, ");\n");
        }
        code_print(c, "%s", delayed.count > 0 ? "}\n\n" : "");
    }
}

/* ---- outputs: an expression that reads something undefined has no value -------------- */

static void write_range(const struct code *c, const char *indent, struct machine_range range)
{
    for (size_t k = 0; k < range.count; k++) {
        const struct machine_assignment *a = &c->machine->assignments[range.first + k];
        code_print(c, "%sundefined = EFSM_NO_CELL;\n%sx = ", indent, indent);
        code_expression(&c->writer, a->value);
        code_print(c, ";\n%sgive(out, %d, undefined == EFSM_NO_CELL, x); /* %s */\n", indent,
                   a->to, c->outputs.names[a->to]);
    }
}

static void write_state_outputs(const struct code *c, size_t s)
{
    const struct machine *m = c->machine;
    code_print(c, "    case %zu: /* %s */\n", s, m->table.states[s].name);
    write_range(c, "        ", m->states[s].outputs);
    for (size_t i = 0; i < m->table.arc_count; i++) {
        if (m->table.arcs[i].from != s || m->arcs[i].outputs.count == 0) {
            continue;
        }
        code_print(c, "        undefined = EFSM_NO_CELL; /* ");
        code_arc(c, i);
        code_print(c, " */\n        if (");
        code_guard(c, i);
        code_print(c, ") {\n            if (undefined == EFSM_NO_CELL) {\n");
        write_range(c, "                ", m->arcs[i].outputs);
        code_print(c, "            }\n        }\n");
    }
    code_print(c, "        break;\n");
}

static void write_outputs(const struct code *c)
{
    const char *id = id_of(c);
    const struct machine *m = c->machine;
    code_print(
        c,
        "static void give(struct %s_out *out, size_t k, bool there, double x)\n{\n"
        "    out->there = there ? out->there | UINT64_C(1) << k : out->there & ~(UINT64_C(1) "
        "<< k);\n    out->value[k] = there ? x : 0.0;\n}\n\n"
        "static void tell(const struct efsm_view *given)\n{\n"
        "    uint8_t undefined = EFSM_NO_CELL;\n    struct efsm_view view = *given;\n"
        "    const struct efsm_view *v = &view;\n    struct %s_out *out = given->out;\n"
        "    double x = 0.0;\n    view.undefined = &undefined;\n",
        id, id);
    for (size_t k = 0; k < m->output_count; k++) {
        const struct machine_port *port = &m->outputs[k];
        if (port->variable != MACHINE_NONE) {
            code_print(c, "    give(out, %zu, efsm_is_defined(v, %d), v->now->cell[%d]);\n", k,
                       port->variable, port->variable);
        } else {
            code_print(c, "    give(out, %zu, %s, %.17g);\n", k,
                       port->has_otherwise ? "true" : "false", port->otherwise);
        }
    }
    code_print(c, "    switch (v->now->state) {\n");
    for (size_t s = 0; s < m->table.state_count; s++) {
        if (code_has_outputs(c, s)) {
            write_state_outputs(c, s);
        }
    }
    code_print(c, "    default:\n        break;\n    }\n    (void)x;\n}\n\n");
}

/* ---- the table ---- */

static void write_texts(const struct code *c, const char *what,
                        const struct machine_port *ports, size_t count)
{
    if (count == 0) {
        return;
    }
    code_print(c, "static const char *const %s[] = {", what);
    for (size_t i = 0; i < count; i++) {
        code_print(c, "%s", i > 0 ? ", " : "");
        code_string(c->out, machine_name(c->machine, ports[i].name));
    }
    code_print(c, "};\n\n");
}

static void write_row(const struct code *c, size_t i)
{
    const struct machine *m = c->machine;
    const struct efsm_arc *a = &m->table.arcs[i];
    code_print(c, "    {.from = %d, .to = ", a->from);
    if (a->to == EFSM_POP) {
        code_print(c, "EFSM_POP");
    } else {
        code_print(c, "%d", a->to);
    }
    if (m->arcs[i].when != 0) {
        code_print(c, ", .guard = guard_%zu", i);
    }
    if (m->arcs[i].delayed.count > 0) {
        code_print(c, ", .action = act_%zu", i);
    }
    code_print(c, ",\n     .label = ");
    code_string(c->out, a->label);
    code_print(c, ", .waits = %s, .empties = %s, .pops = %d", a->waits ? "true" : "false",
               a->empties ? "true" : "false", a->pops);
    for (size_t k = 0; k < a->push_count; k++) {
        code_print(c, k == 0 ? ", EFSM_PUSH(%d" : ", %d", a->push[k]);
    }
    code_print(c, a->push_count > 0 ? ")},\n" : "},\n");
}

static void write_table(const struct code *c)
{
    const struct machine *m = c->machine;
    const char *id = id_of(c);
    write_texts(c, "cells", m->variables, m->variable_count);
    write_texts(c, "inputs", m->inputs, m->input_count);
    code_print(c, "static const struct efsm_state states[] = {\n");
    for (size_t s = 0; s < m->table.state_count; s++) {
        code_print(c, "    {.name = \"%s\"%s},\n", m->table.states[s].name,
                   m->table.states[s].final ? ", .final = true" : "");
    }
    code_print(c, "};\n\nstatic const struct efsm_arc arcs[] = {\n");
    for (size_t i = 0; i < m->table.arc_count; i++) {
        write_row(c, i);
    }
    code_print(
        c,
        "};\n\nconst struct efsm_table %s_table = {\n    .name = \"%s\",\n    .purpose = ", id,
        m->table.name);
    code_string(c->out, m->table.purpose);
    code_print(c,
               ",\n    EFSM_STATES(states),\n    EFSM_ARCS(arcs),\n%s%s"
               "    .initial = %d,\n    .stays = %s,\n%s};\n\n",
               m->variable_count > 0 ? "    EFSM_CELLS(cells),\n" : "",
               m->input_count > 0 ? "    .inputs = inputs,\n    .input_count = COUNT(inputs),\n"
                                  : "",
               m->table.initial, m->table.stays ? "true" : "false",
               m->output_count > 0 ? "    .output = tell,\n" : "");
    code_print(
        c,
        "/* To its initial state, with its starts. */\n"
        "void %s_start(struct efsm *m, int64_t t_us);\n\n"
        "void %s_start(struct efsm *m, int64_t t_us)\n{\n"
        "    uint8_t undefined = EFSM_NO_CELL;\n    const struct %s_in none = {0};\n"
        "    const struct efsm_view view = {.now = m, .in = &none, .t_us = t_us, .undefined "
        "= &undefined};\n    const struct efsm_view *v = &view;\n    (void)v;\n"
        "    efsm_reset(&%s_table, m, t_us);\n",
        id, id, id, id);
    for (size_t k = 0; k < m->starts.count; k++) {
        const struct machine_assignment *a = &m->assignments[m->starts.first + k];
        code_print(c, "    efsm_init_cell(m, %d, ", a->to);
        code_expression(&c->writer, a->value);
        code_print(c, ");\n");
    }
    code_print(c, "}\n");
}

/* ---- the test ---- */

static const char test_main[] =
    "static size_t list_fired(const struct efsm *m, const struct efsm_view *v, size_t "
    "fired[])\n"
    "{\n"
    "    size_t count = 0;\n"
    "    if (m->fired_arc != EFSM_NO_ARC) {\n        fired[count++] = m->fired_arc;\n    }\n"
    "    if (m->fired_count <= 1 || m->next == EFSM_UNDEFINED) {\n        return count;\n    "
    "}\n"
    "    count = 0;\n"
    "    for (size_t i = 0; i < COUNT(arcs); i++) {\n"
    "        if (arcs[i].from == m->from && (!arcs[i].guard || arcs[i].guard(v))) {\n"
    "            fired[count++] = i;\n        }\n    }\n    return count;\n}\n\n";

static void write_test(const struct code *c)
{
    const char *id = id_of(c);
    const struct machine *m = c->machine;
    code_print(c,
               "\n#ifdef EFSM_TEST /* inputs as CSV on standard input, a header line first */\n"
               "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n%s%s",
               code_c_test, test_main);
    code_print(
        c,
        "int main(void)\n{\n    static char line[65536];\n    const struct efsm_table *table "
        "= &%s_table;\n    struct efsm m;\n    size_t fired[256];\n"
        "    %s_start(&m, 0);\n    puts(\"",
        id, id);
    code_header(c->out, m);
    code_print(
        c,
        "\");\n    if (!fgets(line, sizeof line, stdin)) {\n        return 1;\n    }\n"
        "    for (long k = 0; fgets(line, sizeof line, stdin) && efsm_is_active(table, &m); "
        "k++) {\n        const int64_t t_us = k * INT64_C(%lld);\n"
        "        struct %s_in in = {0};\n        struct %s_out out = {0};\n"
        "        uint8_t undefined = EFSM_NO_CELL;\n"
        "        const struct efsm_view v = {.now = &m, .in = &in, .t_us = t_us, .undefined "
        "= &undefined};\n        char *rest = line;\n"
        "        for (size_t i = 0; i < %zu; i++) {\n"
        "            in.there |= (uint64_t)read_number(&rest, &in.value[i]) << i;\n        }\n"
        "        efsm_act(table, &m, &in, &out, t_us);\n        printf(\"%%ld\", k);\n"
        "        print_number(true, (double)t_us / 1e6);\n"
        "        for (size_t i = 0; i < %zu; i++) {\n"
        "            print_number(in.there >> i & 1U, in.value[i]);\n        }\n"
        "        printf(\",%%s\", efsm_state_name(table, m.state));\n"
        "        for (size_t i = 0; i < table->cell_count; i++) {\n"
        "            print_number(m.defined >> i & 1U, m.cell[i]);\n        }\n",
        (long long)c->period_us, id, id, m->input_count, m->input_count);
    for (size_t i = 0; i < m->output_count; i++) {
        if (code_is_own(c, i)) {
            code_print(c, "        print_number(out.there >> %zu & 1U, out.value[%zu]);\n", i,
                       i);
        }
    }
    code_print(c,
               "        putchar(',');\n        for (int i = 0; i < m.depth; i++) {\n"
               "            printf(i ? \" %%s\" : \"%%s\", efsm_state_name(table, "
               "m.stack[i]));\n        }\n        efsm_plan(table, &m, &in, t_us);\n"
               "        putchar(',');\n"
               "        for (size_t i = 0, n = list_fired(&m, &v, fired); i < n; i++) {\n"
               "            printf(i ? \" %%zu\" : \"%%zu\", fired[i]);\n        }\n"
               "        efsm_update(table, &m, t_us, 0, NULL, NULL);\n"
               "        printf(\",%%s,%%d\\n\", efsm_state_name(table, m.state), m.blocked);\n"
               "    }\n    return 0;\n}\n#endif\n");
}

void code_write_table(FILE *out, const struct machine *machine, int64_t period_us)
{
    struct code *c =
        code_start(out, machine, period_us, &code_c_style, name_value, code_c_words, NULL);
    if (!c) {
        return;
    }
    code_print(
        c,
        "/* Generated by `tandem machines generate` from the machine %s: change that, not "
        "this.\n * A table for Tandem's engine; in: struct %s_in, out: struct %s_out. "
        "*/\n#include \"twin/efsm/efsm.h\"\n\n#include <math.h>\n\n",
        machine->table.name, id_of(c), id_of(c));
    write_struct(c, "in", &c->inputs);
    write_struct(c, "out", &c->outputs);
    write_helpers(c);
    write_functions(c);
    if (machine->output_count > 0) {
        write_outputs(c);
    }
    write_table(c);
    write_test(c);
    free(c);
}
