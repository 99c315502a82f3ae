/* config/machine/machine_print.c - prints a machine as YAML text that reads back to the same
 * machine. */
#include <math.h>
#include <string.h>

#include "base/numbers/number.h"
#include "config/machine/machine_file.h"
#include "config/options/option.h"

enum { WIDTH = 110, TEXT_MAX = 1 << 16 };

/* ---- scalars ---- */

/* True if YAML readers would parse the text as a truth, a number, a mark or a comment. */
static bool needs_quotes(const char *text)
{
    static const char first[] = "-?:,[]{}#&*!|>'\"%@` ";
    const size_t n = strlen(text);
    const bool letter = strcmp(text, "y") == 0 || strcmp(text, "n") == 0;
    if (n == 0 || (option_is_no_text(text) && !letter) || strstr(text, ": ") ||
        strstr(text, " #") || text[n - 1] == ':' || text[n - 1] == ' ') {
        return true;
    }
    /* A dash without a blank after it does not begin a list. */
    const bool dash =
        (text[0] == '-' || text[0] == '?' || text[0] == ':') && n > 1 && text[1] != ' ';
    return strchr(first, text[0]) && !dash;
}

/* Prints text from column on, broken at single blanks behind WIDTH, which read back as
 * blanks. */
static void print_folded(const char *text, size_t column, size_t indent, bool quoted, FILE *out)
{
    const size_t n = strlen(text);
    (void)fputs(quoted ? "'" : "", out);
    column += quoted ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        const bool single =
            text[i] == ' ' && i > 0 && i + 1 < n && text[i - 1] != ' ' && text[i + 1] != ' ';
        if (single && column > WIDTH) {
            (void)fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            continue;
        }
        (void)fputc(text[i], out);
        /* Bytes that continue a UTF-8 character have no width. */
        column += ((unsigned char)text[i] & 0xC0U) != 0x80U ? 1 : 0;
        if (quoted && text[i] == '\'') {
            (void)fputc('\'', out);
            column++;
        }
    }
    (void)fputs(quoted ? "'\n" : "\n", out);
}

/* Prints "key: text" after what the line already holds; before: the columns used. */
static void print_text(const char *key, const char *text, size_t before, size_t indent,
                       FILE *out)
{
    (void)fprintf(out, "%s%s", key, key[0] ? ": " : "");
    print_folded(text, before + strlen(key) + (key[0] ? 2 : 0), indent + 2, needs_quotes(text),
                 out);
}

/* Prints the shortest text that reads back, and never a whole number: 5.0, 0.1, 1.0e-05. */
static void print_number(double number, FILE *out)
{
    char text[NUMBER_SHORTEST_MAX];
    if (fabs(number) < 1e16 && !(floor(number) < number)) {
        (void)fprintf(out, "%.1f\n", number);
        return;
    }
    number_write_shortest(number, text);
    const int stem = (int)strcspn(text, "e");
    (void)fprintf(out, "%.*s%s%s\n", stem, text, strchr(text, '.') ? "" : ".0", text + stem);
}

/* ---- ports ---- */

static void print_type(const struct machine *m, const struct machine_port *p, FILE *out)
{
    const bool truth = machine_type(m, p->name) == EXPRESSION_TRUTH;
    const bool constant = m->roles[p->name] == MACHINE_CONSTANT;
    const double value = constant ? m->draft.pool.names[p->name].value : p->otherwise;
    const char *name = machine_name(m, p->name);
    const char *quote = needs_quotes(name) ? "'" : "";
    (void)fprintf(out, "  %s%s%s: ", quote, name, quote);
    if (!constant && !p->has_otherwise) {
        (void)fprintf(out, "%s\n", truth ? "truth" : "number");
    } else if (truth) {
        (void)fprintf(out, "%s\n", value > 0.0 ? "true" : "false");
    } else {
        print_number(value, out);
    }
}

static void print_ports(const struct machine *m, const char *key,
                        const struct machine_port *ports, size_t count, FILE *out)
{
    if (count > 0) {
        (void)fprintf(out, "%s:\n", key);
    }
    for (size_t i = 0; i < count; i++) {
        print_type(m, &ports[i], out);
    }
}

/* ---- assignments, states, arcs ---- */

static void print_acts(const struct machine *m, struct machine_range range, bool delayed,
                       size_t indent, FILE *out)
{
    char text[TEXT_MAX];
    for (size_t i = range.first; i < (size_t)range.first + range.count; i++) {
        const struct machine_assignment *a = &m->assignments[i];
        const int n = snprintf(text, sizeof text, "%s%s = ", machine_name(m, a->name),
                               delayed ? "+" : "");
        (void)expression_print_wide(&m->draft.pool, a->value, text + n,
                                    sizeof text - (size_t)n);
        (void)fprintf(out, "%*s- ", (int)indent, "");
        print_text("", text, indent + 2, indent, out);
    }
}

/* The first line of an arc begins its list's item. */
struct arc_lines {
    bool begun;
    FILE *out;
};

enum { ARC_INDENT = 6 };

static void begin_line(struct arc_lines *lines)
{
    (void)fputs(lines->begun ? "      " : "    - ", lines->out);
    lines->begun = true;
}

static void print_arc(const struct machine *m, size_t i, FILE *out)
{
    const struct machine_arc *arc = &m->arcs[i];
    const struct machine_draft_arc *drawn = &m->draft.arcs[i];
    struct arc_lines lines = {.out = out};
    if (arc->when != 0) {
        char text[TEXT_MAX];
        (void)expression_print_wide(&m->draft.pool, arc->when, text, sizeof text);
        begin_line(&lines);
        print_text("when", text, ARC_INDENT, ARC_INDENT, out);
    }
    if (arc->delayed.count + arc->outputs.count > 0) {
        begin_line(&lines);
        (void)fputs("do:\n", out);
        print_acts(m, arc->delayed, true, ARC_INDENT, out);
        print_acts(m, arc->outputs, false, ARC_INDENT, out);
    }
    if (drawn->empties) {
        begin_line(&lines);
        (void)fputs("empty: true\n", out);
    }
    if (drawn->pops > 0) {
        begin_line(&lines);
        (void)fprintf(out, "pop: %u\n", drawn->pops);
    }
    if (drawn->push_count > 0) {
        begin_line(&lines);
        (void)fputs("push:\n", out);
    }
    for (size_t k = 0; k < drawn->push_count; k++) {
        (void)fputs("      - ", out);
        print_text("", drawn->push[k], ARC_INDENT + 2, ARC_INDENT, out);
    }
    if (drawn->waits != MACHINE_WAITS_UNSAID) {
        begin_line(&lines);
        (void)fprintf(out, "waits: %s\n", drawn->waits == MACHINE_WAITS ? "true" : "false");
    }
    begin_line(&lines);
    print_text("to", drawn->to ? drawn->to : "top", ARC_INDENT, ARC_INDENT, out);
}

static size_t count_arcs(const struct machine *m, const char *state)
{
    size_t count = 0;
    for (size_t i = 0; i < m->draft.arc_count; i++) {
        count += strcmp(m->draft.arcs[i].from, state) == 0 ? 1 : 0;
    }
    return count;
}

static void print_state(const struct machine *m, size_t s, FILE *out)
{
    const struct machine_draft_state *state = &m->draft.states[s];
    const size_t arcs = count_arcs(m, state->name);
    const char *quote = needs_quotes(state->name) ? "'" : "";
    const bool empty = m->states[s].outputs.count == 0 && !state->final && arcs == 0;
    (void)fprintf(out, "  %s%s%s:%s\n", quote, state->name, quote, empty ? " {}" : "");
    if (m->states[s].outputs.count > 0) {
        (void)fputs("    outputs:\n", out);
        print_acts(m, m->states[s].outputs, false, 4, out);
    }
    if (state->final) {
        (void)fputs("    final: true\n", out);
    }
    if (arcs > 0) {
        (void)fputs("    arcs:\n", out);
    }
    for (size_t i = 0; i < m->draft.arc_count; i++) {
        if (strcmp(m->draft.arcs[i].from, state->name) == 0) {
            print_arc(m, i, out);
        }
    }
}

void machine_yaml_print(const struct machine *m, FILE *out)
{
    const struct machine_draft *d = &m->draft;
    print_text("machine", d->name, 0, 0, out);
    if (d->purpose[0] != '\0') {
        print_text("purpose", d->purpose, 0, 0, out);
    }
    (void)fputs(d->clocked ? "" : "clocked: false\n", out);
    (void)fputs(d->stays ? "otherwise: stay\n" : "", out);
    print_ports(m, "constants", m->constants, m->constant_count, out);
    print_ports(m, "inputs", m->inputs, m->input_count, out);
    print_ports(m, "variables", m->variables, m->variable_count, out);
    print_ports(m, "outputs", m->outputs, m->output_count, out);
    if (d->initial) {
        print_text("initial", d->initial, 0, 0, out);
    }
    (void)fputs(m->starts.count > 0 ? "start:\n" : "", out);
    print_acts(m, m->starts, true, 0, out);
    (void)fputs("states:\n", out);
    for (size_t i = 0; i < d->state_count; i++) {
        print_state(m, i, out);
    }
}
