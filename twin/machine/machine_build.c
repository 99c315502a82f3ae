/* twin/machine/machine_build.c - makes a machine from a draft: states, arcs and their
 * assignments.
 */
#include <string.h>

#include "base/text/text.h"
#include "twin/machine/machine_parts.h"

enum { SHOWN_MAX = 160 };

static void show_root(const struct machine *m, uint16_t root, char out[SHOWN_MAX])
{
    (void)expression_print_wide(&m->draft.pool, root, out, SHOWN_MAX);
}

/* ---- assignments, each name once ---- */

/* Context for reports of conflicts: "on the way from WAIT to COUNT". */
struct context {
    struct machine_place place;
    const char *where, *from, *to;
};

/* The last assignment of a name counts, in the place of the first. */
static void add_assignment(struct machine *m, struct machine_range *range,
                           const struct machine_draft_assignment *given,
                           const struct context *context)
{
    char first[SHOWN_MAX];
    char second[SHOWN_MAX];
    for (size_t i = range->first; i < (size_t)range->first + range->count; i++) {
        struct machine_assignment *there = &m->assignments[i];
        if (there->name != given->name) {
            continue;
        }
        show_root(m, there->value, first);
        show_root(m, given->value, second);
        if (strcmp(first, second) != 0) {
            machine_diagnostics_add(&m->draft.diagnostics, "E-CONFLICT", context->place,
                                    "%s gets %s and %s in the same cycle, %s %s%s%s",
                                    machine_name(m, given->name), first, second, context->where,
                                    context->from, context->to ? " to " : "",
                                    context->to ? context->to : "");
        }
        there->value = given->value;
        return;
    }
    m->assignments[m->assignment_count++] =
        (struct machine_assignment){.name = given->name, .value = given->value};
    range->count++;
}

/* Adds the delayed, or the other, assignments of a range. They cannot outnumber those of the
 * draft. */
static struct machine_range add_range(struct machine *m, struct machine_draft_range given,
                                      bool delayed, const struct context *context)
{
    struct machine_range range = {(uint16_t)m->assignment_count, 0};
    for (size_t i = given.first; i < (size_t)given.first + given.count; i++) {
        if (m->draft.assignments[i].delayed == delayed) {
            add_assignment(m, &range, &m->draft.assignments[i], context);
        }
    }
    return range;
}

static void add_assignments(struct machine *m)
{
    struct machine_draft *d = &m->draft;
    for (size_t i = 0; i < d->arc_count; i++) {
        const struct machine_draft_arc *a = &d->arcs[i];
        const struct context context = {a->place, "on the way from", a->from,
                                        a->to ? a->to : "(top)"};
        m->arcs[i] = (struct machine_arc){.when = a->when, .place = a->place};
        m->arcs[i].delayed = add_range(m, a->acts, true, &context);
        m->arcs[i].outputs = add_range(m, a->acts, false, &context);
    }
    for (size_t i = 0; i < d->state_count; i++) {
        const struct machine_draft_state *s = &d->states[i];
        const struct context context = {s->place, "in", s->name, NULL};
        m->states[i] = (struct machine_state){.place = s->place};
        m->states[i].outputs = add_range(m, s->outputs, false, &context);
    }
    const struct context context = {d->initial_place, "at the", "start", NULL};
    m->starts = add_range(m, d->starts, true, &context);
}

/* ---- labels ---- */

enum { LABEL_MAX = 1024 };

static void append_expression(const struct machine *m, char label[LABEL_MAX], uint16_t root)
{
    const size_t used = strlen(label);
    (void)expression_print_wide(&m->draft.pool, root, label + used, LABEL_MAX - used);
}

static void append_assignments(const struct machine *m, char label[LABEL_MAX],
                               struct machine_range range, const char *sign, const char *before)
{
    for (size_t i = 0; i < range.count; i++) {
        const struct machine_assignment *a = &m->assignments[range.first + i];
        text_append(label, LABEL_MAX, "%s%s%s", i == 0 ? before : ", ",
                    machine_name(m, a->name), sign);
        append_expression(m, label, a->value);
    }
}

/* Writes "guard / C+ = C - 1, e = true". */
static const char *write_label(struct machine *m, const struct machine_arc *arc)
{
    char label[LABEL_MAX] = "";
    const char *slash = arc->when != 0 ? " / " : "";
    if (arc->when != 0) {
        append_expression(m, label, arc->when);
    }
    append_assignments(m, label, arc->delayed, "+ = ", slash);
    append_assignments(m, label, arc->outputs, " = ", arc->delayed.count > 0 ? ", " : slash);
    if (!label[0]) {
        text_append(label, LABEL_MAX, "true");
    }
    return machine_draft_store_text(&m->draft, label, strlen(label));
}

/* ---- states by their names ---- */

static uint8_t find_state(struct machine *m, const char *name, struct machine_place place)
{
    const struct machine_draft_state *s = machine_draft_find_state(&m->draft, name);
    if (!s) {
        machine_diagnostics_add(&m->draft.diagnostics, "E-NO-SUCH-STATE", place,
                                "'%.80s' is not a state of the machine", name);
        return 0;
    }
    return (uint8_t)(s - m->draft.states);
}

static void build_arc(struct machine *m, size_t i)
{
    const struct machine_draft_arc *a = &m->draft.arcs[i];
    struct efsm_arc *arc = &m->table_arcs[i];
    *arc = (struct efsm_arc){
        .from = find_state(m, a->from, a->place),
        .to = a->to ? find_state(m, a->to, a->place) : (uint8_t)EFSM_POP,
        .label = write_label(m, &m->arcs[i]),
        .waits = a->waits == MACHINE_WAITS_UNSAID
                     ? m->draft.clocked || (a->to && strcmp(a->from, a->to) == 0 &&
                                            m->arcs[i].delayed.count == 0)
                     : a->waits == MACHINE_WAITS,
        .empties = a->empties,
        .pops = (uint8_t)(a->pops < EFSM_STACK_MAX + 1U ? a->pops : EFSM_STACK_MAX + 1U),
        .push_count = (uint8_t)a->push_count,
    };
    for (size_t k = 0; k < a->push_count; k++) {
        arc->push[k] = find_state(m, a->push[k], a->place);
    }
}

/* ---- likely misunderstandings of the language ---- */

/* "C += 1" assigns 1 to C in the next cycle. This is reported once, unless the author adds the
 * name explicitly. */
static void report_sums(struct machine *m)
{
    const struct machine_draft_assignment *sum = NULL;
    char text[SHOWN_MAX];
    for (size_t i = 0; i < m->draft.assignment_count; i++) {
        const struct machine_draft_assignment *a = &m->draft.assignments[i];
        if (a->sum && (m->draft.pool.nodes[a->value].reads >> a->name & 1U)) {
            return;
        }
        sum = a->sum && !sum ? a : sum;
    }
    if (sum) {
        const char *name = machine_name(m, sum->name);
        show_root(m, sum->value, text);
        machine_diagnostics_add(
            &m->draft.diagnostics, "N-SUM", (struct machine_place){0, 0, NULL},
            "%s: '%s += %s' gives %s the next value %s; to add write %s+ = %s + %s",
            m->draft.name, name, text, name, text, name, name, text);
    }
}

enum status machine_build(struct machine *m)
{
    struct machine_diagnostics *list = &m->draft.diagnostics;
    m->assignment_count = 0;
    m->store_bytes = 0;
    add_assignments(m);
    for (size_t i = 0; i < m->draft.arc_count; i++) {
        build_arc(m, i);
    }
    if (m->draft.initial) {
        (void)find_state(m, m->draft.initial, m->draft.initial_place);
    }
    machine_find_roles(m);
    machine_find_types(m);
    report_sums(m);
    machine_make_table(m);
    m->built = list->severity_count[MACHINE_ERROR] == 0 && m->draft.state_count > 0;
    return list->severity_count[MACHINE_ERROR] > list->conflicts || m->draft.state_count == 0 ||
                   !m->draft.initial
               ? STATUS_E_PARSE
               : STATUS_OK;
}

/* ---- programs ---- */

size_t machine_compile_bytes(void)
{
    return expression_compiler_bytes() + sizeof(struct expression_program);
}

struct compiler {
    struct machine *m;
    struct expression_program *program; /* program in progress */
    void *memory;
    bool full;
};

/* Copies a program into the machine's store, cut to its length. */
static const struct expression_program *store_program(struct compiler *c)
{
    struct machine *m = c->m;
    const size_t used = offsetof(struct expression_program, code) +
                        c->program->count * sizeof c->program->code[0];
    const size_t bytes = (used + 15) / 16 * 16;
    if (bytes > sizeof m->store - m->store_bytes) {
        c->full = true;
        return NULL;
    }
    unsigned char *to = m->store + m->store_bytes;
    memcpy(to, c->program, used);
    m->store_bytes += bytes;
    return (const struct expression_program *)(const void *)to;
}

static const struct expression_program *compile_roots(struct compiler *c, const uint16_t *roots,
                                                      size_t count, struct machine_place place)
{
    struct err err = {0};
    if (count == 0 || c->full) {
        return NULL;
    }
    if (expression_compile(&c->m->draft.pool, roots, NULL, count, false, c->memory, c->program,
                           &err) != STATUS_OK) {
        machine_diagnostics_add(&c->m->draft.diagnostics, "E-TOO-MANY", place, "%s", err.text);
        return NULL;
    }
    return store_program(c);
}

static void compile_each(struct compiler *c, struct machine_range range,
                         struct machine_place place)
{
    for (size_t i = range.first; i < (size_t)range.first + range.count; i++) {
        struct machine_assignment *a = &c->m->assignments[i];
        a->program = compile_roots(c, &a->value, 1, place);
    }
}

static void compile_arc(struct compiler *c, struct machine_arc *arc)
{
    uint16_t roots[MACHINE_ACTS_MAX];
    for (size_t i = 0; i < arc->delayed.count; i++) {
        roots[i] = c->m->assignments[arc->delayed.first + i].value;
    }
    arc->guard = compile_roots(c, &arc->when, arc->when != 0 ? 1 : 0, arc->place);
    arc->act = compile_roots(c, roots, arc->delayed.count, arc->place);
    compile_each(c, arc->outputs, arc->place);
}

enum status machine_compile(struct machine *m, void *memory)
{
    struct compiler c = {.m = m,
                         .program = memory,
                         .memory = (char *)memory + sizeof(struct expression_program)};
    m->store_bytes = 0;
    for (size_t i = 0; i < m->draft.arc_count; i++) {
        compile_arc(&c, &m->arcs[i]);
    }
    for (size_t i = 0; i < m->draft.state_count; i++) {
        compile_each(&c, m->states[i].outputs, m->states[i].place);
    }
    compile_each(&c, m->starts, m->draft.initial_place);
    if (c.full) {
        machine_diagnostics_add(&m->draft.diagnostics, "E-TOO-MANY", m->draft.place,
                                "its expressions are too long together");
    }
    return m->draft.diagnostics.severity_count[MACHINE_ERROR] > 0 ? STATUS_E_FULL : STATUS_OK;
}
