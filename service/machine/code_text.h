/* service/machine/code_text.h - shared by the code generators: expressions in a language's
 * syntax, valid names, labels that fit into a comment. */
#ifndef SERVICE_MACHINE_CODE_TEXT_H
#define SERVICE_MACHINE_CODE_TEXT_H

#include <stdio.h>

#include "base/expression/expression.h"

enum { CODE_NAME_MAX = 64 };

/* A language's syntax. A word is NULL when the language writes the operator. */
struct code_style {
    const char *no, *both, *either, *unequal; /* including blanks */
    const char *truths[2];                    /* false, true */
    const char *infinity;
    const char *prefix;                       /* prefix of functions that words lacks */
    const char *words[EXPRESSION_KIND_COUNT]; /* functions with another name */
    const char *choice[4]; /* parts of if(a, b, c): before, between and after … */
    bool choice_last;      /* … with a in the middle */
};

/* Writes a name of the pool, or an expression for whether it has a value. */
typedef void code_name(void *context, FILE *out, size_t name, bool asks);

struct code_writer {
    FILE *out;
    const struct expression_pool *pool;
    const struct code_style *style;
    code_name *name;
    void *context;
};

void code_expression(const struct code_writer *w, uint16_t root);

/* Write a number so that it reads back unchanged and never as an integer. */
void code_number(FILE *out, const struct code_style *style, double number);

/* Makes valid, unique names: characters that the language does not allow become '_', and a
 * keyword or a used name gets a '_' appended. */
struct code_names {
    const char *const *words; /* keywords of the language, NULL-terminated; or NULL */
    size_t count;
    char names[256][CODE_NAME_MAX];
};
const char *code_identifier(struct code_names *names, const char *text);

/* Write a text on one line, so that no comment ends or begins in it. */
void code_comment(FILE *out, const char *text);

/* Write a text in quotes. */
void code_string(FILE *out, const char *text);

#endif
