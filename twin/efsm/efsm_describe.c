/* twin/efsm/efsm_describe.c - machines in words and pictures: state names, faults, Graphviz. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/lab_time.h"
#include "twin/efsm/efsm.h"

/* A text that grows into a buffer of fixed size; what does not fit is counted, not written. */
struct text {
    char *out;
    size_t size;
    size_t used; /* bytes wanted so far, without the NUL */
};

static void put_bytes(struct text *text, const char *bytes, size_t n)
{
    if (text->used < text->size) {
        const size_t room = text->size - text->used - 1;
        memcpy(text->out + text->used, bytes, n < room ? n : room);
    }
    text->used += n;
    if (text->size > 0) {
        text->out[text->used < text->size ? text->used : text->size - 1] = '\0';
    }
}

static void put_text(struct text *text, const char *more)
{
    put_bytes(text, more, strlen(more));
}

static void start_text(struct text *text, char *out, size_t size)
{
    *text = (struct text){.size = size};
    text->out = out;
    put_text(text, "");
}

static void put_count(struct text *text, size_t value)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%zu", value);
    put_text(text, digits);
}

/* For the inside of a quoted string of the DOT language. */
static void put_escaped(struct text *text, const char *more)
{
    for (; *more; more++) {
        if (*more == '"' || *more == '\\') {
            put_text(text, "\\");
        }
        put_bytes(text, more, 1);
    }
}

const char *efsm_state_name(const struct efsm_table *table, uint8_t state)
{
    switch (state) {
    case EFSM_INCOMPLETE:
        return "__INCOMPLETE__";
    case EFSM_NON_DETERMINISTIC:
        return "__NON_DETERMINISTIC__";
    case EFSM_UNDEFINED:
        return "__UNDEFINED__";
    case EFSM_STACK_EMPTY:
        return "__STACK_EMPTY__";
    case EFSM_STACK_FULL:
        return "__STACK_FULL__";
    case EFSM_POP:
        return "(top of the stack)";
    default:
        return state < table->state_count ? table->states[state].name : "(no such state)";
    }
}

static const char *label_of(const struct efsm_table *table, uint8_t arc)
{
    return arc < table->arc_count && table->arcs[arc].label ? table->arcs[arc].label : "?";
}

static void put_labels_from(struct text *text, const struct efsm_table *table, uint8_t from)
{
    size_t count = 0;

    for (size_t i = 0; i < table->arc_count; i++) {
        if (table->arcs[i].from == from) {
            put_text(text, count == 0 ? "'" : ", '");
            put_text(text, label_of(table, (uint8_t)i));
            put_text(text, "'");
            count++;
        }
    }
    if (count == 0) {
        put_text(text, "no arc");
    }
}

static void put_reason(struct text *text, const struct efsm_table *table, const struct efsm *m)
{
    switch (m->state) {
    case EFSM_INCOMPLETE:
        put_text(text, "none of ");
        put_labels_from(text, table, m->from);
        put_text(text, " holds");
        break;
    case EFSM_NON_DETERMINISTIC:
        put_text(text, "'");
        put_text(text, label_of(table, m->fired_arc));
        put_text(text, "' and '");
        put_text(text, label_of(table, m->fired_also));
        put_text(text, m->fired_count > 2 ? "' and others hold at once" : "' hold at once");
        break;
    case EFSM_UNDEFINED:
        put_text(text, "'");
        put_text(text, label_of(table, m->fired_arc));
        put_text(text, "' read ");
        put_text(text, m->undefined_cell < table->cell_count ? table->cells[m->undefined_cell]
                                                             : "a variable without name");
        put_text(text, ", which has no value yet");
        break;
    case EFSM_STACK_EMPTY:
        put_text(text, "'");
        put_text(text, label_of(table, m->fired_arc));
        put_text(text, "' pops more states than the ");
        put_count(text, m->depth);
        put_text(text, " on the stack");
        break;
    default:
        put_text(text, "'");
        put_text(text, label_of(table, m->fired_arc));
        put_text(text, "' pushes on a stack that holds ");
        put_count(text, m->depth);
        put_text(text, " of ");
        put_count(text, EFSM_STACK_MAX);
        break;
    }
}

void efsm_describe_fault(const struct efsm_table *table, const struct efsm *m, char *out,
                         size_t size)
{
    assert(table && m && out);
    struct text text;
    char number[40];

    start_text(&text, out, size);
    if (m->state < EFSM_INCOMPLETE || m->state == EFSM_POP) {
        return;
    }
    const char *sink = efsm_state_name(table, m->state);
    put_text(&text, table->name);
    put_text(&text, ": ");
    put_bytes(&text, sink + 2, strlen(sink) - 4); /* without the underscores */
    put_text(&text, " in ");
    put_text(&text, efsm_state_name(table, m->from));
    /* 16 digits: a time since 1970 down to the microsecond, and 12.5 stays 12.5. */
    (void)snprintf(number, sizeof number, " at %.16g s: ", lab_s(m->entered_us));
    put_text(&text, number);
    put_reason(&text, table, m);
}

/* What the arc does to the stack, as a second line of its label. */
static void put_stack_words(struct text *text, const struct efsm_table *table,
                            const struct efsm_arc *arc)
{
    if (arc->empties) {
        put_text(text, "\\nempty the stack");
    }
    if (arc->pops > 0) {
        put_text(text, "\\npop ");
        put_count(text, arc->pops);
    }
    for (size_t i = 0; i < arc->push_count; i++) {
        put_text(text, i == 0 ? "\\npush " : ", ");
        put_escaped(text, efsm_state_name(table, arc->push[i]));
    }
}

static void put_arc(struct text *text, const struct efsm_table *table, size_t i)
{
    const struct efsm_arc *arc = &table->arcs[i];
    const bool pop = arc->to == EFSM_POP;

    if (pop) {
        put_text(text, "  pop");
        put_count(text, i);
        put_text(text, " [shape=hexagon, label=\"\", width=0.25, height=0.2];\n");
    }
    put_text(text, "  s");
    put_count(text, arc->from);
    put_text(text, pop ? " -> pop" : " -> s");
    put_count(text, pop ? i : arc->to);
    put_text(text, " [label=\"");
    put_escaped(text, arc->label ? arc->label : "");
    put_stack_words(text, table, arc);
    put_text(text, arc->waits ? "\", style=dashed];\n" : "\"];\n");
}

size_t efsm_dot(const struct efsm_table *table, int lit, char *out, size_t size)
{
    assert(table && (out || size == 0));
    struct text text;

    start_text(&text, out, size);
    put_text(&text, "digraph \"");
    put_escaped(&text, table->name);
    put_text(&text, "\" {\n  bgcolor=transparent;\n  tooltip=\"");
    put_escaped(&text, table->purpose);
    put_text(&text, "\";\n  node [shape=ellipse, fontname=\"sans-serif\"];\n"
                    "  edge [fontname=\"sans-serif\", fontsize=10];\n"
                    "  start [shape=point];\n");
    for (size_t i = 0; i < table->state_count; i++) {
        put_text(&text, "  s");
        put_count(&text, i);
        put_text(&text, " [id=\"");
        put_escaped(&text, table->name);
        put_text(&text, ".");
        put_escaped(&text, table->states[i].name);
        put_text(&text, "\", label=\"");
        put_escaped(&text, table->states[i].name);
        put_text(&text, table->states[i].final ? "\", shape=doublecircle" : "\"");
        put_text(&text,
                 lit == (int)i ? ", style=filled, fillcolor=\"#ffd75e\", class=\"lit\"" : "");
        put_text(&text, "];\n");
    }
    if (lit >= EFSM_INCOMPLETE && lit < EFSM_POP) {
        put_text(&text,
                 "  sink [shape=octagon, style=filled, fillcolor=\"#ff8a80\", class=\"lit\", "
                 "label=\"");
        put_escaped(&text, efsm_state_name(table, (uint8_t)lit));
        put_text(&text, "\"];\n");
    }
    put_text(&text, "  start -> s");
    put_count(&text, table->initial);
    put_text(&text, ";\n");
    for (size_t i = 0; i < table->arc_count; i++) {
        put_arc(&text, table, i);
    }
    put_text(&text, "}\n");
    return text.used;
}
