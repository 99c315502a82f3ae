#include "base/expression/expression_program.h"

#include <math.h>
#include <string.h>

#include "base/expression/expression_code.h"

_Static_assert((int)EXPRESSION_FILE <= UINT8_MAX, "registers are named by 8 bits");

/* ---- compiling: values in the order of their computation, each once; then registers ---- */

/* A value is the result of one operation on other values. */
struct value {
    uint8_t operation;
    uint16_t a, b, c; /* argument values, or NONE */
    uint16_t at;      /* as of struct expression_code */
    uint16_t shown;   /* its place in `shown` while it can be used */
    uint16_t last;    /* the last value that uses it */
    uint8_t reg;
};

enum { NONE = UINT16_MAX };

struct expression_compiler {
    const struct expression_pool *pool;
    struct expression_program *program;
    size_t count, shown_count;
    struct value values[EXPRESSION_CODE_MAX];
    /* Values that have been computed here, whichever branches were taken. */
    uint16_t shown[EXPRESSION_CODE_MAX];
    uint16_t of_node[EXPRESSION_NODES_MAX]; /* the value of each node, or NONE */
    bool full;
};

size_t expression_compiler_bytes(void)
{
    return sizeof(struct expression_compiler);
}

static bool is_shown(const struct expression_compiler *c, uint16_t value)
{
    return value != NONE && c->values[value].shown < c->shown_count &&
           c->shown[c->values[value].shown] == value;
}

static bool has_result(uint8_t operation)
{
    return operation != CODE_SKIP_FALSE && operation != CODE_SKIP_TRUE &&
           operation != CODE_STORE;
}

static uint16_t add_value(struct expression_compiler *c, struct value value)
{
    if (has_result(value.operation)) {
        for (size_t i = c->shown_count; i > 0; i--) {
            const struct value *v = &c->values[c->shown[i - 1]];
            if (v->operation == value.operation && v->a == value.a && v->b == value.b &&
                v->c == value.c && v->at == value.at) {
                return c->shown[i - 1];
            }
        }
    }
    if (c->count == EXPRESSION_CODE_MAX) {
        c->full = true;
        return 0;
    }
    value.shown = NONE;
    if (has_result(value.operation)) {
        value.shown = (uint16_t)c->shown_count;
        c->shown[c->shown_count++] = (uint16_t)c->count;
    }
    c->values[c->count] = value;
    return (uint16_t)c->count++;
}

/* Constants are equal if their bits are: minus zero and NaN stay distinct. */
static uint16_t add_constant(struct expression_compiler *c, double number)
{
    struct expression_program *p = c->program;
    size_t i = 0;
    while (i < p->constant_count && memcmp(&p->constants[i], &number, sizeof number) != 0) {
        i++;
    }
    if (i == EXPRESSION_CONSTANTS_MAX) {
        c->full = true;
        return 0;
    }
    if (i == p->constant_count) {
        p->constants[p->constant_count++] = number;
    }
    return add_value(c, (struct value){CODE_CONSTANT, NONE, NONE, NONE, (uint16_t)i, 0, 0, 0});
}

static uint16_t compile_node(struct expression_compiler *c, uint16_t node);

static uint16_t begin_branch(struct expression_compiler *c, uint8_t operation, uint16_t on)
{
    return add_value(c, (struct value){operation, on, NONE, NONE, 0, 0, 0, 0});
}

/* Values from within the branch may not have been computed, so they are forgotten. */
static void end_branch(struct expression_compiler *c, uint16_t skip, size_t shown)
{
    c->shown_count = shown;
    c->values[skip].at = (uint16_t)c->count;
}

static uint16_t compile_choice(struct expression_compiler *c, const struct expression_node *n)
{
    const bool is_or = n->kind == EXPRESSION_OR;
    const uint16_t on = compile_node(c, n->arguments[0]);
    const size_t shown = c->shown_count;
    const uint16_t skip = begin_branch(c, is_or ? CODE_SKIP_TRUE : CODE_SKIP_FALSE, on);
    const uint16_t value = compile_node(c, n->arguments[1]);
    end_branch(c, skip, shown);
    if (is_or || n->kind == EXPRESSION_AND) {
        return add_value(
            c, (struct value){is_or ? CODE_EITHER : CODE_BOTH, on, value, NONE, 0, 0, 0, 0});
    }
    const uint16_t yes = begin_branch(c, CODE_SKIP_TRUE, on);
    const uint16_t no_value = compile_node(c, n->arguments[2]);
    end_branch(c, yes, shown);
    return add_value(c, (struct value){CODE_CHOOSE, on, value, no_value, 0, 0, 0, 0});
}

static bool is_constant(const struct expression_compiler *c, uint16_t value, double *number)
{
    if (value == NONE) {
        return true;
    }
    *number = c->program->constants[c->values[value].at % EXPRESSION_CONSTANTS_MAX];
    return c->values[value].operation == CODE_CONSTANT;
}

static bool is_made_by(const struct expression_compiler *c, uint16_t value, uint8_t operation)
{
    return value != NONE && c->values[value].operation == operation;
}

static bool is_product(const struct expression_compiler *c, uint16_t value)
{
    return is_made_by(c, value, EXPRESSION_MULTIPLY);
}

static struct value make_value(uint8_t operation, uint16_t a, uint16_t b, uint16_t c)
{
    return (struct value){operation, a, b, c, 0, 0, 0, 0};
}

/* Adding a negated value becomes a difference, and the other way round. */
static struct value join_sign(const struct expression_compiler *c, struct value v)
{
    const bool sum = v.operation == EXPRESSION_ADD;
    if (sum && is_made_by(c, v.a, EXPRESSION_NEGATE)) {
        return make_value(EXPRESSION_SUBTRACT, v.b, c->values[v.a].a, NONE);
    }
    if ((sum || v.operation == EXPRESSION_SUBTRACT) && is_made_by(c, v.b, EXPRESSION_NEGATE)) {
        return make_value(sum ? EXPRESSION_SUBTRACT : EXPRESSION_ADD, v.a, c->values[v.b].a,
                          NONE);
    }
    return v;
}

/* Fuses factors into one operation, with the same rounding. */
static struct value join_factors(const struct expression_compiler *c, struct value v)
{
    if (v.operation == EXPRESSION_MULTIPLY && is_made_by(c, v.b, EXPRESSION_ABS)) {
        return make_value(CODE_MULTIPLY_ABS, v.a, c->values[v.b].a, NONE);
    }
    if (v.operation == EXPRESSION_MULTIPLY && is_made_by(c, v.a, EXPRESSION_ABS)) {
        return make_value(CODE_MULTIPLY_ABS, v.b, c->values[v.a].a, NONE);
    }
    if (v.operation == EXPRESSION_MULTIPLY && is_product(c, v.a)) {
        return make_value(CODE_MULTIPLY_TWICE, c->values[v.a].a, c->values[v.a].b, v.b);
    }
    if (v.operation == EXPRESSION_DIVIDE && is_made_by(c, v.a, EXPRESSION_SUBTRACT)) {
        return make_value(CODE_DIVIDE_DIFFERENCE, c->values[v.a].a, c->values[v.a].b, v.b);
    }
    return v;
}

/* Fuses a sum and a product into one operation. The product is dropped if nothing else uses
 * it. */
static struct value join_product(const struct expression_compiler *c, struct value v)
{
    const bool subtracts = v.operation == EXPRESSION_SUBTRACT;
    if (v.operation != EXPRESSION_ADD && !subtracts) {
        return v;
    }
    const uint16_t product = is_product(c, v.b) ? v.b : v.a;
    if (!is_product(c, product)) {
        return v;
    }
    const struct value *of = &c->values[product];
    const uint8_t operation = !subtracts       ? CODE_ADD_PRODUCT
                              : product == v.b ? CODE_SUBTRACT_PRODUCT
                                               : CODE_PRODUCT_SUBTRACT;
    return make_value(operation, of->a, of->b, product == v.b ? v.a : v.b);
}

/* An operation with only constant arguments becomes a constant. */
static uint16_t compile_operation(struct expression_compiler *c,
                                  const struct expression_node *n)
{
    uint16_t values[EXPRESSION_ARGUMENTS_MAX] = {NONE, NONE, NONE};
    double numbers[EXPRESSION_ARGUMENTS_MAX] = {0.0};
    const enum expression_kind kind = (enum expression_kind)n->kind;
    const size_t count = kind == EXPRESSION_AFTER ? 2 : expression_arguments(kind);
    bool constant = true;
    for (size_t i = 0; i < count; i++) {
        values[i] = compile_node(c, n->arguments[i]);
    }
    for (size_t i = 0; i < count; i++) {
        constant = is_constant(c, values[i], &numbers[i]) && constant;
    }
    if (constant && !c->full) {
        return add_constant(c, expression_apply(kind, numbers[0], numbers[1], numbers[2]));
    }
    const struct value plain = make_value(n->kind, values[0], values[1], values[2]);
    return add_value(c,
                     c->full ? plain : join_product(c, join_factors(c, join_sign(c, plain))));
}

static uint16_t compile_name(struct expression_compiler *c, uint8_t name)
{
    const struct expression_name *of = &c->pool->names[name];
    const uint8_t operation = c->program->whole ? CODE_INPUT : CODE_LOAD;
    return of->constant
               ? add_constant(c, of->value)
               : add_value(c, (struct value){operation, NONE, NONE, NONE, name, 0, 0, 0});
}

static uint16_t compile_node(struct expression_compiler *c, uint16_t node)
{
    const struct expression_node *n = &c->pool->nodes[node];
    uint16_t value = c->of_node[node];
    if (is_shown(c, value) || c->full) {
        return c->full ? 0 : value;
    }
    switch (n->kind) {
    case EXPRESSION_CONSTANT:
    case EXPRESSION_VALUE:
        value = add_constant(c, n->number);
        break;
    case EXPRESSION_NAME:
        value = compile_name(c, n->name);
        break;
    case EXPRESSION_DEFINED:
        value = add_value(c, (struct value){CODE_DEFINED, NONE, NONE, NONE,
                                            c->pool->nodes[n->arguments[0]].name, 0, 0, 0});
        break;
    case EXPRESSION_IF:
    case EXPRESSION_AND:
    case EXPRESSION_OR:
        value = compile_choice(c, n);
        break;
    /* All others are plain operations. */
    default:
        value = compile_operation(c, n);
        break;
    }
    c->of_node[node] = value;
    return value;
}

/* ---- registers: a value occupies one from its computation to its last use ---- */

static void find_last_uses(struct expression_compiler *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const uint16_t of[] = {c->values[i].a, c->values[i].b, c->values[i].c};
        c->values[i].last = has_result(c->values[i].operation) ? NONE : (uint16_t)i;
        for (size_t k = 0; k < COUNT(of); k++) {
            if (of[k] != NONE) {
                c->values[of[k]].last = (uint16_t)i;
            }
        }
    }
}

/* Constants fold away, and names in registers need no code. */
static bool is_omitted(const struct value *v)
{
    return v->last == NONE || v->operation == CODE_INPUT;
}

/* Removes the omitted values and closes the gaps in the code. */
static void close_gaps(struct expression_compiler *c)
{
    struct expression_program *p = c->program;
    uint16_t *place = c->shown; /* new places of the values, all computed now */
    uint16_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        place[i] = count;
        p->code[count] = p->code[i];
        count = (uint16_t)(count + (is_omitted(&c->values[i]) ? 0 : 1));
    }
    for (size_t i = 0; i < count; i++) {
        struct expression_code *code = &p->code[i];
        if (code->operation == CODE_SKIP_FALSE || code->operation == CODE_SKIP_TRUE) {
            code->at = place[code->at];
        }
    }
    p->code[count].operation = CODE_END;
    p->count = count;
}

static uint8_t register_of(const struct expression_compiler *c, uint16_t value)
{
    return value == NONE ? 0 : c->values[value].reg;
}

static enum status assign_registers(struct expression_compiler *c)
{
    struct expression_program *p = c->program;
    uint16_t holds[EXPRESSION_REGISTERS_MAX];
    for (size_t r = 0; r < COUNT(holds); r++) {
        holds[r] = NONE;
    }
    for (size_t i = 0; i < c->count; i++) {
        struct value *v = &c->values[i];
        size_t r = 0;
        /* The result may overwrite an argument that is used here for the last time. */
        const bool stored = has_result(v->operation) && !is_omitted(v);
        while (stored && r < COUNT(holds) && holds[r] != NONE && c->values[holds[r]].last > i) {
            r++;
        }
        if (r == COUNT(holds)) {
            return STATUS_E_FULL;
        }
        if (stored) {
            holds[r] = (uint16_t)i;
            v->reg = (uint8_t)r;
            p->register_count = r >= p->register_count ? r + 1 : p->register_count;
        }
        if (v->operation == CODE_INPUT) {
            v->reg = (uint8_t)(EXPRESSION_REGISTERS_MAX + v->at);
        }
        p->code[i] = (struct expression_code){v->operation,         v->reg,
                                              register_of(c, v->a), register_of(c, v->b),
                                              register_of(c, v->c), v->at};
    }
    close_gaps(c);
    return STATUS_OK;
}

enum status expression_compile(const struct expression_pool *pool, const uint16_t *roots,
                               const uint16_t *places, size_t count, bool whole, void *memory,
                               struct expression_program *program, struct err *err)
{
    struct expression_compiler *c = memory;
    c->pool = pool;
    c->program = program;
    program->whole = whole;
    c->count = c->shown_count = 0;
    c->full = pool->full;
    for (size_t i = 0; i < pool->count; i++) {
        c->of_node[i] = NONE;
    }
    program->count = program->constant_count = program->register_count = 0;
    program->output_count = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t place = places ? places[i] : i;
        const uint16_t value = compile_node(c, roots[i]);
        (void)add_value(
            c, (struct value){CODE_STORE, value, NONE, NONE, (uint16_t)place, 0, 0, 0});
        program->output_count =
            place >= program->output_count ? place + 1 : program->output_count;
    }
    find_last_uses(c);
    if (c->full || assign_registers(c) != STATUS_OK) {
        program->count = 0;
        program->code[0].operation = CODE_END;
        return err_set(err, STATUS_E_FULL, FAULT_TOO_LONG, "",
                       "this is too long to be computed: at most %d operations, %d values at "
                       "a time",
                       EXPRESSION_CODE_MAX, EXPRESSION_REGISTERS_MAX);
    }
    return STATUS_OK;
}
