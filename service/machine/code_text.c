#include "service/machine/code_text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/numbers/number.h"

static const char *const operators[EXPRESSION_KIND_COUNT] = {
    [EXPRESSION_EQUAL] = " == ",         [EXPRESSION_LESS] = " < ",
    [EXPRESSION_LESS_EQUAL] = " <= ",    [EXPRESSION_GREATER] = " > ",
    [EXPRESSION_GREATER_EQUAL] = " >= ", [EXPRESSION_ADD] = " + ",
    [EXPRESSION_SUBTRACT] = " - ",       [EXPRESSION_MULTIPLY] = " * ",
    [EXPRESSION_DIVIDE] = " / ",
};

void code_number(FILE *out, const struct code_style *style, double number)
{
    char text[NUMBER_SHORTEST_MAX];
    if (isinf(number)) {
        (void)fprintf(out, number > 0.0 ? "%s" : "(-%s)", style->infinity);
        return;
    }
    number_write_shortest(number, text);
    const char *whole = strpbrk(text, ".e") ? "" : ".0";
    (void)fprintf(out, signbit(number) ? "(%s%s)" : "%s%s", text, whole);
}

/* Writes a call: text before, between and after the arguments. */
static void write_call(const struct code_writer *w, const char *name,
                       const struct expression_node *n)
{
    const size_t count = expression_arguments((enum expression_kind)n->kind);
    (void)fprintf(w->out, "%s(", name);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i == 0 ? "" : ", ", w->out);
        code_expression(w, n->arguments[i]);
    }
    (void)fputc(')', w->out);
}

static void write_choice(const struct code_writer *w, const struct expression_node *n)
{
    const struct code_style *s = w->style;
    const size_t order[] = {s->choice_last ? 1 : 0, s->choice_last ? 0 : 1, 2};
    for (size_t i = 0; i < COUNT(order); i++) {
        (void)fputs(s->choice[i], w->out);
        code_expression(w, n->arguments[order[i]]);
    }
    (void)fputs(s->choice[3], w->out);
}

static void write_between(const struct code_writer *w, const struct expression_node *n,
                          const char *operator)
{
    (void)fputc('(', w->out);
    code_expression(w, n->arguments[0]);
    (void)fputs(operator, w->out);
    code_expression(w, n->arguments[1]);
    (void)fputc(')', w->out);
}

static const char *operator_of(const struct code_style *s, uint8_t kind)
{
    return kind == EXPRESSION_AND       ? s->both
           : kind == EXPRESSION_OR      ? s->either
           : kind == EXPRESSION_UNEQUAL ? s->unequal
                                        : operators[kind];
}

static void write_before(const struct code_writer *w, const char *operator, uint16_t of)
{
    (void)fprintf(w->out, "(%s", operator);
    code_expression(w, of);
    (void)fputc(')', w->out);
}

/* Writes "elapsed >=" the time. */
static void write_after(const struct code_writer *w, const struct expression_node *n)
{
    (void)fputc('(', w->out);
    code_expression(w, n->arguments[1]);
    (void)fputs(operators[EXPRESSION_GREATER_EQUAL], w->out);
    code_expression(w, n->arguments[0]);
    (void)fputc(')', w->out);
}

static void write_function(const struct code_writer *w, const struct expression_node *n)
{
    const struct code_style *s = w->style;
    char name[CODE_NAME_MAX];
    if (s->words[n->kind]) {
        (void)snprintf(name, sizeof name, "%s", s->words[n->kind]);
    } else {
        (void)snprintf(name, sizeof name, "%s%s", s->prefix,
                       expression_function((enum expression_kind)n->kind)->name);
    }
    write_call(w, name, n);
}

static void write_name(const struct code_writer *w, const struct expression_node *n, bool asks)
{
    const struct expression_name *name = &w->pool->names[n->name];
    if (!name->constant) {
        w->name(w->context, w->out, n->name, asks);
    } else if (asks || name->type == EXPRESSION_TRUTH) {
        (void)fputs(w->style->truths[asks || name->value > 0.0], w->out);
    } else {
        code_number(w->out, w->style, name->value);
    }
}

void code_expression(const struct code_writer *w, uint16_t root)
{
    const struct expression_node *n = &w->pool->nodes[root];
    const struct code_style *s = w->style;
    switch (n->kind) {
    case EXPRESSION_CONSTANT:
        code_number(w->out, s, n->number);
        break;
    case EXPRESSION_VALUE:
        (void)fputs(s->truths[n->number > 0.0], w->out);
        break;
    case EXPRESSION_NAME:
        write_name(w, n, false);
        break;
    case EXPRESSION_DEFINED:
        write_name(w, &w->pool->nodes[n->arguments[0]], true);
        break;
    case EXPRESSION_NEGATE:
        write_before(w, "-", n->arguments[0]);
        break;
    case EXPRESSION_NOT:
        write_before(w, s->no, n->arguments[0]);
        break;
    case EXPRESSION_IF:
        write_choice(w, n);
        break;
    case EXPRESSION_AFTER:
        write_after(w, n);
        break;
    default:
        if (n->kind >= EXPRESSION_ABS || s->words[n->kind]) {
            write_function(w, n);
        } else {
            write_between(w, n, operator_of(s, n->kind));
        }
        break;
    }
}

/* ---- names, comments, texts ---------------------------------------------------------- */

static bool is_used_name(const struct code_names *names, const char *name)
{
    for (size_t i = 0; names->words && names->words[i]; i++) {
        if (strcmp(names->words[i], name) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

const char *code_identifier(struct code_names *names, const char *text)
{
    enum { ROOM = CODE_NAME_MAX - 5 }; /* leaves room for a number after the name */
    assert(names->count < COUNT(names->names));
    char *name = names->names[names->count];
    size_t n = 0;
    if (!is_letter(text[0])) {
        name[n++] = '_';
    }
    for (; *text && n < ROOM; text++) {
        name[n++] = is_letter(*text) || (*text >= '0' && *text <= '9') ? *text : '_';
    }
    (void)snprintf(name + n, CODE_NAME_MAX - n, "%s", "");
    for (unsigned i = 1; is_used_name(names, name); i++) {
        (void)snprintf(name + n, CODE_NAME_MAX - n, i == 1 ? "_" : "_%u", i);
    }
    names->count++;
    return name;
}

void code_comment(FILE *out, const char *text)
{
    for (; *text; text++) {
        const bool star =
            (text[0] == '*' && text[1] == '/') || (text[0] == '/' && text[1] == '*');
        (void)fputc((unsigned char)*text < ' ' || *text == '\\' ? ' ' : *text, out);
        (void)fputs(star ? " " : "", out);
    }
}

void code_string(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            (void)fputc('\\', out);
        }
        (void)fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
    (void)fputc('"', out);
}
