/* base/expression/expression.h - expressions that people write: guards and assignments of
 * machines, terms of models.
 *
 * docs/model/expressions.md describes the language. An expression is a tree of nodes in a pool
 * that the caller owns. A node is identified by its index; node 0 is the number zero. The pool
 * also holds the names: numbers or truth values, declared beforehand or, in an open pool, by
 * their first use.
 *
 * Code that builds nodes need not check for a full pool at every step: failed nodes are 0, and
 * the pool records it (`full`). Pure.
 */
#ifndef BASE_EXPRESSION_EXPRESSION_H
#define BASE_EXPRESSION_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

enum {
    EXPRESSION_BYTES_MAX = 8192, /* per text */
    EXPRESSION_DEPTH_MAX = 64,
    EXPRESSION_OPERATIONS_MAX = 512, /* per text; numbers and names count, too */
    EXPRESSION_NAME_MAX = 32,        /* bytes */
    EXPRESSION_NAMES_MAX = 64,
    EXPRESSION_NODES_MAX = 16384,
    EXPRESSION_ARGUMENTS_MAX = 3
};

enum expression_type { EXPRESSION_ANY, EXPRESSION_NUMBER, EXPRESSION_TRUTH };

/* Functions begin at EXPRESSION_ABS, in the order of their table. */
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

/* Describes a function; kind must be EXPRESSION_ABS or above. */
const struct expression_function *expression_function(enum expression_kind kind);

struct expression_name {
    char text[EXPRESSION_NAME_MAX + 1];
    enum expression_type type; /* EXPRESSION_ANY until a use shows the type */
    bool constant;             /* the value never changes */
    double value;
};

struct expression_node {
    double number; /* value of a constant; truth values are 0 or 1 */
    uint16_t arguments[EXPRESSION_ARGUMENTS_MAX];
    uint16_t character; /* position in the text, 1-based; 0: not from a text */
    uint8_t kind;       /* enum expression_kind */
    uint8_t name;
    uint64_t reads; /* bit i: the subtree reads name i */
};

struct expression_pool { /* Starts all zero; then call expression_pool_start(). */
    bool open; /* undeclared names are added; a function's name without brackets is a name, too
                */
    bool primes; /* a name may end in ', which means the rate of that name */
    bool full;   /* some nodes did not fit */
    size_t name_count, count;
    struct expression_name names[EXPRESSION_NAMES_MAX];
    struct expression_node nodes[EXPRESSION_NODES_MAX];
};

void expression_pool_start(struct expression_pool *pool);

/* Declares one more name. STATUS_E_PARSE if it is not a valid name, a word of the language or
 * declared already; STATUS_E_FULL. index may be NULL. */
MUST_USE enum status expression_declare(struct expression_pool *pool, const char *name,
                                        enum expression_type type, size_t *index,
                                        struct err *err);

/* Does the same for a number that does not change. */
MUST_USE enum status expression_declare_constant(struct expression_pool *pool, const char *name,
                                                 double value, struct err *err);

/* Returns pool->name_count if there is no such name. */
size_t expression_find(const struct expression_pool *pool, const char *name);

/* Is it a valid name, with or without a prime? */
bool expression_is_name(const char *name, bool prime);

/* Parses text[bytes] into *root. On STATUS_E_PARSE, err->where is the text (cut to fit),
 * err->column the character, err->text the fault. */
MUST_USE enum status expression_parse(struct expression_pool *pool, const char *text,
                                      size_t bytes, uint16_t *root, struct err *err);

/* Infers the type of every node: numbers and truth values do not mix. Names get their type by
 * their first use. want: the type of the whole. STATUS_E_PARSE with err: column and text. */
MUST_USE enum status expression_check(struct expression_pool *pool, uint16_t root,
                                      enum expression_type want, struct err *err);

/* Does the same and returns the type of the whole; EXPRESSION_ANY if nothing determines it
 * yet. */
MUST_USE enum status expression_infer(struct expression_pool *pool, uint16_t root,
                                      enum expression_type want, enum expression_type *type,
                                      struct err *err);

/* Prints readable text with as few brackets as needed. Parsing it gives the same expression,
 * apart from positions. Always terminated, cut to size. Returns the uncut length in bytes. */
size_t expression_print(const struct expression_pool *pool, uint16_t root, char *out,
                        size_t size);

/* Does the same as TeX for people; nothing reads it back. */
size_t expression_print_tex(const struct expression_pool *pool, uint16_t root, char *out,
                            size_t size);

/* Does the same with blanks around every binary sign, as machines are written. */
size_t expression_print_wide(const struct expression_pool *pool, uint16_t root, char *out,
                             size_t size);

/* ---- building ---- */

uint16_t expression_number(struct expression_pool *pool, double value);
uint16_t expression_of_name(struct expression_pool *pool, size_t name);

/* Makes a node with one to three arguments; unused arguments are 0. */
uint16_t expression_make(struct expression_pool *pool, enum expression_kind kind, uint16_t a,
                         uint16_t b, uint16_t c);

size_t expression_arguments(enum expression_kind kind);

/* Is it this constant? */
bool expression_is(const struct expression_pool *pool, uint16_t node, double value);

#endif
