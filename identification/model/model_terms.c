/* identification/model/model_terms.c - takes equations apart into parameters, rates and known
 * terms.
 */
#include "base/expression/expression_algebra.h"
#include "base/expression/expression_program.h"
#include "identification/model/model_program.h"

static enum status blame_node(const struct model_terms *t, uint16_t node, struct err *err,
                              enum fault fault, const char *what)
{
    return err_set_at(err, STATUS_E_PARSE, fault, "", 0, t->pool->nodes[node].character, "%s",
                      what);
}

/* Splits a sum into the terms that contain one of these names, and the others. */
static void part_terms(struct expression_pool *pool, uint16_t node, uint64_t names,
                       uint16_t *with, uint16_t *without)
{
    const struct expression_node n = pool->nodes[node];
    uint16_t left[2] = {0, 0};
    uint16_t right[2] = {0, 0};
    const bool sum = n.kind == EXPRESSION_ADD || n.kind == EXPRESSION_SUBTRACT;
    *with = n.reads & names ? node : 0;
    *without = n.reads & names ? 0 : node;
    if (!(n.reads & names) || (!sum && n.kind != EXPRESSION_NEGATE)) {
        return;
    }
    part_terms(pool, n.arguments[0], names, &left[0], &left[1]);
    if (n.kind == EXPRESSION_NEGATE) {
        *with = expression_negate(pool, left[0]);
        *without = expression_negate(pool, left[1]);
        return;
    }
    uint16_t (*join)(struct expression_pool *, uint16_t, uint16_t) =
        n.kind == EXPRESSION_ADD ? expression_add : expression_subtract;
    part_terms(pool, n.arguments[1], names, &right[0], &right[1]);
    *with = join(pool, left[0], right[0]);
    *without = join(pool, left[1], right[1]);
}

/* Rates must be linear: splits off their factors, which must not contain a rate. */
static enum status split_rates(struct model_terms *t, uint16_t node, uint16_t *factors,
                               uint16_t *rest, struct err *err)
{
    uint8_t rates[MODEL_AXES_MAX];
    for (size_t j = 0; j < t->names.axes; j++) {
        rates[j] = (uint8_t)(t->names.nu_dot + j);
    }
    return expression_split(t->pool, node, rates, t->names.axes, "rates", factors, rest, err);
}

/* Splits off the factors of the parameters. Terms without a parameter move to the right
 * side. */
static enum status split_whole(struct model_terms *t, size_t i, uint16_t whole, struct err *err)
{
    uint8_t variables[MODEL_PARAMETERS_MAX];
    uint16_t rest = 0;
    for (size_t k = 0; k < t->names.parameters; k++) {
        variables[k] = (uint8_t)(t->names.parameter + k);
    }
    t->whole[i] = whole;
    const enum status st = expression_split(t->pool, whole, variables, t->names.parameters,
                                            "unknowns", t->phi[i], &rest, err);
    if (st == STATUS_OK) {
        part_terms(t->pool, expression_negate(t->pool, rest), model_terms_efforts(t),
                   &t->driven[i], &t->known[i]);
    }
    return st;
}

/* Returns whether an effort occurs in a row of equation i. */
static bool reads_effort(const struct model_terms *t, size_t i)
{
    bool reads = false;
    for (size_t k = 0; k < t->names.parameters; k++) {
        reads = reads || (model_terms_reads(t, t->phi[i][k]) & model_terms_efforts(t));
    }
    return reads;
}

static bool is_name(const struct model_terms *t, uint16_t node, size_t name)
{
    const struct expression_node *n = &t->pool->nodes[node];
    return n->kind == EXPRESSION_NAME && n->name == name;
}

/* Computes left - right, or right - left if turned. */
static enum status subtract_sides(struct model_terms *t, size_t i, uint16_t root, bool turned,
                                  struct err *err)
{
    const struct expression_node equation = t->pool->nodes[root];
    const uint16_t *sides = equation.arguments;
    const enum status st =
        split_whole(t, i, expression_subtract(t->pool, sides[turned], sides[!turned]), err);
    t->alone[i] =
        st == STATUS_OK && !reads_effort(t, i) && is_name(t, t->driven[i], t->names.effort + i);
    return st;
}

/* Evaluates a factor with all names equal to one, to find its sign. */
static double try_value(const struct expression_pool *pool, uint16_t node)
{
    const struct expression_node *n = &pool->nodes[node];
    double value[EXPRESSION_ARGUMENTS_MAX] = {0.0};
    if (n->kind == EXPRESSION_CONSTANT || n->kind == EXPRESSION_VALUE) {
        return n->number;
    }
    if (n->kind == EXPRESSION_NAME) {
        return pool->names[n->name].constant ? pool->names[n->name].value : 1.0;
    }
    for (size_t k = 0; k < expression_arguments((enum expression_kind)n->kind); k++) {
        value[k] = try_value(pool, n->arguments[k]);
    }
    return expression_apply((enum expression_kind)n->kind, value[0], value[1], value[2]);
}

/* Orients the equation: its effort stands on the right, or without an effort its rate on the
 * left. */
static enum status turn_equation(struct model_terms *t, size_t i, uint16_t root,
                                 struct err *err)
{
    uint16_t factors[MODEL_AXES_MAX];
    uint16_t rest = 0;
    bool moves = false;
    enum status st = subtract_sides(t, i, root, false, err);
    if (st == STATUS_OK && !t->alone[i]) {
        st = subtract_sides(t, i, root, true, err);
    }
    st = st == STATUS_OK ? split_rates(t, t->whole[i], factors, &rest, err) : st;
    for (size_t j = 0; j < t->names.axes && st == STATUS_OK; j++) {
        moves = moves || factors[j] != 0;
    }
    if (st == STATUS_OK && !moves) {
        return blame_node(t, root, err, FAULT_BAD_EQUATION,
                          "there is no rate in it, such as w' is that of w");
    }
    return st == STATUS_OK && !t->alone[i] && !(try_value(t->pool, factors[i]) > 0.0)
               ? subtract_sides(t, i, root, false, err)
               : st;
}

/* Removes the effort that is alone in the equation. */
static enum status remove_effort(struct model_terms *t, size_t i, uint16_t root,
                                 struct err *err)
{
    const struct expression_node equation = t->pool->nodes[root];
    const uint8_t effort = (uint8_t)(t->names.effort + i);
    uint16_t factor = 0;
    if (is_name(t, equation.arguments[1], effort)) {
        t->side[i] = equation.arguments[0];
        return STATUS_OK;
    }
    return expression_split(t->pool, t->whole[i], &effort, 1, "efforts", &factor, &t->side[i],
                            err);
}

enum status model_terms_equation(struct model_terms *t, size_t i, uint16_t root,
                                 struct err *err)
{
    uint16_t factors[MODEL_AXES_MAX];
    if (t->pool->nodes[root].kind != EXPRESSION_EQUAL) {
        return blame_node(t, root, err, FAULT_BAD_EQUATION,
                          "expected an equation, left side = right side");
    }
    enum status st = turn_equation(t, i, root, err);
    t->side[i] = t->whole[i];
    if (st == STATUS_OK && t->alone[i]) {
        st = remove_effort(t, i, root, err);
    }
    for (size_t k = 0; k < t->names.parameters && st == STATUS_OK; k++) {
        st = split_rates(t, t->phi[i][k], factors, &t->still[i][k], err);
    }
    if (st == STATUS_OK && t->pool->full) {
        return blame_node(t, root, err, FAULT_TOO_LONG,
                          "all of the equations together are too long");
    }
    return st;
}

enum status model_terms_finish(struct model_terms *t, struct err *err)
{
    enum status st = STATUS_OK;
    t->curved = false;
    for (size_t i = 0; i < t->names.axes; i++) {
        t->curved = t->curved || !t->alone[i];
    }
    for (size_t i = 0; i < t->names.axes && st == STATUS_OK; i++) {
        t->side[i] = t->curved ? t->whole[i] : t->side[i];
        st = split_rates(t, t->side[i], t->inertia[i], &t->rest[i], err);
    }
    return st;
}

uint32_t model_terms_idle(const struct model_terms *t)
{
    uint32_t idle = 0;
    for (size_t j = 0; j < t->names.axes; j++) {
        bool used = false;
        for (size_t i = 0; i < t->names.axes; i++) {
            used = used || (model_terms_reads(t, t->whole[i]) >> (t->names.effort + j) & 1U);
        }
        idle |= used ? 0 : UINT32_C(1) << j;
    }
    return idle;
}

uint32_t model_terms_loose(const struct model_terms *t)
{
    uint32_t loose = (UINT32_C(1) << t->names.axes) - 1;
    uint32_t seen = 0; /* bits of parameters */
    for (size_t round = 0; round < t->names.axes; round++) {
        for (size_t i = 0; i < t->names.axes; i++) {
            uint32_t own = 0;
            for (size_t k = 0; k < t->names.parameters; k++) {
                own |= t->phi[i][k] != 0 ? UINT32_C(1) << k : 0;
            }
            if (t->known[i] != 0 || t->driven[i] != 0 || (own & seen)) {
                seen |= own;
                loose &= ~(UINT32_C(1) << i);
            }
        }
    }
    return loose;
}

uint32_t model_terms_unused(const struct model_terms *t)
{
    uint32_t unused = 0;
    for (size_t k = 0; k < t->names.parameters; k++) {
        bool used = false;
        for (size_t i = 0; i < t->names.axes; i++) {
            used = used || t->phi[i][k] != 0;
        }
        unused |= used ? 0 : UINT32_C(1) << k;
    }
    return unused;
}
