/* base/expression/expression_code.h - the operations of a program, for the files of
 * expression_program alone: kinds of expressions as they are, and these. */
#ifndef BASE_EXPRESSION_EXPRESSION_CODE_H
#define BASE_EXPRESSION_EXPRESSION_CODE_H

#include "base/expression/expression.h"

enum expression_operation {
    CODE_END = 0, /* behind the last one; constants have an operation of their own */
    CODE_CONSTANT = EXPRESSION_KIND_COUNT, /* to = constant */
    CODE_INPUT,                            /* no code: a name that is a register */
    CODE_LOAD,                             /* to = value of a name, which must be there */
    CODE_DEFINED,                          /* to = whether a name has a value */
    CODE_SKIP_FALSE,                       /* unless a: go on there */
    CODE_SKIP_TRUE,
    CODE_BOTH,              /* to = a and b, of which b is there when a holds */
    CODE_EITHER,            /* to = a or b, of which b is there when a does not hold */
    CODE_CHOOSE,            /* to = a ? b : c, the one that is there */
    CODE_ADD_PRODUCT,       /* to = a * b + c, rounded twice */
    CODE_SUBTRACT_PRODUCT,  /* to = c - a * b */
    CODE_PRODUCT_SUBTRACT,  /* to = a * b - c */
    CODE_MULTIPLY_ABS,      /* to = a * |b| */
    CODE_MULTIPLY_TWICE,    /* to = a * b * c */
    CODE_DIVIDE_DIFFERENCE, /* to = (a - b) / c */
    CODE_STORE,             /* output = a */
    CODE_COUNT
};

#endif
