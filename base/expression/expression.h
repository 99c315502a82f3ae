/* base/expression/expression.h - expressions that people write: guards and assignments of
 * machines, terms of models.
 *
 * docs/model/expressions.md has the language. An expression is a tree of nodes in a pool, which
 * the caller owns; a node is named by its place there, and node 0 is the number zero. Names
 * are the pool's: numbers or truths, declared beforehand or, in an open pool, by being used.
 *
 * Whoever builds nodes need not look for a full pool at every step: then they are 0, and the
 * pool says so (full). Pure.
 */
#ifndef BASE_EXPRESSION_EXPRESSION_H
#define BASE_EXPRESSION_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

enum {
    EXPRESSION_BYTES_MAX = 8192, /* of a text */
    EXPRESSION_DEPTH_MAX = 64,
    EXPRESSION_OPERATIONS_MAX = 512, /* of a text: numbers and names count, too */
    EXPRESSION_NAME_MAX = 32,        /* bytes */
    EXPRESSION_NAMES_MAX = 64,
    EXPRESSION_NODES_MAX = 16384,
    EXPRESSION_ARGUMENTS_MAX = 3
};

enum expression_type { EXPRESSION_ANY, EXPRESSION_NUMBER, EXPRESSION_TRUTH };

/* Functions stand from EXPRESSION_ABS on, in the order of their table. */
enum expression_kind {
    EXPRESSION_CONSTANT, /* a number */
    EXPRESSION_VALUE,    /* true or false */
    EXPRESSION_NAME,
    EXPRESSION_NEGATE,
    EXPRESSION_NOT,
    EXPRESSION_OR,
    EXPRESSION_AND,
    EXPRESSION_EQUAL,
    EXPRESSION_UNEQUAL,
    EXPRESSION_LESS,
    EXPRESSION_LESS_EQUAL,
    EXPRESSION_GREATER,
    EXPRESSION_GREATER_EQUAL,
    EXPRESSION_ADD,
    EXPRESSION_SUBTRACT,
    EXPRESSION_MULTIPLY,
    EXPRESSION_DIVIDE,
    EXPRESSION_MODULO,
    EXPRESSION_POWER,
    EXPRESSION_ABS,
    EXPRESSION_SIGN,
    EXPRESSION_SQRT,
    EXPRESSION_SIN,
    EXPRESSION_COS,
    EXPRESSION_TAN,
    EXPRESSION_ATAN,
    EXPRESSION_EXP,
    EXPRESSION_LOG,
    EXPRESSION_TANH,
    EXPRESSION_FLOOR,
    EXPRESSION_CEIL,
    EXPRESSION_ROUND,
    EXPRESSION_WRAP,
    EXPRESSION_ATAN2,
    EXPRESSION_MIN,
    EXPRESSION_MAX,
    EXPRESSION_HYPOT,
    EXPRESSION_CLAMP,
    EXPRESSION_IF,
    EXPRESSION_AFTER,
    EXPRESSION_DEFINED,
    EXPRESSION_KIND_COUNT
};

struct expression_function {
    const char *name;
    size_t arguments;
};

/* Of kinds from EXPRESSION_ABS on. */
const struct expression_function *expression_function(enum expression_kind kind);

struct expression_name {
    char text[EXPRESSION_NAME_MAX + 1];
    enum expression_type type; /* EXPRESSION_ANY until it is known by its use */
    bool constant;             /* it is always of this value */
    double value;
};

struct expression_node {
    double number; /* of constants and truth values, 0 or 1 */
    uint16_t arguments[EXPRESSION_ARGUMENTS_MAX];
    uint16_t character; /* of the text, where it stands, 1-based; 0: it stands in none */
    uint8_t kind;       /* enum expression_kind */
    uint8_t name;
    uint64_t reads; /* bit i: name i stands in it */
};

struct expression_pool { /* all zero, then expression_pool_start() */
    bool open;           /* names that are not declared are taken as they come; those of
                            functions are names, too, where no bracket follows */
    bool primes;         /* a name may end in ': the rate of what is named so */
    bool full;           /* nodes did not fit */
    size_t name_count, count;
    struct expression_name names[EXPRESSION_NAMES_MAX];
    struct expression_node nodes[EXPRESSION_NODES_MAX];
};

void expression_pool_start(struct expression_pool *pool);

/* One more name. STATUS_E_PARSE when it is none, a word of the language or there already,
 * STATUS_E_FULL. *index, out: NULL is allowed. */
MUST_USE enum status expression_declare(struct expression_pool *pool, const char *name,
                                        enum expression_type type, size_t *index,
                                        struct err *err);

/* The same, of a number that does not change. */
MUST_USE enum status expression_declare_constant(struct expression_pool *pool, const char *name,
                                                 double value, struct err *err);

/* pool->name_count when there is none of this name. */
size_t expression_find(const struct expression_pool *pool, const char *name);

/* May it be a name, with or without a prime? */
bool expression_is_name(const char *name, bool prime);

/* The expression in text[bytes], *root out. STATUS_E_PARSE with err: where is the text, cut to
 * what err has room for, column the character, text what is wrong there. */
MUST_USE enum status expression_parse(struct expression_pool *pool, const char *text,
                                      size_t bytes, uint16_t *root, struct err *err);

/* Find out of which type everything is: of numbers and truths there is no other use than each
 * its own. Names get theirs by their first use. want: what the whole must be. STATUS_E_PARSE
 * with err: column and text. */
MUST_USE enum status expression_check(struct expression_pool *pool, uint16_t root,
                                      enum expression_type want, struct err *err);

/* The same, and of which type it is: EXPRESSION_ANY when nothing says it yet. */
MUST_USE enum status expression_infer(struct expression_pool *pool, uint16_t root,
                                      enum expression_type want, enum expression_type *type,
                                      struct err *err);

/* Readable text with as few brackets as it needs; what is read from it is the same expression,
 * places apart. Always terminated, cut to size. Returns the bytes of the whole. */
size_t expression_print(const struct expression_pool *pool, uint16_t root, char *out,
                        size_t size);

/* The same with blanks around every sign between two terms, as machines are written. */
size_t expression_print_wide(const struct expression_pool *pool, uint16_t root, char *out,
                             size_t size);

/* ---- building ---- */

uint16_t expression_number(struct expression_pool *pool, double value);
uint16_t expression_of_name(struct expression_pool *pool, size_t name);

/* Of one to three arguments; those that the kind has not are 0. */
uint16_t expression_make(struct expression_pool *pool, enum expression_kind kind, uint16_t a,
                         uint16_t b, uint16_t c);

size_t expression_arguments(enum expression_kind kind);

/* Is it this very number? */
bool expression_is(const struct expression_pool *pool, uint16_t node, double value);

#endif
