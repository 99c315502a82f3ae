/* twin/efsm/efsm_describe.c - machines as texts and pictures: state names, faults, Graphviz. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "twin/efsm/efsm.h"

/* A text in a buffer of fixed size; what does not fit is counted, not written. */
struct text {
    char *out;
    size_t size;
    size_t used; /* needed bytes so far, without the NUL */
};

static PRINTF_LIKE(2, 3) void append_text(struct text *text, const char *format, ...)
{
    const size_t room = text->used < text->size ? text->size - text->used : 0;
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(room > 0 ? text->out + text->used : NULL, room, format, args);
    va_end(args);
    text->used += n > 0 ? (size_t)n : 0;
}

/* Escapes a text for a quoted string of the DOT language. */
static void append_escaped(struct text *text, const char *more)
{
    for (; *more; more++) {
        append_text(text, *more == '"' || *more == '\\' ? "\\%c" : "%c", *more);
    }
}

const char *efsm_state_name(const struct efsm_table *table, uint8_t state)
{
    static const char *const sinks[] = {"__INCOMPLETE__", "__NON_DETERMINISTIC__",
                                        "__UNDEFINED__",  "__STACK_EMPTY__",
                                        "__STACK_FULL__", "(top of the stack)"};
    if (state < EFSM_INCOMPLETE) {
        return state < table->state_count ? table->states[state].name : "(no such state)";
    }
    return sinks[state - EFSM_INCOMPLETE];
}

static const char *label_of(const struct efsm_table *table, uint8_t arc)
{
    return arc < table->arc_count && table->arcs[arc].label ? table->arcs[arc].label : "?";
}

static void append_labels_from(struct text *text, const struct efsm_table *table, uint8_t from)
{
    size_t count = 0;

    for (size_t i = 0; i < table->arc_count; i++) {
        if (table->arcs[i].from == from) {
            append_text(text, "%s'%s'", count++ == 0 ? "" : ", ", label_of(table, (uint8_t)i));
        }
    }
    if (count == 0) {
        append_text(text, "no arc");
    }
}

/* Returns the name of the undefined variable or input. */
static const char *name_of_undefined(const struct efsm_table *table, size_t k)
{
    if (k < table->cell_count) {
        return table->cells[k];
    }
    return k >= EFSM_CELLS_MAX && k - EFSM_CELLS_MAX < table->input_count
               ? table->inputs[k - EFSM_CELLS_MAX]
               : "a variable without name";
}

static void append_reason(struct text *text, const struct efsm_table *table,
                          const struct efsm *m)
{
    const char *label = label_of(table, m->fired_arc);
    switch (m->state) {
    case EFSM_INCOMPLETE:
        append_text(text, "none of ");
        append_labels_from(text, table, m->from);
        append_text(text, " holds");
        break;
    case EFSM_NON_DETERMINISTIC:
        append_text(text, "'%s' and '%s'%s hold at once", label, label_of(table, m->fired_also),
                    m->fired_count > 2 ? " and others" : "");
        break;
    case EFSM_UNDEFINED:
        append_text(text, "'%s' read %s, which has no value yet", label,
                    name_of_undefined(table, m->undefined_cell));
        break;
    case EFSM_STACK_EMPTY:
        append_text(text, "'%s' pops more states than the %u on the stack", label, m->depth);
        break;
    default:
        append_text(text, "'%s' pushes on a stack that holds %u of %d", label, m->depth,
                    EFSM_STACK_MAX);
        break;
    }
}

void efsm_describe_fault(const struct efsm_table *table, const struct efsm *m, char *out,
                         size_t size)
{
    assert(table && m && out);
    struct text text = {.out = out, .size = size};

    append_text(&text, "%s", "");
    if (m->state < EFSM_INCOMPLETE || m->state == EFSM_POP) {
        return;
    }
    const char *sink = efsm_state_name(table, m->state) + 2; /* without the underscores */
    /* 16 digits show a time since 1970 to the microsecond, while 12.5 stays 12.5. */
    append_text(&text, "%s: %.*s in %s at %.16g s: ", table->name, (int)strlen(sink) - 2, sink,
                efsm_state_name(table, m->from), lab_s(m->entered_us));
    append_reason(&text, table, m);
}

/* Describes the arc's stack operations, as a second line of its label. */
static void append_stack_words(struct text *text, const struct efsm_table *table,
                               const struct efsm_arc *arc)
{
    if (arc->empties) {
        append_text(text, "\\nempty the stack");
    }
    if (arc->pops > 0) {
        append_text(text, "\\npop %u", arc->pops);
    }
    for (size_t i = 0; i < arc->push_count; i++) {
        append_text(text, i == 0 ? "\\npush " : ", ");
        append_escaped(text, efsm_state_name(table, arc->push[i]));
    }
}

static void append_arc(struct text *text, const struct efsm_table *table, size_t i)
{
    const struct efsm_arc *arc = &table->arcs[i];
    const bool pop = arc->to == EFSM_POP;

    if (pop) {
        append_text(text, "  pop%zu [shape=hexagon, label=\"\", width=0.25, height=0.2];\n", i);
    }
    append_text(text, "  s%u -> %s%zu [id=\"", arc->from, pop ? "pop" : "s", pop ? i : arc->to);
    append_escaped(text, table->name);
    append_text(text, ".arc.%zu\", label=\"", i);
    append_escaped(text, arc->label ? arc->label : "");
    append_stack_words(text, table, arc);
    append_text(text, arc->waits ? "\", style=dashed];\n" : "\"];\n");
}

static void append_state(struct text *text, const struct efsm_table *table, size_t i,
                         bool is_lit)
{
    const struct efsm_state *state = &table->states[i];
    append_text(text, "  s%zu [id=\"", i);
    append_escaped(text, table->name);
    append_text(text, ".");
    append_escaped(text, state->name);
    append_text(text, "\", label=\"");
    append_escaped(text, state->name);
    append_text(text, "\"%s%s];\n", state->final ? ", shape=doublecircle" : "",
                is_lit ? ", style=filled, fillcolor=\"#ffd75e\", class=\"lit\"" : "");
}

size_t efsm_dot(const struct efsm_table *table, int lit, char *out, size_t size)
{
    assert(table && (out || size == 0));
    struct text text = {.out = out, .size = size};

    append_text(&text, "digraph \"");
    append_escaped(&text, table->name);
    append_text(&text, "\" {\n  bgcolor=transparent;\n  tooltip=\"");
    append_escaped(&text, table->purpose);
    append_text(&text, "\";\n  node [shape=ellipse, fontname=\"sans-serif\"];\n"
                       "  edge [fontname=\"sans-serif\", fontsize=10];\n"
                       "  start [shape=point];\n");
    for (size_t i = 0; i < table->state_count; i++) {
        append_state(&text, table, i, lit == (int)i);
    }
    if (lit >= EFSM_INCOMPLETE && lit < EFSM_POP) {
        append_text(
            &text,
            "  sink [shape=octagon, style=filled, fillcolor=\"#ff8a80\", class=\"lit\", "
            "label=\"%s\"];\n",
            efsm_state_name(table, (uint8_t)lit));
    }
    append_text(&text, "  start -> s%u;\n", table->initial);
    for (size_t i = 0; i < table->arc_count; i++) {
        append_arc(&text, table, i);
    }
    append_text(&text, "}\n");
    return text.used;
}
