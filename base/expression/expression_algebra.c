#include "base/expression/expression_algebra.h"

#include <stdio.h>

/* ---- sums and products without zeros and ones ---- */

uint16_t expression_negate(struct expression_pool *pool, uint16_t a)
{
    const struct expression_node *n = &pool->nodes[a];
    if (a == 0) {
        return 0;
    }
    if (n->kind == EXPRESSION_CONSTANT) {
        return expression_number(pool, -n->number);
    }
    return n->kind == EXPRESSION_NEGATE ? n->arguments[0]
                                        : expression_make(pool, EXPRESSION_NEGATE, a, 0, 0);
}

uint16_t expression_add(struct expression_pool *pool, uint16_t a, uint16_t b)
{
    return a == 0 ? b : b == 0 ? a : expression_make(pool, EXPRESSION_ADD, a, b, 0);
}

uint16_t expression_subtract(struct expression_pool *pool, uint16_t a, uint16_t b)
{
    return b == 0   ? a
           : a == 0 ? expression_negate(pool, b)
                    : expression_make(pool, EXPRESSION_SUBTRACT, a, b, 0);
}

static uint16_t multiply_nodes(struct expression_pool *pool, uint16_t a, uint16_t b)
{
    return a == 0 || b == 0               ? 0
           : expression_is(pool, a, 1.0)  ? b
           : expression_is(pool, b, 1.0)  ? a
           : expression_is(pool, a, -1.0) ? expression_negate(pool, b)
                                          : expression_make(pool, EXPRESSION_MULTIPLY, a, b, 0);
}

uint16_t expression_divide(struct expression_pool *pool, uint16_t a, uint16_t b)
{
    return a == 0                        ? 0
           : expression_is(pool, b, 1.0) ? a
                                         : expression_make(pool, EXPRESSION_DIVIDE, a, b, 0);
}

/* ---- factors of decision variables ---- */

struct splitter {
    struct expression_pool *pool;
    const uint8_t *variables;
    size_t count;
    const char *what;
    uint64_t mask; /* bit mask of the decision variables */
    struct err *err;
};

/* Result of a split: factors [count] and the rest. */
struct split {
    uint16_t factors[EXPRESSION_NAMES_MAX];
    uint16_t rest;
};

static const char *first_unknown(const struct splitter *s, uint16_t node)
{
    const uint64_t reads = s->pool->nodes[node].reads & s->mask;
    size_t i = 0;
    while (!(reads >> i & 1U)) {
        i++;
    }
    return s->pool->names[i].text;
}

static bool has_unknown(const struct splitter *s, uint16_t node)
{
    return (s->pool->nodes[node].reads & s->mask) != 0;
}

static enum status refuse_term(const struct splitter *s, uint16_t node)
{
    char text[96];
    (void)expression_print(s->pool, node, text, sizeof text);
    return err_set_at(
        s->err, STATUS_E_PARSE, FAULT_NONLINEAR_TERM, "", 0, s->pool->nodes[node].character,
        "%s inside '%s': it does not enter as a factor", first_unknown(s, node), text);
}

static enum status split_node(const struct splitter *s, uint16_t node, struct split *out);

/* Splits both sides of a sum or difference. */
static enum status split_sum(const struct splitter *s, const struct expression_node *n,
                             struct split *out)
{
    struct split right;
    enum status st = split_node(s, n->arguments[0], out);
    st = st == STATUS_OK ? split_node(s, n->arguments[1], &right) : st;
    if (st != STATUS_OK) {
        return st;
    }
    uint16_t (*join)(struct expression_pool *, uint16_t, uint16_t) =
        n->kind == EXPRESSION_ADD ? expression_add : expression_subtract;
    for (size_t i = 0; i < s->count; i++) {
        out->factors[i] = join(s->pool, out->factors[i], right.factors[i]);
    }
    out->rest = join(s->pool, out->rest, right.rest);
    return STATUS_OK;
}

/* If only one side has decision variables, the other side multiplies each factor. Both orders
 * of the product are preserved. */
static enum status split_product(const struct splitter *s, uint16_t node, struct split *out)
{
    const struct expression_node n = s->pool->nodes[node];
    const bool on_left = has_unknown(s, n.arguments[0]);
    const uint16_t other = n.arguments[on_left ? 1 : 0];
    if (on_left && has_unknown(s, n.arguments[1])) {
        return n.kind == EXPRESSION_DIVIDE
                   ? refuse_term(s, node)
                   : err_set_at(s->err, STATUS_E_PARSE, FAULT_NONLINEAR_TERM, "", 0,
                                n.character, "%s times %s: two %s multiplied",
                                first_unknown(s, n.arguments[0]),
                                first_unknown(s, n.arguments[1]), s->what);
    }
    if (!on_left && n.kind == EXPRESSION_DIVIDE) {
        return refuse_term(s, node);
    }
    const enum status st = split_node(s, n.arguments[on_left ? 0 : 1], out);
    for (size_t i = 0; i <= s->count && st == STATUS_OK; i++) {
        uint16_t *of = i < s->count ? &out->factors[i] : &out->rest;
        *of = n.kind == EXPRESSION_DIVIDE ? expression_divide(s->pool, *of, other)
              : on_left                   ? multiply_nodes(s->pool, *of, other)
                                          : multiply_nodes(s->pool, other, *of);
    }
    return st;
}

static enum status split_node(const struct splitter *s, uint16_t node, struct split *out)
{
    const struct expression_node *n = &s->pool->nodes[node];
    *out = (struct split){.rest = 0};
    if (!has_unknown(s, node)) {
        out->rest = node;
        return STATUS_OK;
    }
    switch (n->kind) {
    case EXPRESSION_NAME:
        for (size_t i = 0; i < s->count; i++) {
            out->factors[i] = s->variables[i] == n->name ? expression_number(s->pool, 1.0) : 0;
        }
        return STATUS_OK;
    case EXPRESSION_NEGATE: {
        const enum status st = split_node(s, n->arguments[0], out);
        for (size_t i = 0; i < s->count && st == STATUS_OK; i++) {
            out->factors[i] = expression_negate(s->pool, out->factors[i]);
        }
        out->rest = st == STATUS_OK ? expression_negate(s->pool, out->rest) : 0;
        return st;
    }
    case EXPRESSION_ADD:
    case EXPRESSION_SUBTRACT:
        return split_sum(s, n, out);
    case EXPRESSION_MULTIPLY:
    case EXPRESSION_DIVIDE:
        return split_product(s, node, out);
    /* Other kinds are not taken apart. */
    default:
        return refuse_term(s, node);
    }
}

enum status expression_split(struct expression_pool *pool, uint16_t node,
                             const uint8_t *variables, size_t count, const char *what,
                             uint16_t *factors, uint16_t *rest, struct err *err)
{
    struct splitter s = {pool, variables, count, what, 0, err};
    struct split split;
    for (size_t i = 0; i < count; i++) {
        s.mask |= UINT64_C(1) << variables[i];
    }
    const enum status st = split_node(&s, node, &split);
    for (size_t i = 0; i < count && st == STATUS_OK; i++) {
        factors[i] = split.factors[i];
    }
    if (st == STATUS_OK) {
        *rest = split.rest;
    }
    return st;
}

/* ---- derivatives ---- */

struct deriver {
    struct expression_pool *pool;
    uint8_t name;
    struct err *err;
    enum status status;
};

static uint16_t refuse_derivative(struct deriver *d, uint16_t node)
{
    char text[96];
    (void)expression_print(d->pool, node, text, sizeof text);
    if (d->status == STATUS_OK) {
        d->status = err_set_at(d->err, STATUS_E_PARSE, FAULT_NO_DERIVATIVE, "", 0,
                               d->pool->nodes[node].character, "no derivative of '%s' by %s",
                               text, d->pool->names[d->name].text);
    }
    return 0;
}

static uint16_t derive_node(struct deriver *d, uint16_t node);

static uint16_t call_unary(struct deriver *d, enum expression_kind kind, uint16_t a)
{
    return expression_make(d->pool, kind, a, 0, 0);
}

/* For a constant power, the derivative of a^b is b a^(b-1) a'. */
static uint16_t derive_power(struct deriver *d, uint16_t node)
{
    const struct expression_node n = d->pool->nodes[node];
    const uint16_t a = n.arguments[0];
    const uint16_t b = n.arguments[1];
    if (d->pool->nodes[b].reads >> d->name & 1U) {
        return refuse_derivative(d, node);
    }
    const uint16_t one = expression_number(d->pool, 1.0);
    const uint16_t less = d->pool->nodes[b].kind == EXPRESSION_CONSTANT
                              ? expression_number(d->pool, d->pool->nodes[b].number - 1.0)
                              : expression_subtract(d->pool, b, one);
    const uint16_t power = less == 0 ? one
                           : expression_is(d->pool, less, 1.0)
                               ? a
                               : expression_make(d->pool, EXPRESSION_POWER, a, less, 0);
    return multiply_nodes(d->pool, multiply_nodes(d->pool, b, derive_node(d, a)), power);
}

static uint16_t derive_binary(struct deriver *d, uint16_t node)
{
    struct expression_pool *pool = d->pool;
    const struct expression_node n = pool->nodes[node];
    const uint16_t a = n.arguments[0];
    const uint16_t b = n.arguments[1];
    if (n.kind == EXPRESSION_POWER) {
        return derive_power(d, node);
    }
    if (n.kind == EXPRESSION_MODULO && !(pool->nodes[b].reads >> d->name & 1U)) {
        return derive_node(d, a);
    }
    const uint16_t da = derive_node(d, a);
    const uint16_t db = derive_node(d, b);
    if (n.kind == EXPRESSION_ADD) {
        return expression_add(pool, da, db);
    }
    if (n.kind == EXPRESSION_SUBTRACT) {
        return expression_subtract(pool, da, db);
    }
    if (n.kind == EXPRESSION_MULTIPLY) {
        return expression_add(pool, multiply_nodes(pool, da, b), multiply_nodes(pool, a, db));
    }
    if (n.kind == EXPRESSION_DIVIDE) {
        const uint16_t subtracted = expression_divide(pool, multiply_nodes(pool, a, db),
                                                      db == 0 ? 0 : multiply_nodes(pool, b, b));
        return expression_subtract(pool, expression_divide(pool, da, b), subtracted);
    }
    return refuse_derivative(d, node);
}

/* Outer derivative of a function with one argument: the factor of the argument's derivative. */
static uint16_t derive_outside(struct deriver *d, uint16_t node)
{
    struct expression_pool *pool = d->pool;
    const uint16_t a = pool->nodes[node].arguments[0];
    const uint16_t one = expression_number(pool, 1.0);
    switch (pool->nodes[node].kind) {
    case EXPRESSION_ABS:
        return call_unary(d, EXPRESSION_SIGN, a);
    case EXPRESSION_SQRT:
        return expression_divide(pool, expression_number(pool, 0.5), node);
    case EXPRESSION_SIN:
        return call_unary(d, EXPRESSION_COS, a);
    case EXPRESSION_COS:
        return expression_negate(pool, call_unary(d, EXPRESSION_SIN, a));
    case EXPRESSION_TAN:
        return expression_add(pool, one, multiply_nodes(pool, node, node));
    case EXPRESSION_ATAN:
        return expression_divide(pool, one,
                                 expression_add(pool, one, multiply_nodes(pool, a, a)));
    case EXPRESSION_EXP:
        return node;
    case EXPRESSION_LOG:
        return expression_divide(pool, one, a);
    case EXPRESSION_TANH:
        return expression_subtract(pool, one, multiply_nodes(pool, node, node));
    case EXPRESSION_WRAP:
        return one;
    case EXPRESSION_SIGN:
    case EXPRESSION_FLOOR:
    case EXPRESSION_CEIL:
    case EXPRESSION_ROUND:
        return 0;
    /* Functions with more arguments are not handled here. */
    default:
        return refuse_derivative(d, node);
    }
}

/* Derivative of atan2 and hypot with arguments a (y) and b (x). */
static uint16_t derive_plane(struct deriver *d, uint16_t node)
{
    struct expression_pool *pool = d->pool;
    const struct expression_node n = pool->nodes[node];
    const uint16_t a = n.arguments[0];
    const uint16_t b = n.arguments[1];
    const uint16_t da = derive_node(d, a);
    const uint16_t db = derive_node(d, b);
    if (n.kind == EXPRESSION_HYPOT) {
        return expression_divide(
            pool,
            expression_add(pool, multiply_nodes(pool, a, da), multiply_nodes(pool, b, db)),
            node);
    }
    return expression_divide(
        pool,
        expression_subtract(pool, multiply_nodes(pool, b, da), multiply_nodes(pool, a, db)),
        expression_add(pool, multiply_nodes(pool, a, a), multiply_nodes(pool, b, b)));
}

static uint16_t derive_choice(struct deriver *d, uint16_t node)
{
    struct expression_pool *pool = d->pool;
    const struct expression_node n = pool->nodes[node];
    const uint16_t *a = n.arguments;
    const uint16_t first = n.kind == EXPRESSION_IF ? 0 : derive_node(d, a[0]);
    const uint16_t second = derive_node(d, a[1]);
    const uint16_t third =
        n.kind == EXPRESSION_MIN || n.kind == EXPRESSION_MAX ? 0 : derive_node(d, a[2]);
    if (n.kind == EXPRESSION_IF) {
        return expression_make(pool, EXPRESSION_IF, a[0], second, third);
    }
    const enum expression_kind low =
        n.kind == EXPRESSION_MAX ? EXPRESSION_GREATER : EXPRESSION_LESS;
    if (n.kind != EXPRESSION_CLAMP) {
        return expression_make(pool, EXPRESSION_IF, expression_make(pool, low, a[1], a[0], 0),
                               second, first);
    }
    const uint16_t above =
        expression_make(pool, EXPRESSION_IF,
                        expression_make(pool, EXPRESSION_GREATER, a[0], a[2], 0), third, first);
    return expression_make(pool, EXPRESSION_IF, expression_make(pool, low, a[0], a[1], 0),
                           second, above);
}

static uint16_t derive_node(struct deriver *d, uint16_t node)
{
    const struct expression_node n = d->pool->nodes[node];
    if (!(n.reads >> d->name & 1U) || d->status != STATUS_OK) {
        return 0;
    }
    if (d->pool->full) {
        return 0;
    }
    if (n.kind == EXPRESSION_NAME) {
        return expression_number(d->pool, 1.0);
    }
    if (n.kind == EXPRESSION_NEGATE) {
        return expression_negate(d->pool, derive_node(d, n.arguments[0]));
    }
    if (n.kind >= EXPRESSION_ADD && n.kind <= EXPRESSION_POWER) {
        return derive_binary(d, node);
    }
    if (n.kind == EXPRESSION_ATAN2 || n.kind == EXPRESSION_HYPOT) {
        return derive_plane(d, node);
    }
    if (n.kind == EXPRESSION_MIN || n.kind == EXPRESSION_MAX || n.kind == EXPRESSION_CLAMP ||
        n.kind == EXPRESSION_IF) {
        return derive_choice(d, node);
    }
    if (n.kind < EXPRESSION_ABS || n.kind > EXPRESSION_WRAP) {
        return refuse_derivative(d, node);
    }
    const uint16_t inside = derive_node(d, n.arguments[0]);
    return multiply_nodes(d->pool, derive_outside(d, node), inside);
}

enum status expression_differentiate(struct expression_pool *pool, uint16_t node, uint8_t name,
                                     uint16_t *out, struct err *err)
{
    struct deriver d = {.pool = pool, .name = name, .err = err};
    const uint16_t root = derive_node(&d, node);
    if (d.status == STATUS_OK) {
        *out = root;
    }
    return d.status;
}
