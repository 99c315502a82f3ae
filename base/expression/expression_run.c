/* base/expression/expression_run.c - the interpreter of compiled expressions. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/expression/expression_code.h"
#include "base/expression/expression_program.h"
#include "base/numbers/constants.h"

/* The result has the sign of b. */
static double floored_mod(double a, double b)
{
    const double m = fmod(a, b);
    return m * b < 0.0 ? m + b : m;
}

/* All kinds that depend only on their arguments, as X(KIND, result of a, b and c). NaN operands
 * follow the rules of C. */
#define OPERATIONS(X)                                                                          \
    X(EXPRESSION_NEGATE, -a)                                                                   \
    X(EXPRESSION_NOT, a > 0.0 || a < 0.0 ? 0.0 : 1.0)                                          \
    X(EXPRESSION_EQUAL, a <= b && a >= b ? 1.0 : 0.0)                                          \
    X(EXPRESSION_UNEQUAL, a <= b && a >= b ? 0.0 : 1.0)                                        \
    X(EXPRESSION_LESS, a < b ? 1.0 : 0.0)                                                      \
    X(EXPRESSION_LESS_EQUAL, a <= b ? 1.0 : 0.0)                                               \
    X(EXPRESSION_GREATER, a > b ? 1.0 : 0.0)                                                   \
    X(EXPRESSION_GREATER_EQUAL, a >= b ? 1.0 : 0.0)                                            \
    X(EXPRESSION_ADD, a + b)                                                                   \
    X(EXPRESSION_SUBTRACT, a - b)                                                              \
    X(EXPRESSION_MULTIPLY, a *b)                                                               \
    X(EXPRESSION_DIVIDE, a / b)                                                                \
    X(EXPRESSION_MODULO, floored_mod(a, b))                                                    \
    X(EXPRESSION_POWER, pow(a, b))                                                             \
    X(EXPRESSION_ABS, fabs(a))                                                                 \
    X(EXPRESSION_SIGN, a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : 0.0)                                   \
    X(EXPRESSION_SQRT, sqrt(a))                                                                \
    X(EXPRESSION_SIN, sin(a))                                                                  \
    X(EXPRESSION_COS, cos(a))                                                                  \
    X(EXPRESSION_TAN, tan(a))                                                                  \
    X(EXPRESSION_ATAN, atan(a))                                                                \
    X(EXPRESSION_EXP, exp(a))                                                                  \
    X(EXPRESSION_LOG, log(a))                                                                  \
    X(EXPRESSION_TANH, tanh(a))                                                                \
    X(EXPRESSION_FLOOR, floor(a))                                                              \
    X(EXPRESSION_CEIL, ceil(a))                                                                \
    X(EXPRESSION_ROUND, floor(a + 0.5))                                                        \
    X(EXPRESSION_WRAP, a - 2.0 * PI * floor((a + PI) / (2.0 * PI)))                            \
    X(EXPRESSION_ATAN2, atan2(a, b))                                                           \
    X(EXPRESSION_MIN, b < a ? b : a)                                                           \
    X(EXPRESSION_MAX, b > a ? b : a)                                                           \
    X(EXPRESSION_HYPOT, sqrt(a *a + b * b))                                                    \
    X(EXPRESSION_CLAMP, a<b ? b : a> c ? c : a)                                                \
    X(EXPRESSION_AFTER, b >= a ? 1.0 : 0.0)

/* Fused operations: two in one instruction. */
#define DOUBLES(X)                                                                             \
    X(CODE_ADD_PRODUCT, a *b + c)                                                              \
    X(CODE_SUBTRACT_PRODUCT, c - a * b)                                                        \
    X(CODE_PRODUCT_SUBTRACT, a *b - c)                                                         \
    X(CODE_MULTIPLY_ABS, a *fabs(b))                                                           \
    X(CODE_MULTIPLY_TWICE, a *b *c)                                                            \
    X(CODE_DIVIDE_DIFFERENCE, (a - b) / c)

static bool is_true(double x)
{
    return x > 0.0 || x < 0.0;
}

double expression_apply(enum expression_kind kind, double a, double b, double c)
{
    switch (kind) {
#define ONE(K, RESULT)                                                                         \
    case K:                                                                                    \
        return RESULT;
        OPERATIONS(ONE)
#undef ONE
    case EXPRESSION_AND:
        return is_true(a) && is_true(b) ? 1.0 : 0.0;
    case EXPRESSION_OR:
        return is_true(a) || is_true(b) ? 1.0 : 0.0;
    case EXPRESSION_IF:
        return is_true(a) ? b : c;
    case EXPRESSION_CONSTANT:
    case EXPRESSION_VALUE:
    case EXPRESSION_NAME:
    case EXPRESSION_DEFINED:
    case EXPRESSION_KIND_COUNT:
    default:
        return NAN;
    }
}

/* Each operation jumps straight to the next, because a switch in a loop takes half as long
 * again. Labels as values are not standard C, but both compilers have them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#define LABEL(K, RESULT) [K] = &&at_##K,
#define GO_ON            goto *labels[(++code)->operation]
#define COMPUTE(K, RESULT)                                                                     \
    at_##K:                                                                                    \
    {                                                                                          \
        const double a = r[code->a];                                                           \
        const double b = r[code->b];                                                           \
        const double c = r[code->c];                                                           \
        (void)b;                                                                               \
        (void)c;                                                                               \
        r[code->to] = RESULT;                                                                  \
        GO_ON;                                                                                 \
    }

/* Runs code on registers r. Only load instructions read values and there. */
static inline int run_code(const struct expression_program *program, double *r,
                           const double *values, uint64_t there, double *outputs)
{
    /* clang-format off */
    static const void *const labels[CODE_COUNT] = {
        OPERATIONS(LABEL) DOUBLES(LABEL)
        LABEL(CODE_END, ) LABEL(CODE_CONSTANT, ) LABEL(CODE_LOAD, ) LABEL(CODE_DEFINED, )
        LABEL(CODE_SKIP_FALSE, ) LABEL(CODE_SKIP_TRUE, ) LABEL(CODE_BOTH, )
        LABEL(CODE_EITHER, ) LABEL(CODE_CHOOSE, ) LABEL(CODE_STORE, )};
    /* clang-format on */
    const struct expression_code *code = program->code;
    goto *labels[code->operation];
    OPERATIONS(COMPUTE)
    DOUBLES(COMPUTE)
at_CODE_CONSTANT:
    r[code->to] = program->constants[code->at];
    GO_ON;
at_CODE_LOAD:
    if (!(there >> code->at & 1U)) {
        return code->at;
    }
    r[code->to] = values[code->at];
    GO_ON;
at_CODE_DEFINED:
    r[code->to] = there >> code->at & 1U ? 1.0 : 0.0;
    GO_ON;
at_CODE_SKIP_FALSE:
    code = is_true(r[code->a]) ? code : program->code + code->at - 1;
    GO_ON;
at_CODE_SKIP_TRUE:
    code = is_true(r[code->a]) ? program->code + code->at - 1 : code;
    GO_ON;
at_CODE_BOTH:
    r[code->to] = is_true(r[code->a]) && is_true(r[code->b]) ? 1.0 : 0.0;
    GO_ON;
at_CODE_EITHER:
    r[code->to] = is_true(r[code->a]) || is_true(r[code->b]) ? 1.0 : 0.0;
    GO_ON;
at_CODE_CHOOSE:
    r[code->to] = is_true(r[code->a]) ? r[code->b] : r[code->c];
    GO_ON;
at_CODE_STORE:
    outputs[code->at] = r[code->a];
    GO_ON;
at_CODE_END:
    return EXPRESSION_ALL_THERE;
}
#pragma GCC diagnostic pop

int expression_run(const struct expression_program *program, const double *values,
                   uint64_t there, double *outputs)
{
    double r[EXPRESSION_REGISTERS_MAX];
    assert(!program->whole);
    return run_code(program, r, values, there, outputs);
}

void expression_run_whole(const struct expression_program *program, double *registers,
                          double *outputs)
{
    assert(program->whole || program->count == 0);
    (void)run_code(program, registers, NULL, UINT64_MAX, outputs);
}

/* Columns of each register: the caller's, or one of our own. */
struct block {
    const double *at[EXPRESSION_FILE];
    double own[EXPRESSION_REGISTERS_MAX][EXPRESSION_BLOCK];
};

static void fill_column(double *to, double value)
{
    for (size_t k = 0; k < EXPRESSION_BLOCK; k++) {
        to[k] = value;
    }
}

/* Computes one operation for a whole block. */
static void compute_columns(const struct expression_code *code, const double *of_a,
                            const double *of_b, const double *of_c, double *to)
{
    switch (code->operation) {
#define ONE(K, RESULT)                                                                         \
    case K:                                                                                    \
        for (size_t k = 0; k < EXPRESSION_BLOCK; k++) {                                        \
            const double a = of_a[k];                                                          \
            const double b = of_b[k];                                                          \
            const double c = of_c[k];                                                          \
            (void)b;                                                                           \
            (void)c;                                                                           \
            to[k] = RESULT;                                                                    \
        }                                                                                      \
        break;
        OPERATIONS(ONE)
        DOUBLES(ONE)
        ONE(CODE_BOTH, is_true(a) && is_true(b) ? 1.0 : 0.0)
        ONE(CODE_EITHER, is_true(a) || is_true(b) ? 1.0 : 0.0)
        ONE(CODE_CHOOSE, is_true(a) ? b : c)
#undef ONE
    default:
        assert(false);
    }
}

void expression_run_block(const struct expression_program *program, const double *const *values,
                          double (*outputs)[EXPRESSION_STRIDE])
{
    struct block block;
    for (size_t r = 0; r < program->register_count; r++) {
        block.at[r] = block.own[r];
    }
    if (program->whole) {
        memcpy(block.at + EXPRESSION_REGISTERS_MAX, values,
               EXPRESSION_NAMES_MAX * sizeof block.at[0]);
    }
    for (size_t i = 0; i < program->count; i++) {
        const struct expression_code *code = &program->code[i];
        double *to = block.own[code->to]; /* names are never written */
        switch (code->operation) {
        case CODE_LOAD:
            block.at[code->to] = values[code->at];
            break;
        case CODE_CONSTANT:
            fill_column(to, program->constants[code->at]);
            block.at[code->to] = to;
            break;
        case CODE_DEFINED:
            fill_column(to, 1.0);
            block.at[code->to] = to;
            break;
        case CODE_SKIP_FALSE:
        case CODE_SKIP_TRUE:
            break;
        case CODE_STORE:
            memcpy(outputs[code->at], block.at[code->a], sizeof block.own[0]);
            break;
        default:
            compute_columns(code, block.at[code->a], block.at[code->b], block.at[code->c], to);
            block.at[code->to] = to;
            break;
        }
    }
}
