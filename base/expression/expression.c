#include "base/expression/expression.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(EXPRESSION_NODES_MAX <= UINT16_MAX, "nodes are named by 16 bits");
_Static_assert(EXPRESSION_NAMES_MAX <= 64, "names are the bits of a word");
_Static_assert(EXPRESSION_BYTES_MAX < UINT16_MAX, "characters are counted by 16 bits");

static const struct expression_function functions[] = {
    {"abs", 1},   {"sign", 1}, {"sqrt", 1},  {"sin", 1},     {"cos", 1},   {"tan", 1},
    {"atan", 1},  {"exp", 1},  {"log", 1},   {"tanh", 1},    {"floor", 1}, {"ceil", 1},
    {"round", 1}, {"wrap", 1}, {"atan2", 2}, {"min", 2},     {"max", 2},   {"hypot", 2},
    {"clamp", 3}, {"if", 3},   {"after", 1}, {"defined", 1},
};

_Static_assert(COUNT(functions) == EXPRESSION_KIND_COUNT - EXPRESSION_ABS, "a row for each");

const struct expression_function *expression_function(enum expression_kind kind)
{
    assert(kind >= EXPRESSION_ABS && kind < EXPRESSION_KIND_COUNT);
    return &functions[kind - EXPRESSION_ABS];
}

size_t expression_arguments(enum expression_kind kind)
{
    return kind >= EXPRESSION_ABS      ? expression_function(kind)->arguments
           : kind >= EXPRESSION_OR     ? 2
           : kind >= EXPRESSION_NEGATE ? 1
                                       : 0;
}

void expression_pool_start(struct expression_pool *pool)
{
    const bool open = pool->open;
    const bool primes = pool->primes;
    pool->open = open;
    pool->primes = primes;
    pool->full = false;
    pool->name_count = 0;
    pool->nodes[0] = (struct expression_node){.kind = EXPRESSION_CONSTANT};
    pool->count = 1;
}

/* ---- names ---- */

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool expression_is_name(const char *name, bool prime)
{
    const size_t bytes = strlen(name);
    const size_t end = prime && bytes > 1 && name[bytes - 1] == '\'' ? bytes - 1 : bytes;
    bool first = true;
    for (size_t i = 0; i < end; i++) {
        const bool digit = name[i] >= '0' && name[i] <= '9';
        if (first ? !begins_name(name[i]) : !begins_name(name[i]) && !digit && name[i] != '.') {
            return false;
        }
        first = name[i] == '.';
    }
    return end > 0 && !first && bytes <= EXPRESSION_NAME_MAX;
}

/* In an open pool a function's name can also be a plain name: it is the function only before
 * brackets. */
static bool is_word(const struct expression_pool *pool, const char *name)
{
    static const char *const words[] = {"and", "or", "not", "mod", "true", "false", "pi"};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(name, words[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(functions) && !pool->open; i++) {
        if (strcmp(name, functions[i].name) == 0) {
            return true;
        }
    }
    return false;
}

size_t expression_find(const struct expression_pool *pool, const char *name)
{
    size_t i = 0;
    while (i < pool->name_count && strcmp(pool->names[i].text, name) != 0) {
        i++;
    }
    return i;
}

enum status expression_declare(struct expression_pool *pool, const char *name,
                               enum expression_type type, size_t *index, struct err *err)
{
    if (!expression_is_name(name, pool->primes)) {
        return err_set(err, STATUS_E_PARSE, FAULT_BAD_NAME, name,
                       "'%.40s' is not a name: a letter, then letters, digits and _, 1 to %d",
                       name, EXPRESSION_NAME_MAX);
    }
    if (is_word(pool, name)) {
        return err_set(err, STATUS_E_PARSE, FAULT_RESERVED_NAME, name,
                       "'%s' is a word of the language, use another name", name);
    }
    if (expression_find(pool, name) < pool->name_count) {
        return err_set(err, STATUS_E_PARSE, FAULT_DUPLICATE_NAME, name, "'%s' is there twice",
                       name);
    }
    if (pool->name_count == EXPRESSION_NAMES_MAX) {
        return err_set(err, STATUS_E_FULL, FAULT_TOO_MANY, name, "there are more than %d names",
                       EXPRESSION_NAMES_MAX);
    }
    struct expression_name *to = &pool->names[pool->name_count];
    *to = (struct expression_name){.type = type};
    (void)snprintf(to->text, sizeof to->text, "%s", name);
    if (index) {
        *index = pool->name_count;
    }
    pool->name_count++;
    return STATUS_OK;
}

enum status expression_declare_constant(struct expression_pool *pool, const char *name,
                                        double value, struct err *err)
{
    size_t at = 0;
    const enum status st = expression_declare(pool, name, EXPRESSION_NUMBER, &at, err);
    if (st == STATUS_OK) {
        pool->names[at].constant = true;
        pool->names[at].value = value;
    }
    return st;
}

/* ---- nodes ---- */

static uint16_t add_node(struct expression_pool *pool, const struct expression_node *node)
{
    if (pool->count == EXPRESSION_NODES_MAX) {
        pool->full = true;
        return 0;
    }
    pool->nodes[pool->count] = *node;
    return (uint16_t)pool->count++;
}

uint16_t expression_number(struct expression_pool *pool, double value)
{
    const bool zero = fabs(value) <= 0.0 && !signbit(value);
    return zero ? 0
                : add_node(pool, &(struct expression_node){.kind = EXPRESSION_CONSTANT,
                                                           .number = value});
}

uint16_t expression_of_name(struct expression_pool *pool, size_t name)
{
    return add_node(pool, &(struct expression_node){.kind = EXPRESSION_NAME,
                                                    .name = (uint8_t)name,
                                                    .reads = UINT64_C(1) << name});
}

uint16_t expression_make(struct expression_pool *pool, enum expression_kind kind, uint16_t a,
                         uint16_t b, uint16_t c)
{
    const struct expression_node *nodes = pool->nodes;
    return add_node(pool, &(struct expression_node){.kind = (uint8_t)kind,
                                                    .arguments = {a, b, c},
                                                    .reads = nodes[a].reads | nodes[b].reads |
                                                             nodes[c].reads});
}

bool expression_is(const struct expression_pool *pool, uint16_t node, double value)
{
    const struct expression_node *n = &pool->nodes[node];
    return n->kind == EXPRESSION_CONSTANT && n->number <= value && n->number >= value;
}
