/* base/expression/expression_types.c - type inference: which parts of an expression are numbers
 * and which are truth values.
 */
#include <stdio.h>

#include "base/expression/expression.h"

struct checker {
    struct expression_pool *pool;
    struct err *err;
    enum status status;
};

static const char *describe_type(enum expression_type type)
{
    return type == EXPRESSION_NUMBER ? "number" : "truth value";
}

static void blame_node(struct checker *c, uint16_t node, const char *what)
{
    if (c->status == STATUS_OK) {
        c->status = err_set_at(c->err, STATUS_E_PARSE, FAULT_TYPE_MISMATCH, "", 0,
                               c->pool->nodes[node].character, "%s", what);
    }
}

static enum expression_type expect_type(struct checker *c, uint16_t node,
                                        enum expression_type want, enum expression_type got)
{
    if (want != EXPRESSION_ANY && got != EXPRESSION_ANY && want != got) {
        blame_node(c, node,
                   want == EXPRESSION_TRUTH
                       ? "a condition is wanted, this is a number: write x != 0"
                       : "a number is wanted, this is a condition: write if(c, 1, 0)");
    }
    return got;
}

static enum expression_type check_name(struct checker *c, uint16_t node,
                                       enum expression_type want)
{
    struct expression_name *name = &c->pool->names[c->pool->nodes[node].name];
    char what[ERR_TEXT_MAX];
    if (name->type == EXPRESSION_ANY) {
        name->type = want;
    } else if (want != EXPRESSION_ANY && name->type != want) {
        (void)snprintf(what, sizeof what,
                       "'%s' is a %s elsewhere, here it would have to be a %s", name->text,
                       describe_type(name->type), describe_type(want));
        blame_node(c, node, what);
    }
    return name->type;
}

static enum expression_type check_node(struct checker *c, uint16_t node,
                                       enum expression_type want);

/* Checks that both sides have the same type, or the other type if nothing else is known. A side
 * is checked twice only to give its names their types. */
static enum expression_type check_alike(struct checker *c, uint16_t left, uint16_t right,
                                        enum expression_type want, enum expression_type other)
{
    const enum expression_type a = check_node(c, left, want);
    const enum expression_type b = check_node(c, right, a);
    const enum expression_type type = b == EXPRESSION_ANY ? other : b;
    if (a == EXPRESSION_ANY && type != EXPRESSION_ANY) {
        (void)check_node(c, left, type);
    }
    if (b == EXPRESSION_ANY && type != EXPRESSION_ANY) {
        (void)check_node(c, right, type);
    }
    return type;
}

static enum expression_type check_node(struct checker *c, uint16_t node,
                                       enum expression_type want)
{
    const struct expression_node *n = &c->pool->nodes[node];
    const enum expression_kind kind = (enum expression_kind)n->kind;
    if (c->status != STATUS_OK) {
        return EXPRESSION_ANY;
    }
    if (kind == EXPRESSION_NAME) {
        return check_name(c, node, want);
    }
    if (kind == EXPRESSION_EQUAL || kind == EXPRESSION_UNEQUAL) {
        (void)check_alike(c, n->arguments[0], n->arguments[1], EXPRESSION_ANY,
                          EXPRESSION_NUMBER);
        return expect_type(c, node, want, EXPRESSION_TRUTH);
    }
    if (kind == EXPRESSION_IF) {
        (void)check_node(c, n->arguments[0], EXPRESSION_TRUTH);
        return check_alike(c, n->arguments[1], n->arguments[2], want, want);
    }
    const bool of_truths =
        kind == EXPRESSION_NOT || kind == EXPRESSION_AND || kind == EXPRESSION_OR;
    for (size_t i = 0; i < expression_arguments(kind) && kind != EXPRESSION_DEFINED; i++) {
        (void)check_node(c, n->arguments[i], of_truths ? EXPRESSION_TRUTH : EXPRESSION_NUMBER);
    }
    const bool is_truth = of_truths || kind == EXPRESSION_VALUE || kind == EXPRESSION_DEFINED ||
                          kind == EXPRESSION_AFTER ||
                          (kind >= EXPRESSION_LESS && kind <= EXPRESSION_GREATER_EQUAL);
    return expect_type(c, node, want, is_truth ? EXPRESSION_TRUTH : EXPRESSION_NUMBER);
}

enum status expression_infer(struct expression_pool *pool, uint16_t root,
                             enum expression_type want, enum expression_type *type,
                             struct err *err)
{
    struct checker c = {.pool = pool, .err = err};
    const enum expression_type found = check_node(&c, root, want);
    if (c.status == STATUS_OK) {
        *type = found;
    }
    return c.status;
}

enum status expression_check(struct expression_pool *pool, uint16_t root,
                             enum expression_type want, struct err *err)
{
    enum expression_type type = EXPRESSION_ANY;
    return expression_infer(pool, root, want, &type, err);
}
