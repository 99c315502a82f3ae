/* base/expression/expression_print.c - an expression tree as text for people, which
 * expression_parse() reads back.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/expression/expression.h"
#include "base/numbers/number.h"

struct printer {
    const struct expression_pool *pool;
    char *out;
    size_t size, used; /* bytes; used counts what did not fit, too */
    bool wide, tex;
};

/* Binding strength of a kind, and its sign. Kinds that are not in the table are printed in a
 * form of their own. */
enum { LOOSE = 0, COMPARISON = 4, MINUS = 7, POWER = 8, ATOM = 9 };

static const struct {
    const char *sign;
    int binds;
} signs[EXPRESSION_KIND_COUNT] = {
    [EXPRESSION_NEGATE] = {"-", MINUS},
    [EXPRESSION_NOT] = {"!", 3},
    [EXPRESSION_OR] = {" || ", 1},
    [EXPRESSION_AND] = {" && ", 2},
    [EXPRESSION_EQUAL] = {" == ", COMPARISON},
    [EXPRESSION_UNEQUAL] = {" != ", COMPARISON},
    [EXPRESSION_LESS] = {" < ", COMPARISON},
    [EXPRESSION_LESS_EQUAL] = {" <= ", COMPARISON},
    [EXPRESSION_GREATER] = {" > ", COMPARISON},
    [EXPRESSION_GREATER_EQUAL] = {" >= ", COMPARISON},
    [EXPRESSION_ADD] = {" + ", 5},
    [EXPRESSION_SUBTRACT] = {" - ", 5},
    [EXPRESSION_MULTIPLY] = {"*", 6},
    [EXPRESSION_DIVIDE] = {"/", 6},
    [EXPRESSION_MODULO] = {" % ", 6},
    [EXPRESSION_POWER] = {"^", POWER},
};

/* TeX of two-sided kinds; those without have a sign of the table above, or " \\, ". */
static const struct {
    const char *open, *between, *close;
} tex_forms[EXPRESSION_KIND_COUNT] = {
    [EXPRESSION_DIVIDE] = {"\\frac{", "}{", "}"}, [EXPRESSION_POWER] = {"", "^{", "}"}};

static const char *sign_text(const struct printer *p, uint8_t kind)
{
    return p->tex && kind == EXPRESSION_MULTIPLY    ? " \\, "
           : p->wide && kind == EXPRESSION_MULTIPLY ? " * "
           : p->wide && kind == EXPRESSION_DIVIDE   ? " / "
                                                    : signs[kind].sign;
}

static void append_text(struct printer *p, const char *text)
{
    const size_t n = strlen(text);
    if (p->used < p->size) {
        const size_t room = p->size - p->used;
        memcpy(p->out + p->used, text, n < room ? n : room);
    }
    p->used += n;
}

/* Prints tau_u' as \dot{\mathrm{tau}_{u}}. */
static void append_name(struct printer *p, const char *name)
{
    const size_t bytes = strlen(name);
    const bool rate = bytes > 0 && name[bytes - 1] == '\'';
    const size_t n = bytes - (rate ? 1 : 0);
    const size_t head = strcspn(name, "_0123456789'");
    char text[EXPRESSION_NAME_MAX + 1];
    if (!p->tex) {
        append_text(p, name);
        return;
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)head, name);
    append_text(p, rate ? "\\dot{" : "");
    append_text(p, head > 1 ? "\\mathrm{" : "");
    append_text(p, text);
    append_text(p, head > 1 ? "}" : "");
    append_text(p, head < n ? "_{" : "");
    for (size_t i = head + (name[head] == '_' ? 1 : 0); i < n; i++) {
        append_text(p, name[i] == '_' ? "\\_" : (const char[]){name[i], '\0'});
    }
    append_text(p, head < n ? "}" : "");
    append_text(p, rate ? "}" : "");
}

/* Prints as few digits as suffice, and whole numbers without an exponent. */
static void append_number(struct printer *p, double number)
{
    char text[NUMBER_SHORTEST_MAX];
    if (fabs(number) < 1e15 && !(floor(number) < number)) {
        (void)snprintf(text, sizeof text, "%.0f", number);
    } else {
        number_write_shortest(number, text);
    }
    append_text(p, text);
}

static void append_node(struct printer *p, uint16_t node, int least);

static void append_call(struct printer *p, const struct expression_node *n)
{
    const struct expression_function *f = expression_function((enum expression_kind)n->kind);
    const bool bars = p->tex && n->kind == EXPRESSION_ABS;
    append_text(p, p->tex && !bars ? "\\operatorname{" : "");
    append_text(p, bars ? "" : f->name);
    append_text(p, bars ? "\\left|" : p->tex ? "}\\left(" : "(");
    for (size_t i = 0; i < f->arguments; i++) {
        append_text(p, i == 0 ? "" : ", ");
        append_node(p, n->arguments[i], LOOSE);
    }
    append_text(p, bars ? "\\right|" : p->tex ? "\\right)" : ")");
}

static void append_unary(struct printer *p, const struct expression_node *n)
{
    const uint8_t of = p->pool->nodes[n->arguments[0]].kind;
    const bool atom = of == EXPRESSION_NAME || of == EXPRESSION_VALUE || of >= EXPRESSION_ABS;
    append_text(p, signs[n->kind].sign);
    if (n->kind == EXPRESSION_NOT && !atom) {
        append_text(p, "(");
        append_node(p, n->arguments[0], LOOSE);
        append_text(p, ")");
        return;
    }
    append_node(p, n->arguments[0], MINUS);
}

static void append_binary(struct printer *p, const struct expression_node *n)
{
    const int binds = signs[n->kind].binds;
    const bool power = n->kind == EXPRESSION_POWER;
    const bool plain_not = p->wide && binds == COMPARISON &&
                           p->pool->nodes[n->arguments[1]].kind == EXPRESSION_NOT;
    if (p->tex && tex_forms[n->kind].between) {
        append_text(p, tex_forms[n->kind].open);
        append_node(p, n->arguments[0], power ? ATOM : LOOSE);
        append_text(p, tex_forms[n->kind].between);
        append_node(p, n->arguments[1], LOOSE);
        append_text(p, tex_forms[n->kind].close);
        return;
    }
    append_node(p, n->arguments[0], power || binds == COMPARISON ? binds + 1 : binds);
    append_text(p, sign_text(p, n->kind));
    append_node(p, n->arguments[1],
                plain_not ? LOOSE
                : !power  ? binds + 1
                : p->wide ? POWER
                          : MINUS);
}

/* Prints the node in brackets if it binds less strongly than least. */
static void append_node(struct printer *p, uint16_t node, int least)
{
    const struct expression_node *n = &p->pool->nodes[node];
    const bool negative = n->kind == EXPRESSION_CONSTANT && signbit(n->number);
    const bool own = !signs[n->kind].sign || (p->tex && tex_forms[n->kind].between);
    const int binds = negative ? MINUS : own ? ATOM : signs[n->kind].binds;
    if (binds < least) {
        append_text(p, p->tex ? "\\left(" : "(");
    }
    if (n->kind == EXPRESSION_CONSTANT) {
        append_number(p, n->number);
    } else if (n->kind == EXPRESSION_VALUE) {
        append_text(p, n->number > 0.0 ? "true" : "false");
    } else if (n->kind == EXPRESSION_NAME) {
        append_name(p, p->pool->names[n->name].text);
    } else if (n->kind >= EXPRESSION_ABS) {
        append_call(p, n);
    } else if (n->kind == EXPRESSION_NEGATE || n->kind == EXPRESSION_NOT) {
        append_unary(p, n);
    } else {
        append_binary(p, n);
    }
    if (binds < least) {
        append_text(p, p->tex ? "\\right)" : ")");
    }
}

static size_t print_root(struct printer *p, uint16_t root)
{
    append_node(p, root, LOOSE);
    if (p->size > 0) {
        p->out[p->used < p->size ? p->used : p->size - 1] = '\0';
    }
    return p->used;
}

size_t expression_print(const struct expression_pool *pool, uint16_t root, char *out,
                        size_t size)
{
    return print_root(&(struct printer){.pool = pool, .out = out, .size = size}, root);
}

size_t expression_print_wide(const struct expression_pool *pool, uint16_t root, char *out,
                             size_t size)
{
    return print_root(&(struct printer){.pool = pool, .out = out, .size = size, .wide = true},
                      root);
}

size_t expression_print_tex(const struct expression_pool *pool, uint16_t root, char *out,
                            size_t size)
{
    return print_root(&(struct printer){.pool = pool, .out = out, .size = size, .tex = true},
                      root);
}
