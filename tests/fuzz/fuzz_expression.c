/* Any bytes as an expression: no crash, faults with a place and a text. An accepted expression
 * prints as text that reads back the same, has a type, is computed in bounded time, one by one
 * as by blocks, and has factors and a derivative, or a reason why not. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/expression/expression_algebra.h"
#include "base/expression/expression_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct expression_pool pool;
static struct expression_program program;

static bool fuzz_parse(const char *text, size_t size, uint16_t *root)
{
    struct err err = {0};
    if (expression_parse(&pool, text, size, root, &err) == STATUS_OK) {
        return true;
    }
    assert(err.text[0] != '\0' && err.column <= size + 1);
    return false;
}

static void fuzz_print(uint16_t root)
{
    static char first[1 << 16];
    static char second[1 << 16];
    uint16_t again = 0;
    assert(expression_print(&pool, root, first, sizeof first) < sizeof first);
    /* Short ways to write a thing may be beyond the limits when they are written out. */
    if (fuzz_parse(first, strlen(first), &again)) {
        assert(expression_print(&pool, again, second, sizeof second) < sizeof second);
        assert(strcmp(first, second) == 0);
    }
}

static bool is_same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void fuzz_run(uint16_t root, void *memory)
{
    static double columns[EXPRESSION_NAMES_MAX][EXPRESSION_BLOCK];
    static double out[1][EXPRESSION_STRIDE];
    const double *at[EXPRESSION_NAMES_MAX];
    if (expression_compile(&pool, &root, NULL, 1, false, memory, &program, NULL) != STATUS_OK) {
        return;
    }
    for (size_t i = 0; i < EXPRESSION_NAMES_MAX; i++) {
        at[i] = columns[i];
        for (size_t k = 0; k < EXPRESSION_BLOCK; k++) {
            const bool truth = i < pool.name_count && pool.names[i].type == EXPRESSION_TRUTH;
            columns[i][k] = truth ? (double)((i + k) % 2) : (double)k / 7.0 - (double)i;
        }
    }
    expression_run_block(&program, at, out);
    for (size_t k = 0; k < EXPRESSION_BLOCK; k++) {
        double values[EXPRESSION_NAMES_MAX];
        double one = NAN;
        for (size_t i = 0; i < EXPRESSION_NAMES_MAX; i++) {
            values[i] = columns[i][k];
        }
        assert(expression_run(&program, values, UINT64_MAX, &one) == EXPRESSION_ALL_THERE);
        assert(is_same(one, out[0][k]));
        assert(expression_run(&program, values, k, &one) < (int)pool.name_count);
    }
}

static void fuzz_algebra(uint16_t root)
{
    static const uint8_t variables[] = {0, 1};
    uint16_t factors[2];
    uint16_t rest = 0;
    uint16_t slope = 0;
    struct err err = {0};
    struct err other = {0};
    if (expression_split(&pool, root, variables, pool.name_count < 2 ? pool.name_count : 2,
                         "unknowns", factors, &rest, &err) != STATUS_OK) {
        assert(err.text[0] != '\0');
    }
    if (pool.name_count > 0 &&
        expression_differentiate(&pool, root, 0, &slope, &other) != STATUS_OK) {
        assert(other.text[0] != '\0');
    }
    assert(slope < pool.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint16_t root = 0;
    struct err err = {0};
    void *memory = malloc(expression_compiler_bytes());
    assert(memory);
    pool.open = true;
    pool.primes = size % 2 == 1;
    expression_pool_start(&pool);
    if (fuzz_parse((const char *)data, size, &root)) {
        fuzz_print(root);
        const bool typed = expression_check(&pool, root, EXPRESSION_ANY, &err) == STATUS_OK;
        assert(typed == (err.text[0] == '\0'));
        if (typed) {
            fuzz_run(root, memory);
            fuzz_algebra(root);
        }
    }
    free(memory);
    return 0;
}
