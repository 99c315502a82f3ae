#include "service/machine/machine_code.h"

#include <stdarg.h>
#include <stdlib.h>

const struct code_language code_languages[] = {{"c", ".c", code_write_c},
                                               {"lua", ".lua", code_write_lua},
                                               {"python", ".py", code_write_python},
                                               {"table", "_table.c", code_write_table}};
const size_t code_language_count = COUNT(code_languages);

static void name_ports(struct code_names *names, const struct machine *machine,
                       const struct machine_port *ports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)code_identifier(names, machine_name(machine, ports[i].name));
    }
}

struct code *code_start(FILE *out, const struct machine *machine, int64_t period_us,
                        const struct code_style *style, code_name *name,
                        const char *const *words, const char *const *states_words)
{
    struct code *c = calloc(1, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->out = out;
    c->machine = machine;
    c->period_us = period_us;
    c->writer = (struct code_writer){out, &machine->draft.pool, style, name, c};
    c->machine_name.words = c->inputs.words = c->variables.words = c->outputs.words = words;
    c->states.words = states_words;
    (void)code_identifier(&c->machine_name, machine->table.name);
    for (size_t i = 0; i < machine->table.state_count; i++) {
        (void)code_identifier(&c->states, machine->table.states[i].name);
    }
    name_ports(&c->inputs, machine, machine->inputs, machine->input_count);
    name_ports(&c->variables, machine, machine->variables, machine->variable_count);
    name_ports(&c->outputs, machine, machine->outputs, machine->output_count);
    return c;
}

void code_print(const struct code *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vfprintf(c->out, format, args);
    va_end(args);
}

void code_print_key(const struct code *c, const char *before, uint8_t name, const char *behind)
{
    code_print(c, "%s[", before);
    code_string(c->out, machine_name(c->machine, name));
    code_print(c, "]%s", behind);
}

void code_guard(const struct code *c, size_t arc)
{
    const uint16_t when = c->machine->arcs[arc].when;
    if (when == 0) {
        (void)fputs(c->writer.style->truths[1], c->out);
    } else {
        code_expression(&c->writer, when);
    }
}

void code_arc(const struct code *c, size_t arc)
{
    const struct efsm_arc *a = &c->machine->table.arcs[arc];
    code_comment(c->out, efsm_state_name(&c->machine->table, a->from));
    (void)fputs(" -> ", c->out);
    code_comment(c->out, a->to == EFSM_POP ? "top of the stack"
                                           : efsm_state_name(&c->machine->table, a->to));
    (void)fputs(": ", c->out);
    code_comment(c->out, a->label);
}

const char *code_state(const struct code *c, size_t state)
{
    return c->states.names[state];
}

bool code_is_own(const struct code *c, size_t output)
{
    return c->machine->outputs[output].variable == MACHINE_NONE;
}

bool code_has_arcs(const struct code *c, size_t state)
{
    for (size_t i = 0; i < c->machine->table.arc_count; i++) {
        if (c->machine->table.arcs[i].from == state) {
            return true;
        }
    }
    return false;
}

bool code_has_outputs(const struct code *c, size_t state)
{
    bool found = c->machine->states[state].outputs.count > 0;
    for (size_t i = 0; i < c->machine->table.arc_count; i++) {
        found |=
            c->machine->table.arcs[i].from == state && c->machine->arcs[i].outputs.count > 0;
    }
    return found;
}

bool code_uses_stack(const struct code *c)
{
    bool found = false;
    for (size_t i = 0; i < c->machine->table.arc_count; i++) {
        const struct efsm_arc *a = &c->machine->table.arcs[i];
        found |= a->empties || a->pops > 0 || a->push_count > 0 || a->to == EFSM_POP;
    }
    return found;
}

bool code_uses(const struct code *c, enum expression_kind kind)
{
    const struct expression_pool *pool = &c->machine->draft.pool;
    for (size_t i = 1; i < pool->count; i++) {
        if (pool->nodes[i].kind == kind) {
            return true;
        }
    }
    return false;
}

bool code_uses_time(const struct code *c)
{
    const struct expression_pool *pool = &c->machine->draft.pool;
    for (size_t i = 1; i < pool->count; i++) {
        if (pool->nodes[i].kind == EXPRESSION_NAME &&
            c->machine->roles[pool->nodes[i].name] == MACHINE_TIME) {
            return true;
        }
    }
    return false;
}

void code_header(FILE *out, const struct machine *machine)
{
    (void)fputs("cycle,t", out);
    for (size_t i = 0; i < machine->input_count; i++) {
        (void)fprintf(out, ",%s", machine_name(machine, machine->inputs[i].name));
    }
    (void)fputs(",state", out);
    for (size_t i = 0; i < machine->variable_count; i++) {
        (void)fprintf(out, ",%s", machine_name(machine, machine->variables[i].name));
    }
    for (size_t i = 0; i < machine->output_count; i++) {
        if (machine->outputs[i].variable == MACHINE_NONE) {
            (void)fprintf(out, ",%s", machine_name(machine, machine->outputs[i].name));
        }
    }
    (void)fputs(",stack,arcs,next,blocked", out);
}
