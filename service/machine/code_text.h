/* service/machine/code_text.h - what the generators of code share: expressions as a language
 * has them, names that it takes, labels that fit into a comment. */
#ifndef SERVICE_MACHINE_CODE_TEXT_H
#define SERVICE_MACHINE_CODE_TEXT_H

#include <stdio.h>

#include "base/expression/expression.h"

enum { CODE_NAME_MAX = 64 };

/* How a language writes what is no name. Words are NULL where it writes the operator. */
struct code_style {
    const char *no, *both, *either, *unequal; /* with their blanks */
    const char *truths[2];                    /* false, true */
    const char *infinity;
    const char *prefix;                       /* of functions that words does not have */
    const char *words[EXPRESSION_KIND_COUNT]; /* kinds that are calls, by another name */
    const char *choice[4]; /* of if(a, b, c): before, between and behind … */
    bool choice_last;      /* … of which a is written in the middle */
};

/* A name of the pool, or whether it has a value. */
typedef void code_name(void *context, FILE *out, size_t name, bool asks);

struct code_writer {
    FILE *out;
    const struct expression_pool *pool;
    const struct code_style *style;
    code_name *name;
    void *context;
};

void code_expression(const struct code_writer *w, uint16_t root);

/* A number so that it is read as the same one, and as no whole number. */
void code_number(FILE *out, const struct code_style *style, double number);

/* Names that a language takes, each once: what it does not take becomes '_', and a name that
 * is one of its words or there already gets one more. */
struct code_names {
    const char *const *words; /* of the language, NULL behind the last; or NULL */
    size_t count;
    char names[256][CODE_NAME_MAX];
};
const char *code_identifier(struct code_names *names, const char *text);

/* In one line, and so that no comment ends or begins in it. */
void code_comment(FILE *out, const char *text);

/* Between quotes. */
void code_string(FILE *out, const char *text);

#endif
