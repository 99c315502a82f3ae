/* base/expression/expression_code.h - the instruction set of compiled expressions, private to
 * expression_program*.c.
 *
 * The kinds of expressions are instructions; the enum below adds the others.
 */
#ifndef BASE_EXPRESSION_EXPRESSION_CODE_H
#define BASE_EXPRESSION_EXPRESSION_CODE_H

#include "base/expression/expression.h"

enum expression_operation {
    CODE_END = 0, /* end of the program; constants have an instruction of their own */
    CODE_CONSTANT = EXPRESSION_KIND_COUNT, /* to = constant */
    CODE_INPUT,      /* a name that lives in a register; produces no code */
    CODE_LOAD,       /* to = value of a name, which must be there */
    CODE_DEFINED,    /* to = whether a name has a value */
    CODE_SKIP_FALSE, /* unless a: jump to the target */
    CODE_SKIP_TRUE,
    CODE_BOTH,              /* to = a and b; b is computed only if a holds */
    CODE_EITHER,            /* to = a or b; b is computed only if a does not hold */
    CODE_CHOOSE,            /* to = a ? b : c, the branch that was computed */
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
